"""CoherentIMED: IMED on counts, without parameters."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import SampledMedian
from ..marks import cold, hot
from ..rules.coherent_choice import FIELDS, leader_stays, least_index
from ..rules.coherent_evidence import new_reward
from ..rules.highest_index import first_unrewarded
from ..rules.lazy_imed import ImedPolicy, others_moved


@cold
def scan(s, t):
    """Return the arm for round t where the leader is not known to be it."""
    if s.unrewarded[0] > 0:
        return first_unrewarded(s.n, s.rewards, s.fresh)
    return least_index(s, s.n, t)


@dataclass(frozen=True)
class CoherentIMED(ImedPolicy):
    """CoherentIMED: IMED on counts, without parameters. The default policy.

    This is the project's own policy. Like `CountIMED` it pulls the arm with the least
    evidence against it, and evidence counts rewards, so their size does not matter. But
    you need to know neither the spread of the clean rewards nor the share of corrupt
    ones. It learns both, mostly from the leader, the arm with the highest lower median.
    If an arm's rewards do not lie close together, it counts less evidence against it:
    nothing shows that it is bad.

    It holds at most 16,384 rewards of an arm, so it can run for months.
    docs/policies.md says more; docs/coherent-imed.md has the rule and the measurements.

    **Where it fails.** No policy can learn a bound on rho from the rewards alone
    (Agrawal et al. 2024). This one always allows for a share of 0.15; a larger one must
    show in the rewards. There is no regret bound. If you know rho and the spread, use
    `CountIMED`.

    **Not for 0/1 rewards** or heavy ties, gaps below half the spread, arms of very
    different spread, or rho near 0.4 and above. A round costs four to six times one of
    `MedEUCB`.

    Examples
    --------
    >>> import ironarm as ia
    >>> result = ia.simulate(
    ...     [ia.CoherentIMED(), ia.CountIMED(epsilon=0.35), ia.MedEUCB()],
    ...     ia.GaussianBandit(means=range(2, 21, 2)),
    ...     ia.OppositeUniform(rho=0.3, scale=1800),
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> [round(float(regret)) for regret in result.regret[:, :, -1].mean(axis=1)]
    [886, 1068, 3632]

    References
    ----------
    Agrawal, Mathieu, Basu, Maillard, CRIMED: Lower and upper bounds on regret for
    bandits with unbounded stochastic corruption, ALT 2024 (a bound on rho must be
    known). Honda and Takemura, Non-asymptotic analysis of a new bandit algorithm for
    semi-bounded rewards, Journal of Machine Learning Research 16, 2015 (the index).
    Rousseeuw and Leroy, A robust scale estimator based on the shortest half, Statistica
    Neerlandica 42, 1988 (the spread).
    """

    needs = {}
    family = "least evidence against an arm", "median"
    use_when = (
        "as for `MedEUCB`, and you know neither the corrupt share nor the scale; it learns both "
        "from the rewards. The default (docs/coherent-imed.md)"
    )
    estimator = SampledMedian
    fields = FIELDS

    @staticmethod
    @hot
    def choose(s, t, g):
        return s.leader[0] if leader_stays(s, s.n, t) else scan(s, t)

    @staticmethod
    @hot
    def update(s, a, x):
        new_reward(s, a)
        others_moved(s, a)
