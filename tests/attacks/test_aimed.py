"""ACE and Jun against their formulas, round by round; and Cauchy's law."""

import math

import numpy as np
import pytest
from scipy.special import kolmogi
from scipy.stats import cauchy

import ironarm as ia
from tests.attacks.asking import Asked

BANDIT = ia.GaussianBandit(means=[1.0, 5.0, 3.0, 2.0])
DELTA, SIGMA = 0.1, 1.5


def beta(n):
    return math.sqrt(2 * SIGMA**2 / n * math.log(math.pi**2 * BANDIT.arms * n**2 / (3 * DELTA)))


def naive_ace(target, rho):
    """Liu and Shroff's formula on lists of the clean rewards held."""
    held = [[] for _ in range(BANDIT.arms)]

    def corrupt(e, a, x, u, v):
        held[a].append(x)
        if a == target:
            return x
        of_target = held[target] or [BANDIT.means[target]]
        return (
            x
            - max(
                0, np.mean(held[a]) - np.mean(of_target) + beta(len(held[a])) + beta(len(of_target))
            )
            / rho
        )

    return corrupt


def naive_jun(target, margin):
    """Jun et al.'s formula: the mean after this reward shall not exceed the level."""

    def corrupt(e, a, x, u, v):
        if a == target or e.pulls[target] == 0:
            return x
        level = e.estimate[target] - 2 * beta(int(e.pulls[target])) - margin
        total_before = (int(e.pulls[a]) - 1) * e.estimate[a] if e.pulls[a] > 1 else 0.0
        excess = (total_before + x) - int(e.pulls[a]) * level
        return x - max(0.0, excess)

    return corrupt


@pytest.mark.parametrize(
    ("attack", "make_naive"),
    [
        (ia.attacks.ACE(rho=0.2, delta=DELTA, sigma=SIGMA), lambda: naive_ace(2, 0.2)),
        (
            ia.attacks.ACE(rho=0.2, target="worst", delta=DELTA, sigma=SIGMA),
            lambda: naive_ace(0, 0.2),
        ),
        (ia.attacks.Jun(rho=0.2, delta=DELTA, sigma=SIGMA), lambda: naive_jun(2, 0.0)),
        (
            ia.attacks.Jun(rho=0.2, target=3, margin=0.5, delta=DELTA, sigma=SIGMA),
            lambda: naive_jun(3, 0.5),
        ),
    ],
    ids=["ACE, runner-up", "ACE, worst", "Jun, runner-up", "Jun, margin"],
)
@pytest.mark.parametrize("policy", [ia.UCB(), ia.MedEUCB(block=200)], ids=lambda p: p.label)
def test_formulas(attack, make_naive, policy):
    """The same rewards are shown, to rounding, and so the same arms are pulled."""
    shown = {"ours": [], "naive": []}

    def noted(name, corrupt):
        return lambda e, a, x, u, v: shown[name].append(corrupt(e, a, x, u, v)) or shown[name][-1]

    ours = ia.CustomAttack(
        0.2, noted("ours", attack.corrupt), attack.constants(), cells=len(attack.start(BANDIT))
    )
    object.__setattr__(ours, "start", attack.start)
    plain = ia.CustomAttack(0.2, noted("naive", make_naive()))
    settings = dict(horizon=400, trials=1, seed=5, workers=1, checkpoints=range(1, 401))
    compiled, first, second = (
        ia.simulate(policy, BANDIT, each, **settings) for each in (attack, ours, plain)
    )
    assert len(shown["ours"]) > 50
    np.testing.assert_allclose(shown["ours"], shown["naive"], rtol=1e-9, atol=1e-9)
    assert np.array_equal(compiled.regret, second.regret)
    assert np.array_equal(first.regret, second.regret)


def test_they_make_policies_on_means_pull_the_target():
    """In 20 of 20 trials UCB ends on the target, and MedEUCB on the best arm."""
    for attack in (
        ia.attacks.ACE(rho=0.1, target="worst"),
        ia.attacks.Jun(rho=0.1, target="worst", margin=0.1),
    ):
        result = ia.simulate(
            [ia.UCB(), ia.MedEUCB()],
            ia.GaussianBandit([0, 1, 3]),
            attack,
            horizon=4000,
            trials=20,
            seed=2,
        )
        assert (result.pulls[0].argmax(axis=1) == 0).all()
        assert (result.pulls[1].argmax(axis=1) == 2).all()


def test_ace_in_the_experiment_of_its_paper():
    """UCB, epsilon-greedy and Thompson pull the worse arm in nearly all rounds.

    Liu and Shroff: two arms, sigma 0.1, 100,000 rounds, an attacker who may act in
    each.
    """
    policies = [ia.UCB(sigma=0.1), ia.EpsilonGreedy(), ia.policies.ThompsonGaussian(sigma=0.1)]
    attack = ia.attacks.ACE(rho=0.999, target=1, sigma=0.1)
    result = ia.simulate(
        policies, ia.GaussianBandit([1, 0], sigma=0.1), attack, horizon=100_000, trials=10, seed=5
    )
    assert result.pulls[:, :, 1].min() > 99_500


@pytest.mark.parametrize("attack", [ia.attacks.ACE, ia.attacks.Jun])
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("runner-up", "Did you mean 'runner_up'"),
        (-1, "target must be a whole number"),
        (4, "one of the arms 0 to 3, got 4"),
        (1, "not be the best arm, got arm 1"),
        (1.5, "target"),
    ],
)
def test_targets_that_make_no_sense_are_refused(attack, target, message):
    """When the attack is made, or when it meets the bandit."""
    with pytest.raises(ia.InvalidInput, match=message):
        attack(rho=0.1, target=target).start(BANDIT)


def test_cauchy_is_centred_on_the_wrong_side():
    """Kolmogorov-Smirnov distance of 20,000 outliers to the law, for three arms.

    Each has a false alarm in 1e-6 of seeds.
    """
    asked = Asked(ia.attacks.Cauchy(rho=0.1, up=4, down=7, scale=2), BANDIT)
    for arm, centre in ((0, 4), (1, -7), (2, 4)):
        shown = np.sort([asked(arm, 100.0, u) for u in np.random.default_rng(arm).random(20_000)])
        assert np.abs(cauchy(centre, 2).cdf(shown) - np.arange(20_000) / 20_000).max() < kolmogi(
            1e-6
        ) / np.sqrt(20_000)


def test_cauchy_gives_the_regret_of_the_crimed_paper():
    """Figure 2, third scenario: about 1,060 for IMED with unit variance, T = 10,000.

    20 trials are within four standard errors, and 5 % for reading the figure.
    """
    result = ia.simulate(
        ia.IMED(sigma=1),
        ia.GaussianBandit([0.8, 0.9, 1.0], sigma=0.5),
        ia.attacks.Cauchy(rho=0.01),
        horizon=10_000,
        trials=20,
        seed=1,
    )
    final = result.regret[0, :, -1]
    assert abs(final.mean() - 1060) < 4 * final.std() / np.sqrt(20) + 0.05 * 1060
