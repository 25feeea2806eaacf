"""Which policy to use: the one answer that the code, the README and the docs give.

README's table is this one; a test compares them. A new kind of feedback is a row here.
"""

from __future__ import annotations

from dataclasses import dataclass

from .policies import CoherentIMED, Policy


@dataclass(frozen=True)
class Advice:
    """What to use for one kind of reward."""

    rewards: str
    known: str
    use: str
    because: str


ADVICE = (
    Advice(
        "numbers, some of them corrupt",
        "nothing",
        "CoherentIMED()",
        "the default: it learns the spread and the corrupt share",
    ),
    Advice(
        "numbers, some of them corrupt",
        "a bound on the corrupt share, the spread",
        "CountIMED.for_rho(rho, sigma=...)",
        "the same rule, told both: it stands attacks that hide from the default",
    ),
    Advice(
        "numbers, some of them corrupt",
        "the corrupt share, the spread; you want a bound from `ia.certify`",
        "MedEUCB.for_rho(rho)",
        "the paper's policy, with forced pulls; more regret",
    ),
    Advice(
        "numbers that nobody corrupts",
        "the spread",
        "IMED(sigma=...)",
        "the least regret possible for normal rewards",
    ),
    Advice(
        "0 or 1, or mostly equal",
        "nothing",
        "UCB(sigma=0.5)",
        "medians and counts cannot tell such arms apart; nobody can defend it well",
    ),
    Advice(
        "in a known range, without a fixed law",
        "the range",
        "TsallisINF(reward_range=(0, 1))",
        "it does well against any sequence of bounded rewards",
    ),
)


def default_policy() -> Policy:
    """Return the policy for those who do not choose one.

    >>> default_policy()
    CoherentIMED()
    """
    return CoherentIMED()


def as_markdown() -> str:
    """Return the table for the README."""
    rows = [("your rewards", "you know", "use", "because")]
    rows += [(a.rewards, a.known, f"`{a.use}`", a.because) for a in ADVICE]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|---|---|---|", *lines[1:]])


def for_rewards(kind: str) -> str:
    """Return what to use for the first kind of rewards whose name begins so.

    >>> for_rewards("0 or 1")
    'UCB(sigma=0.5)'
    """
    return next(advice.use for advice in ADVICE if advice.rewards.startswith(kind))
