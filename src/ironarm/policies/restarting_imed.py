"""RestartingIMED: CoherentIMED that restarts when an arm has changed."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import SampledMedian
from ..estimators.sampled_median import forget_rewards, held_rewards
from ..marks import cold, hot
from ..rules import change_alarm, coherent_choice
from ..rules.change_alarm import rings, trust_again
from ..rules.coherent_choice import leader_stays, least_index
from ..rules.coherent_evidence import new_reward
from ..rules.lazy_imed import ImedPolicy, others_moved
from ..validation import choice, number


@cold
def forget(s, a):
    """Forget all that is known of arm a."""
    forget_rewards(s, a)
    new_reward(s, a)
    s.size[a] = 0
    s.stage[a] = 0
    trust_again(s, a)
    s.before[a] = s.rewards[a]
    s.since[a] = s.n[a] - s.before[a]
    s.until[0] = 0


@cold
def restart(s, a):
    """Begin anew: with all arms, or with the one that has changed."""
    s.restarts[0] += 1
    if s.all_arms == 0.0:
        forget(s, a)
        return
    for k in range(s.arms):
        forget(s, k)
    s.sigma[0] = 0.0
    s.beta[0] = 0.0
    s.seen[0] = 0.0
    s.share[0] = 0.0
    s.once[0] = 0
    s.next_look[0] = 0
    s.at[0] = 0.0
    s.began[0] = max(s.now[0], s.rounds[0])  # live, owed pulls are made without `choose`


@cold
def scan(s, t):
    """Return the arm for round t, from the restart, if the leader is not surely it."""
    unheard = -1
    for a in range(s.arms):
        if held_rewards(s, a) == 0 and (unheard < 0 or s.since[a] < s.since[unheard]):
            unheard = a
    return unheard if unheard >= 0 else least_index(s, s.since, t)


@dataclass(frozen=True)
class RestartingIMED(ImedPolicy):
    """CoherentIMED that restarts when an arm has changed, even under attack.

    This is the project's own policy. It plays like its parent `CoherentIMED`, which
    needs no parameters. In addition, an alarm watches whether the rewards of an arm
    still lie around its median: it counts those beyond thresholds, and allows for the
    corrupt share that the parent has learnt, so corrupt rewards alone cannot trigger
    it. When it goes off, the policy forgets all rewards so far and starts again.
    docs/drift.md has the rule, the proofs and the measurements.

    **What it cannot see.** A change of the leader shows in the leader's own rewards. If
    another arm improves, the policy notices only when it pulls that arm, and IMED
    rarely does. Set `probes` for that; it costs `probes` times the mean gap in every
    round.

    It holds at most 16,384 rewards of an arm. If means change slowly, its medians lag
    behind until the difference sets off the alarm; at rho = 0.3 it is then no better
    than a sliding window. Otherwise it fails where `CoherentIMED` fails.

    Parameters
    ----------
    probes : the share of rounds that probe the arms in turn, 0 <= probes <= 1. With
        0.01 and ten arms, every arm is pulled at least once in 1,000 rounds.
    alarm_rate : a bound on the expected share of rounds with a false alarm, > 0; see
        docs/drift.md for the assumptions. A smaller one is safer, and slower to notice
        changes.
    restart : "all" forgets all arms, "arm" only the one that has changed.

    Examples
    --------
    >>> import ironarm as ia
    >>> import random
    >>> world, means = random.Random(7), {"a": 0.0, "b": 5.0}
    >>> agent = ia.Agent(ia.RestartingIMED(), arms=["a", "b"], seed=7)
    >>> for t in range(1000):
    ...     arm = agent.select()
    ...     agent.update(
    ...         arm, world.gauss(means[arm] if t < 500 else 5.0 - means[arm], 1.0)
    ...     )
    >>> agent.best()
    'a'

    References
    ----------
    Roberts, A comparison of some control chart procedures, Technometrics 8, 1966 (the
    sum). Huber, A robust version of the probability ratio test, Annals of Mathematical
    Statistics 36, 1965 (tests that corrupt rewards cannot decide). Besson, Kaufmann,
    Maillard, Seznec, Efficient change-point detection for tackling piecewise-stationary
    bandits, Journal of Machine Learning Research 23, 2022 (restarts and probes).
    """

    probes: float = 0.0
    alarm_rate: float = 1e-6
    restart: str = "all"

    needs = {}
    family = "least evidence, for arms that change", "median"
    use_when = (
        "as `CoherentIMED`, and arms change: it starts over when an alarm goes off that corrupt "
        "rewards cannot set off (docs/drift.md)"
    )
    estimator = SampledMedian
    fields = {
        **coherent_choice.FIELDS,
        **change_alarm.FIELDS,
        "before": "int[arms]",  # rewards of the arm before its last restart
        "began": "int[1]",  # the round of the last restart of all
        "now": "int[1]",
        "restarts": "int[1]",
        "since": "cache int[arms]",  # rewards since the restart, and open decisions
    }

    def __post_init__(self) -> None:
        self._set(
            probes=number("probes", self.probes, at_least=0, at_most=1),
            alarm_rate=number("alarm_rate", self.alarm_rate, above=0, below=1),
            restart=choice("restart", self.restart, ("all", "arm")),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {
            "probes": self.probes,
            "alarm_rate": self.alarm_rate,
            "all_arms": float(self.restart == "all"),
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        s.now[0] = t
        probes = int(t * s.probes)  # those due by now
        if probes > int((t - 1) * s.probes):
            return probes % s.arms
        age = t - s.began[0]
        return s.leader[0] if leader_stays(s, s.since, age) else scan(s, age)

    @staticmethod
    @hot
    def update(s, a, x):
        if rings(s, a, x, s.sigma[0], s.beta[0], s.share[0]):
            restart(s, a)
            return
        s.reference[a] = s.estimate[a]
        new_reward(s, a)
        s.since[a] = s.n[a] - s.before[a]
        others_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        s.since[a] = s.n[a] - s.before[a]
        others_moved(s, a)
