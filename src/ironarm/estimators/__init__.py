"""Running location estimates of one arm's rewards."""

from .base import Estimator, HoldsRewards
from .bounded_median import BoundedMedian
from .catoni import Catoni
from .huber import Huber
from .mean import Mean
from .median import LowerMedian, OrderedMedian, UpperMedian
from .median_of_means import MedianOfMeans
from .sampled_median import SampledMedian
from .shorth import Shorth
from .trimmed_mean import AmplyTrimmedMean, TrimmedMean
from .truncated_mean import TruncatedMean

__all__ = [
    "AmplyTrimmedMean",
    "BoundedMedian",
    "Catoni",
    "Estimator",
    "HoldsRewards",
    "Huber",
    "LowerMedian",
    "Mean",
    "MedianOfMeans",
    "OrderedMedian",
    "SampledMedian",
    "Shorth",
    "TrimmedMean",
    "TruncatedMean",
    "UpperMedian",
]
