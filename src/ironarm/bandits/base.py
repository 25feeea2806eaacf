"""The contract of a bandit.

A bandit is a set of arms with clean reward laws. It knows nothing of attacks or
policies.

* `means` are the true means, from which the regret is computed: an array, or any other
  sequence of numbers. `finite_means` makes an array of them, and checks them.
* `rewards(arm, noise)` turns noise, uniform numbers in (0, 1), into rewards of that arm
  through the law's inverse distribution function.
* `law_count` is how many laws rewards can be drawn from: one for each arm, and after
  them laws that only an attack can show, such as those of jammed channels. `rewards`
  takes their numbers too. Optional: only the arms'.
* `stretch` is for how many rounds rewards are computed together at most; set it if each
  reward is expensive. Optional: as many as fit.
* `segments` are the bandits that rewards come from in turn, each with the round from
  which it serves, the first from round 1. Optional: only itself. See `DriftingBandit`.
* `location_scale` is `(locations, scales)` if an arm's reward is location + scale * z
  with standard normal z. Then `rewards` gets z, and the simulator needs no call.
* `to_dict()` returns everything that determines the laws, as plain data: results are
  saved with it, and finished simulations are found again by it. A dataclass has it
  from its parameters; any other class writes it, for example as `return {"bandit":
  "MyBandit", "means": self.means.tolist()}`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInput, PolicyFault
from ..naming.own_code import name_of, reduced
from ..show.text import counted


class Bandit:
    """The base of all bandits; docs/own-policy.md says how to write one."""

    means: np.ndarray

    @property
    def arms(self) -> int:
        """The number of arms."""
        return len(self.means)

    @property
    def law_count(self) -> int:
        """The number of laws: the arms', and any that only an attack can show."""
        return self.arms

    @property
    def stretch(self) -> int | None:
        """For how many rounds rewards are computed together; None: as many as fit."""
        return None

    @property
    def segments(self) -> tuple[tuple[int, Bandit], ...]:
        """The bandits that serve in turn, each with its first round."""
        return ((1, self),)

    @property
    def best(self) -> int:
        """The arm with the largest mean, the lowest number among equals."""
        return int(np.argmax(self.means))

    @property
    def runner_up(self) -> int:
        """The best of the other arms; the best arm itself if there is only one."""
        if self.arms == 1:
            return 0
        others = np.array(self.means, dtype=float)
        others[self.best] = -np.inf
        return int(np.argmax(others))

    @property
    def gaps(self) -> np.ndarray:
        """How much each arm's mean falls short of the best."""
        return self.means[self.best] - np.asarray(self.means)

    @property
    def location_scale(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Locations and scales if rewards are normal, else None."""
        return None

    def prepare(self, say: Callable[[str], None]) -> None:
        """Compile what `rewards` needs, before threads call it.

        `say` is called with a message if that takes time.
        """

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        """Return the arm's rewards for this noise."""
        raise PolicyFault(
            f"{type(self).__name__} has no `rewards`: write rewards(self, arm, noise), which "
            "returns a reward for each number of the noise."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the bandit as plain data: by default, a dataclass's parameters."""
        if not is_dataclass(self):
            raise PolicyFault(
                f"{type(self).__name__} has no `to_dict`: write one that returns its parameters as "
                f"plain data, for example {{'bandit': '{type(self).__name__}', 'means': "
                "self.means.tolist()}, or make the class a dataclass."
            )
        values = {field.name: getattr(self, field.name) for field in dataclass_fields(self)}
        return {"bandit": name_of(type(self)), **{k: _plain(v) for k, v in values.items()}}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(self.arms, 'arm')}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self) or super().__reduce_ex__(protocol)


def _plain(value: Any) -> Any:
    """Return a parameter as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(map(_plain, value)) if isinstance(value, tuple | list) else value


def finite_means(values: object) -> np.ndarray:
    """Return means as a float array of at least one arm; refuse anything else."""
    try:
        means = np.array([float(x) for x in values])  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise InvalidInput(f"means must be a sequence of numbers, got {values!r}.") from None
    if len(means) == 0 or not np.isfinite(means).all():
        raise InvalidInput(f"means must be at least one number, all finite, got {values!r}.")
    if (
        not np.isfinite(means.max() / 2 - means.min() / 2)
        or abs(means.max() / 2 - means.min() / 2) > np.finfo(float).max / 2
    ):
        raise InvalidInput(
            f"means must not lie so far apart that their gaps overflow, got {values!r}."
        )
    means.flags.writeable = False
    return means
