"""What authors of policies, attacks and bandits import, in addition to `ironarm`.

**Marks.** `hot` and `cold` mark the functions that ironarm compiles.

**Base classes.** `Policy`, `Attack`, `Bandit` and `Estimator` are the contracts; the
modules that define them document every method. Most policies start from a class that
already has the rule:

    IndexPolicy     the highest estimate + sqrt(coefficient log t / n)
    DecayingGreedy  the highest estimate, or with probability c K / t a uniform arm
    EpochPolicy     like IndexPolicy, with estimates that depend on the confidence
    ImedPolicy      the least evidence against an arm
    RangedPolicy    draws from probabilities, for rewards in a known range
    MeanOfRange     means of rewards in a known range
    HoldsRewards    an estimator that keeps every reward

**Estimators** for `Policy.estimator`: `Mean`, `ClippedMean`, `LowerMedian`,
`UpperMedian`, `OrderedMedian`, `TrimmedMean`, `AmplyTrimmedMean`, `Shorth`, `Huber`,
`Catoni`, `MedianOfMeans`, `TruncatedMean`. Some read constants of the policy:
`TrimmedMean`, `AmplyTrimmedMean` and `Shorth` read `alpha`, `Huber` `beta`, `Catoni`
`variance`, `ClippedMean` `low` and `high`.

**Rules** are marked functions that a policy's own can call: `highest_index` and
`index_moved`; `highest_line` and `line_moved`, for a spread other than 1/sqrt(n);
`first_unrewarded`; `arm_below` and `too_few` for forced pulls; `greedy_after_start`;
`still_leads`, `others_moved`, `rewards_until` and `highest_estimate` for ImedPolicy;
`start_epoch`, `coefficient_for` and `highest_in_epoch` for EpochPolicy;
`share_of_range` and `newcomer_estimate` for RangedPolicy; `rate` for MeanOfRange.

**Random draws** from a policy's stream g: `uniform`, `open_uniform`, `normal`,
`integer`, and `gamma` and `beta` for shapes of at least 1.

**Checks of parameters**: `number`, `whole`, `choice`, `optional`, and `finite_means`
for bandits. They raise `InvalidInput`. A broken contract raises `PolicyFault`.

`ironarm.testing.check_policy` tests a policy against its contract.
"""

from .attacks.base import Attack
from .bandits.base import Bandit, finite_means
from .errors import InvalidInput, IronarmError, PolicyFault
from .estimators import (
    AmplyTrimmedMean,
    Catoni,
    ClippedMean,
    Estimator,
    HoldsRewards,
    Huber,
    LowerMedian,
    Mean,
    MedianOfMeans,
    OrderedMedian,
    Shorth,
    TrimmedMean,
    TruncatedMean,
    UpperMedian,
)
from .marks import cold, hot
from .policy import Policy
from .random import beta, gamma, integer, normal, open_uniform, uniform
from .rules.decaying_greedy import DecayingGreedy, greedy_after_start
from .rules.doubling_epochs import EpochPolicy, coefficient_for, highest_in_epoch, start_epoch
from .rules.forced_pulls import arm_below, too_few
from .rules.highest_index import (
    IndexPolicy,
    first_unrewarded,
    highest_index,
    highest_line,
    index_moved,
    line_moved,
)
from .rules.lazy_imed import (
    ImedPolicy,
    highest_estimate,
    others_moved,
    rewards_until,
    still_leads,
)
from .rules.reward_range import (
    MeanOfRange,
    RangedPolicy,
    newcomer_estimate,
    rate,
    share_of_range,
)
from .validation import choice, number, optional, whole

__all__ = [
    "AmplyTrimmedMean",
    "Attack",
    "Bandit",
    "Catoni",
    "ClippedMean",
    "DecayingGreedy",
    "EpochPolicy",
    "Estimator",
    "HoldsRewards",
    "Huber",
    "ImedPolicy",
    "IndexPolicy",
    "InvalidInput",
    "IronarmError",
    "LowerMedian",
    "Mean",
    "MeanOfRange",
    "MedianOfMeans",
    "OrderedMedian",
    "Policy",
    "PolicyFault",
    "RangedPolicy",
    "Shorth",
    "TrimmedMean",
    "TruncatedMean",
    "UpperMedian",
    "arm_below",
    "beta",
    "choice",
    "coefficient_for",
    "cold",
    "finite_means",
    "first_unrewarded",
    "gamma",
    "greedy_after_start",
    "highest_estimate",
    "highest_in_epoch",
    "highest_index",
    "highest_line",
    "hot",
    "index_moved",
    "integer",
    "line_moved",
    "newcomer_estimate",
    "normal",
    "number",
    "open_uniform",
    "optional",
    "others_moved",
    "rate",
    "rewards_until",
    "share_of_range",
    "start_epoch",
    "still_leads",
    "too_few",
    "uniform",
    "whole",
]
