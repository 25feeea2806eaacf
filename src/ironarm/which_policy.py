"""Which policy to use: the one answer that the code, the README and the docs give.

The tables of README.md and docs/which-policy.md are this one; a test compares them.
A new kind of feedback is a row here.
"""

from __future__ import annotations

from dataclasses import dataclass

from .policies import POLICIES, Policy
from .show.text import text_table


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
        "neither their spread nor the corrupt share",
        "CoherentIMED()",
        "the default; it learns both from the rewards",
    ),
    Advice(
        "numbers, some of them corrupt",
        "the spread sigma, and a bound on the corrupt share",
        "CountIMED.for_rho(rho, sigma=...)",
        "it withstands attacks that hide from the default",
    ),
    Advice(
        "numbers, some of them corrupt",
        "the spread and the corrupt share, and you need a guarantee",
        "MedEUCB.for_rho(rho)",
        "the paper's policy: `ia.certify` bounds its regret, which is larger",
    ),
    Advice(
        "numbers that nobody corrupts",
        "the spread sigma",
        "IMED(sigma=...)",
        "the least regret possible for normal rewards",
    ),
    Advice(
        "0 or 1: clicks, conversions",
        "nothing more",
        "KLUCB()",
        "the least regret possible, under attack too; it finds the best arm while the corrupt "
        "share is below gap/(1 + gap), and beyond that nobody can",
    ),
    Advice(
        "in a known range, mostly 0 or mostly equal: revenue, stars",
        "the range",
        "KLUCB(reward_range=(0, 1))",
        "medians and trimmed means are blind where most rewards are equal",
    ),
    Advice(
        "in a known range, without a fixed law",
        "the range",
        "TsallisINF(reward_range=(0, 1))",
        "it does well against any sequence of bounded rewards",
    ),
    Advice(
        "with a known source: a user, a publisher, a sensor",
        "who sent each reward",
        "TrustThompson()",
        "it learns whom to trust, from 0/1 rewards too; how many hostile sources it can take "
        "depends on their lies, and is always less than half",
    ),
    Advice(
        "from arms that drift, some of them corrupt",
        "nothing more",
        "RestartingIMED()",
        "the default, restarted when the best arm has changed; `probes` watch the other arms",
    ),
    Advice(
        "late or lost, some of them corrupt",
        "which decision each reward belongs to",
        "CoherentIMED()",
        "call `decide` and `learn` instead of `select` and `update`; every policy of this "
        "table works that way",
    ),
)


def default_policy() -> Policy:
    """Return the policy for those who do not choose one.

    >>> default_policy()
    CoherentIMED()
    """
    return POLICIES["CoherentIMED"]()


def as_markdown() -> str:
    """Return the table for README.md and docs/which-policy.md."""
    rows = [("your rewards are", "you know", "use", "because")]
    rows += [(a.rewards, a.known, f"`{a.use}`", a.because) for a in ADVICE]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|---|---|---|", *lines[1:]])


def as_text() -> str:
    """Return the table for the terminal."""
    head = ("your rewards are", "you know", "use")
    return text_table(head, [(a.rewards, a.known, a.use) for a in ADVICE], words=(0, 1, 2))


def for_rewards(kind: str) -> str:
    """Return what to use for the first kind of rewards whose name begins so.

    >>> for_rewards("0 or 1")
    'KLUCB()'
    """
    return next(advice.use for advice in ADVICE if advice.rewards.startswith(kind))
