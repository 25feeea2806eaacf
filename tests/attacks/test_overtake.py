"""Overtake: against lists of all rewards, and what it does to policies."""

import numpy as np
import pytest

import ironarm as ia
from tests.attacks.asking import Asked

BANDIT = ia.GaussianBandit([1.0, 5.0, 3.0, 4.5])


class Naive:
    """The rule in lists of everything that was paid and shown."""

    def __init__(self, bandit):
        self.bandit = bandit
        self.paid, self.shown = ([[] for _ in range(bandit.arms)] for _ in range(2))
        self.answers = []

    def corrupt(self, e, a, x, u, v):
        best, rival = self.bandit.best, self.bandit.runner_up
        means = self.bandit.means
        if a != best:
            answer = max([x, means[best], *self.paid[best]])
        else:
            lowest = min([x, means[rival], *self.paid[rival]])
            goal = np.mean(self.shown[rival] or [means[rival]])
            mean = np.mean([*self.shown[a], lowest])
            pulls = len(self.shown[a]) + 1
            answer = lowest - max(0.0, mean - goal) * pulls
        self.answers.append(answer)
        return answer

    def observe(self, e, a, x, shown):
        self.paid[a].append(x)
        self.shown[a].append(shown)


@pytest.mark.parametrize(
    "policy", [ia.UCB(), ia.RUCB(), ia.MedEpsilonGreedy(c=2)], ids=lambda p: p.label
)
def test_it_is_the_rule_on_lists_of_all_rewards(policy):
    """The same rewards are shown, to rounding, and so the same arms are pulled."""
    attack, naive, answers = ia.attacks.Overtake(rho=0.2), Naive(BANDIT), []

    def noted(*arguments):
        answers.append(attack.corrupt(*arguments))
        return answers[-1]

    ours = ia.CustomAttack(0.2, noted, observe=attack.observe)
    object.__setattr__(ours, "start", attack.start)
    plain = ia.CustomAttack(0.2, naive.corrupt, observe=naive.observe)
    settings = dict(horizon=600, trials=1, seed=5, workers=1, checkpoints=range(1, 601))
    compiled, first, second = (
        ia.simulate(policy, BANDIT, each, **settings) for each in (attack, ours, plain)
    )
    assert len(answers) > 80
    np.testing.assert_allclose(answers, naive.answers, rtol=1e-9, atol=1e-9)
    assert np.array_equal(compiled.regret, second.regret)
    assert np.array_equal(first.regret, second.regret)


def test_before_an_arm_has_a_reward_its_mean_counts():
    """The best arm goes to the runner-up's mean, the others to the best arm's."""
    asked = Asked(ia.attacks.Overtake(rho=0.2), BANDIT, pulls=[0, 1, 0, 0])
    assert asked(1, 7.0) == 4.5
    asked = Asked(ia.attacks.Overtake(rho=0.2), BANDIT, pulls=[1, 0, 0, 0])
    assert asked(0, -7.0) == 5.0


def test_a_reward_that_helps_already_stays():
    """A bad one of the best arm, a good one of another."""
    asked = Asked(ia.attacks.Overtake(rho=0.2), BANDIT, pulls=[0, 1, 0, 0])
    assert asked(1, -7.0) == -7.0
    assert asked(0, 17.0) == 17.0


def test_one_arm_alone_has_no_rival():
    """Its rewards are left alone."""
    assert Asked(ia.attacks.Overtake(rho=0.2), ia.GaussianBandit([3.0]))(0, 7.0) == 7.0


def test_it_hurts_those_whom_outliers_do_not():
    """On the paper's arms UCB ends on the runner-up in 20 of 20 trials.

    Count-IMED's median regret is more than twice that under the paper's attack: 2.4
    times, with this seed.
    """
    bandit = ia.GaussianBandit(means=range(2, 21, 2))
    policies = [ia.UCB(), ia.CountIMED(epsilon=0.35)]
    settings = dict(horizon=10_000, trials=20, seed=3)
    watching = ia.simulate(policies, bandit, ia.attacks.Overtake(rho=0.3), **settings)
    paper = ia.simulate(policies, bandit, ia.OppositeUniform(rho=0.3), **settings)
    assert (watching.pulls[0].argmax(axis=1) == bandit.runner_up).all()
    medians = [np.median(each.regret[1, :, -1]) for each in (watching, paper)]
    assert medians[0] > 2 * medians[1]
