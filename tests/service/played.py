"""An agent of the service that was played: the same for tests and for looking at.

`python tests/service/played.py DIR` makes one in a folder; then `ironarm serve --data
DIR` shows it.
"""

import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from unittest.mock import patch

from ironarm.service.hosted import Hosted, planned
from ironarm.service.location import StoreLocation

LIARS = ("sensor-7", "sensor-13")


@dataclass(frozen=True)
class Played:
    """Who plays: 5 arms, 20 sources of which 2 lie, outliers, rewards held back."""

    arms: dict[str, float] = field(
        default_factory=lambda: {
            "north": 2.0,
            "east": 2.6,
            "south": 4.0,
            "west": 1.0,
            "harbour": 3.3,
        }
    )
    policy: str = "CoherentIMED"
    minimize: bool = False
    clicks: bool = False
    rounds: int = 4000
    liars: tuple[str, ...] = LIARS
    outliers: float = 0.02
    missing: float = 0.03
    held_back: tuple[str, ...] = ("harbour",)
    sources: int = 20
    named: str = "sensor-{}"
    seconds: float = 1.0
    """Between two decisions."""

    def into(self, place: StoreLocation, name: str, seed: int = 2) -> None:
        """Play, in one transaction."""
        store = place.open(create=True)
        try:
            with store.transaction():
                number = store.add_agent(name)
                hosted = Hosted(store, number, lambda frozen: None)
                _, described = planned(
                    arms=list(self.arms),
                    policy=self.policy,
                    seed=seed,
                    minimize=self.minimize,
                    reward_within=1e6,
                )
                self._play(hosted, described, random.Random(seed))
                hosted.log.hand_over()
        finally:
            store.close()

    def _play(self, hosted: Hosted, described: str, world: random.Random) -> None:
        clock = [time() - self.rounds * self.seconds]
        with patch("ironarm.agent.logged.time", lambda: clock[0]):
            hosted.create(described, None)
            for _ in range(self.rounds):
                clock[0] += self.seconds * world.expovariate(1)
                made, _ = hosted.decide_once(None, None)
                arm = made.arm
                lost = 0.35 if arm in self.held_back else self.missing
                if world.random() < lost:
                    if world.random() < 0.9:
                        hosted.cancel(made.id)
                    continue
                source = self.named.format(world.randrange(self.sources))
                hosted.reward(made.id, self._reward(world, arm, source), source, "rewarded", None)

    def _reward(self, world: random.Random, arm: str, source: str) -> float:
        if self.clicks:
            return float(world.random() < (0.9 if source in self.liars else self.arms[arm]))
        x = world.gauss(self.arms[arm], 1.0)
        if source in self.liars:
            best = max(self.arms, key=lambda each: self.arms[each])
            x = world.gauss(0.0 if arm == best else 5.0, 0.5)
        if world.random() < self.outliers:
            x = world.choice((-1, 1)) * 10 ** world.uniform(2, 6)
        return x


if __name__ == "__main__":
    Played().into(StoreLocation(Path(sys.argv[1])), sys.argv[2] if len(sys.argv) > 2 else "ads")
