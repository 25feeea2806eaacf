"""Running location estimates of one arm's rewards."""

from typing import TYPE_CHECKING

from ..lazy import Names

if TYPE_CHECKING:
    from .base import Estimator, HoldsRewards
    from .bounded_median import BoundedMedian
    from .catoni import Catoni
    from .clipped_mean import ClippedMean
    from .huber import Huber
    from .mean import Mean
    from .median import LowerMedian, OrderedMedian, UpperMedian
    from .median_of_means import MedianOfMeans
    from .sampled_median import SampledMedian
    from .shorth import Shorth
    from .sliding_mean import SlidingMean
    from .sliding_median import SlidingMedian
    from .trimmed_mean import AmplyTrimmedMean, TrimmedMean
    from .truncated_mean import TruncatedMean
else:
    NAMES = Names(__name__, __file__)
    __getattr__, __dir__ = NAMES.get, NAMES.all

__all__ = [
    "AmplyTrimmedMean",
    "BoundedMedian",
    "Catoni",
    "ClippedMean",
    "Estimator",
    "HoldsRewards",
    "Huber",
    "LowerMedian",
    "Mean",
    "MedianOfMeans",
    "OrderedMedian",
    "SampledMedian",
    "Shorth",
    "SlidingMean",
    "SlidingMedian",
    "TrimmedMean",
    "TruncatedMean",
    "UpperMedian",
]
