"""What policies for rewards in a known range share: the check of the range, and the
map to [0, 1].
"""

from __future__ import annotations

import math

from ..errors import InvalidInput
from ..marks import hot
from ..validation import number


def checked_range(value: tuple[float, float]) -> tuple[float, float]:
    """Return (low, high) as two finite numbers with low < high, or say why not."""
    try:
        low, high = value
    except (TypeError, ValueError):
        raise InvalidInput(f"reward_range must be a pair (low, high), got {value!r}.") from None
    low = number("reward_range's low end", low)
    high = number("reward_range's high end", high, above=low)
    if not (math.isfinite(high - low) and math.isfinite(1 / (high - low))):
        raise InvalidInput(
            f"reward_range is too {'narrow' if high - low < 1 else 'wide'} to compute with, got "
            f"{value!r}; scale the rewards."
        )
    return low, high


def range_constants(reward_range: tuple[float, float]) -> dict[str, float]:
    """Return what `share_of_range` reads from the state."""
    low, high = reward_range
    return {"low": low, "per_width": 1 / (high - low)}


def mirrored_range(reward_range: tuple[float, float]) -> tuple[float, float]:
    """Return the range of the negated rewards."""
    low, high = reward_range
    return -high, -low


@hot
def share_of_range(s, x):
    """Return the reward mapped to [0, 1], clipped; infinite ones too."""
    return min(max((x - s.low) * s.per_width, 0.0), 1.0)
