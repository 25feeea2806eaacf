"""What a comparison found about one policy, place by place, and in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...show.text import counted
from .arena import Arena
from .standings import ENOUGH_TRIALS, Standing, StandingsRow, ratio_of
from .worst_case import Damage, WorstCase

WINS, LOSES = "wins", "loses"
CANNOT_TELL = "cannot tell"
TOO_FEW = "too few trials"


@dataclass(frozen=True)
class Place:
    """How one policy fares in one setting at one rho, against its best rival."""

    setting: str
    rho: float
    trials: int
    mine: StandingsRow
    rival: StandingsRow

    def __str__(self) -> str:
        return f"{self.setting}, rho = {self.rho:g}"

    @property
    def ratio(self) -> float:
        """Its worst case in units of the rival's."""
        return ratio_of(self.mine.worst.regret.value, self.rival.worst.regret.value)

    @property
    def judgement(self) -> str:
        """Which worst case is smaller; no judgement if the two intervals overlap.

        Few trials give no judgement: the interval of a mean is then much too short.
        """
        if self.trials < ENOUGH_TRIALS:
            return TOO_FEW
        mine, theirs = self.mine.worst.regret, self.rival.worst.regret
        if mine.high < theirs.low:
            return WINS
        return LOSES if mine.low > theirs.high else CANNOT_TELL


@dataclass(frozen=True)
class Search:
    """The attack that a search found, and what it does to the best rival there."""

    setting: str
    worst: WorstCase
    rival: str
    rivals: tuple[Damage, ...]
    """What the rival suffers under the attack found, then under the named ones."""

    @property
    def found_worse(self) -> bool:
        """Whether the attack is worse than all named ones beyond doubt."""
        ratio, low, _ = self.worst.ratio
        return math.isfinite(ratio) and low > 1

    def sentence(self) -> str:
        """Say whether it is worse than all named attacks, and for the rival too."""
        worst = self.worst
        named = type(worst.named[0].attack).__name__
        where = f"In the setting {self.setting} at rho = {worst.rho:g}"
        if not self.found_worse:
            return f"{where} a search found no attack that is clearly worse than {named}."
        return (
            f"{where} a search found an attack {worst.ratio[0]:.2f} times as bad as the worst "
            f"named one, {named}: mean regret {_whole(worst.found.mean)}{self._against()}."
        )

    def _against(self) -> str:
        if not self.rivals:
            return ""
        return f", against {_whole(self.rivals[0].mean)} of {self.rival} under the same attack"


@dataclass(frozen=True)
class Compared:
    """What was found about one of the user's policies."""

    policy: str
    rank: int
    of: int
    standing: Standing
    places: tuple[Place, ...]
    search: Search
    """In the arena's first setting at its largest rho."""
    arms: int
    """How many arms the speed was measured with."""

    def count(self, judgement: str) -> int:
        """In how many places the judgement is this one."""
        return sum(place.judgement == judgement for place in self.places)

    def sentences(self) -> list[str]:
        """Return what is most worth knowing: its rank, how it fares, where it fails.

        What the search found comes second: it qualifies the rank, which counts named
        attacks alone, because no other policy had an attack made for it.
        """
        more = " The rank does not count that attack." if self.search.found_worse else ""
        return [
            f"{self.policy} is number {self.rank} of {self.of}: under its worst named attack it "
            f"has up to {times(self.standing.most)} times the regret of the best policy "
            f"({self.standing.where}), and {times(self.standing.average)} times on average.",
            f"{self.search.sentence()}{more}",
            self._judgements(),
            self._breaks(),
        ]

    def speed(self, reference: float) -> str:
        """Say how long a round takes; `reference` is MedEUCB's time."""
        other = f"; one of MedEUCB takes {reference:.0f} ns" if reference == reference else ""
        return (
            f"A round of {self.policy} takes {self.standing.nanoseconds:.0f} ns with "
            f"{counted(self.arms, 'arm')}{other}."
        )

    def _judgements(self) -> str:
        text = (
            "It is compared with the best rival in each place: of "
            f"{counted(len(self.places), 'combination')} of setting and rho, it wins "
            f"{self.count(WINS)} and loses {self.count(LOSES)}"
        )
        if self.count(CANNOT_TELL):
            text += (
                f"; in {self.count(CANNOT_TELL)} the intervals overlap, so there is no judgement"
            )
        if self.count(TOO_FEW):
            text += (
                f"; {self.count(TOO_FEW)} had fewer than {ENOUGH_TRIALS} trials, too few for a "
                "judgement"
            )
        return f"{text}."

    def _breaks(self) -> str:
        """Name the place with the worst ratio, and the one with most trials stuck."""
        worst = max(self.places, key=lambda place: place.ratio)
        stuck = max(self.places, key=lambda place: (place.mine.stuck, place.ratio))
        text = (
            f"It does worst in {worst} ({times(worst.ratio)} times the worst case of "
            f"{worst.rival.policy}), and "
        )
        if stuck.mine.stuck == 0:
            return f"{text}no trial ended stuck on a wrong arm."
        where = "there" if stuck == worst else f"in {stuck}"
        return (
            f"{text}gets stuck on a wrong arm most often {where}: in "
            f"{100 * stuck.mine.stuck:.1f} % of trials under one attack "
            f"({stuck.rival.policy}: {100 * stuck.rival.stuck:.1f} %)."
        )


def first_look(arena: Arena, quick: bool) -> str:
    """Say that there are too few trials for judgements; nothing if there are enough."""
    trials = sorted({setting.trials for setting in arena.settings})
    if trials[0] >= ENOUGH_TRIALS:
        return ""
    number = counted(trials[0], "trial")
    if len(trials) > 1:
        number = f"{trials[0]} to {counted(trials[-1], 'trial')}"
    remedy = "run it without --quick" if quick else "run it with more"
    return (
        f"This is a first look, with {number} in a setting. Failures that are not in every trial "
        f"may not show, so all numbers and ranks can change a lot. Judgements need at least "
        f"{ENOUGH_TRIALS} trials: {remedy}."
    )


def times(x: float) -> str:
    """Return a ratio as text.

    >>> [times(x) for x in (0.184, 7.551, 77.8, 1234.5, math.inf)]
    ['0.18', '7.6', '78', '1,234', '∞']
    """
    if not math.isfinite(x):
        return "∞"
    return f"{x:,.0f}" if x >= 100 else f"{x:.2g}" if x < 10 else f"{x:.0f}"


def _whole(x: float) -> str:
    return f"{x:,.0f}" if x >= 10 else f"{x:.2g}"
