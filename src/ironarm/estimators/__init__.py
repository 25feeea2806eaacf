"""Running location estimates of one arm's rewards."""

from .base import Estimator
from .bounded_median import BoundedMedian
from .catoni import Catoni
from .huber import Huber
from .mean import Mean
from .median import LowerMedian, UpperMedian
from .median_of_means import MedianOfMeans
from .shorth import Shorth
from .structures.ordered import OrderedMedian
from .trimmed_mean import AmplyTrimmedMean, TrimmedMean
from .truncated_mean import TruncatedMean

__all__ = [
    "AmplyTrimmedMean",
    "BoundedMedian",
    "Catoni",
    "Estimator",
    "Huber",
    "LowerMedian",
    "Mean",
    "MedianOfMeans",
    "OrderedMedian",
    "Shorth",
    "TrimmedMean",
    "TruncatedMean",
    "UpperMedian",
]
