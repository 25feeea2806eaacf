"""Running location estimates of one arm's rewards."""

from .base import Estimator
from .catoni import Catoni
from .mean import Mean
from .median import LowerMedian, UpperMedian
from .trimmed_mean import TrimmedMean

__all__ = ["Catoni", "Estimator", "LowerMedian", "Mean", "TrimmedMean", "UpperMedian"]
