"""Running location estimates of one arm's rewards."""

from .base import Estimator
from .bounded_median import BoundedMedian
from .catoni import Catoni
from .mean import Mean
from .median import LowerMedian, UpperMedian
from .ordered import OrderedMedian
from .trimmed_mean import TrimmedMean

__all__ = ["BoundedMedian", "Catoni", "Estimator", "LowerMedian", "Mean", "OrderedMedian", "TrimmedMean", "UpperMedian"]
