"""Each attack does to a reward what it says, and only when its coin comes up."""

import math

import numpy as np
import pytest
from scipy.stats import binom

import ironarm as ia
from ironarm.attacks import ATTACKS, make
from tests.attacks.asking import Asked
from tests.attacks.recording import ROUNDS, coin_rounds, seen

BANDIT = ia.GaussianBandit(means=[1.0, 5.0, 3.0])


def ask(attack, arm, x, u=0.25, v=0.75, t=1, pulls=(1, 1, 1), estimate=(1.0, 5.0, 3.0)):
    """Return what the compiled attack shows."""
    return Asked(attack, BANDIT, pulls, estimate)(arm, x, u, v, t)


def test_opposite_uniform_subtracts_on_the_best_arm_and_adds_elsewhere():
    """A uniform number on (0, scale)."""
    attack = ia.OppositeUniform(rho=0.3, scale=100)
    assert ask(attack, 1, 7.0) == 7.0 - 25.0
    assert ask(attack, 0, 7.0) == 7.0 + 25.0


def test_sometimes_large_is_small_but_for_a_share():
    """The second number of the round decides which; both sides as `OppositeUniform`."""
    attack = ia.attacks.SometimesLarge(rho=0.3, scale=100, small=4, share=0.1)
    assert ask(attack, 1, 7.0, v=0.05) == 7.0 - 25.0
    assert ask(attack, 1, 7.0, v=0.15) == 7.0 - 1.0
    assert ask(attack, 0, 7.0, v=0.15) == 7.0 + 1.0


def test_infinite_is_minus_on_the_best_arm_plus_elsewhere_and_one_sided_if_asked():
    """The three kinds."""
    assert ask(ia.Infinite(rho=0.3), 1, 7.0) == -math.inf
    assert ask(ia.Infinite(rho=0.3), 2, 7.0) == math.inf
    assert ask(ia.Infinite(rho=0.3, sides="down"), 2, 7.0) == 7.0
    assert ask(ia.Infinite(rho=0.3, sides="up"), 1, 7.0) == 7.0


def test_constant_shows_one_value():
    """Whatever the reward was."""
    assert ask(ia.Constant(rho=0.3, value=50), 1, 7.0) == -50
    assert ask(ia.Constant(rho=0.3, value=50), 0, 7.0) == 50


def test_front_loaded_stops_after_the_first_pulls_of_an_arm():
    """An arm's pull number `pulls` is the last that is attacked."""
    attack = ia.attacks.FrontLoaded(rho=0.3, pulls=4, scale=100)
    assert ask(attack, 0, 7.0, pulls=(4, 1, 1)) == 32.0
    assert ask(attack, 0, 7.0, pulls=(5, 1, 1)) == 7.0


@pytest.mark.parametrize(
    ("attack", "shown"),
    [
        (ia.attacks.MedianChaser(rho=0.3, margin=0.5), 0.5),
        (ia.attacks.Shaped(rho=0.3, best="chase", size=0.5, spread=0), 0.5),
        (ia.attacks.Jun(rho=0.3), 7.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_arm_whose_rewards_are_all_late_has_no_estimate(attack, shown):
    """It was pulled, but the policy's -inf would be a conspicuous number to show."""
    asked = Asked(attack, ia.GaussianBandit([0, 1, 2]), [3, 3, 3], [0, -np.inf, 1])
    assert asked(2, 7.0) == shown


def test_median_chaser_stays_just_under_the_runner_ups_estimate():
    """Only on the best arm, and under the true mean before there is an estimate."""
    attack = ia.attacks.MedianChaser(rho=0.3, margin=0.5)
    assert ask(attack, 1, 7.0, estimate=(1.0, 5.0, 2.25)) == 1.75
    assert ask(attack, 1, 7.0, pulls=(1, 1, 0)) == 2.5
    assert ask(attack, 2, 7.0) == 7.0


def test_understate_lowers_the_best_arm_and_shows_few_outliers_elsewhere():
    """By `down`, or to the worst arm; an outlier only where v falls below `shown`."""
    attack = ia.attacks.Understate(rho=0.3, shown=0.4, scale=100)
    assert ask(attack, 1, 7.0) == ask(attack, 1, 7.0, v=0.1) == 7.0 - 4.0
    assert ask(ia.attacks.Understate(rho=0.3, down=9), 1, 7.0) == 7.0 - 9.0
    assert ask(attack, 0, 7.0, v=0.39) == ask(attack, 2, 7.0, v=0.39) == 7.0 + 25.0
    assert ask(attack, 0, 7.0, v=0.4) == ask(attack, 2, 7.0, v=0.4) == 7.0
    assert ask(ia.attacks.Understate(rho=0.3, shown=0), 2, 7.0, v=1e-12) == 7.0
    assert ask(ia.attacks.Understate(rho=0.3, shown=1, scale=100), 2, 7.0, v=1 - 1e-12) == 32.0


def test_understate_shows_its_share():
    """A policy that pulls all arms in turn sees rho * shown outliers on a bad arm.

    Half of them would be seen at rho / 2. Within exact binomial bounds, a false alarm
    in 2e-6 of seeds; every attacked reward of the best arm lies 4 lower.
    """
    clean, shown = seen(ia.NoAttack(), BANDIT), seen(ia.attacks.Understate(rho=0.3), BANDIT)
    arm = np.arange(ROUNDS) % 3
    for each in (0, 2):
        count, outliers = (arm == each).sum(), (shown != clean)[arm == each].sum()
        assert binom.ppf(5e-7, count, 0.12) <= outliers <= binom.isf(5e-7, count, 0.12)
    changed = coin_rounds(0.3) & (arm == 1)
    np.testing.assert_allclose(shown[changed], clean[changed] - 4.0)


def test_mimic_shows_the_other_arms_law():
    """The best arm shows the runner-up, the others the best.

    With sigma 0 the laws are their means.
    """
    seen = []
    attack = ia.CustomAttack(0.5, lambda e, a, x, u, v: seen.append((a, x)) or x)
    object.__setattr__(attack, "shows", ia.Mimic(rho=0.5).shows)
    ia.simulate(
        ia.EpsilonGreedy(),
        ia.GaussianBandit([1.0, 5.0, 3.0], sigma=0),
        attack,
        horizon=300,
        trials=1,
        seed=1,
    )
    assert {(0, 5.0), (1, 3.0), (2, 5.0)} == set(seen)


@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "NoAttack"])
def test_an_attack_with_rho_zero_does_nothing(name):
    """The same result as no attack."""
    policies = [ia.MedEUCB(), ia.UCB()]
    clean = ia.simulate(policies, BANDIT, horizon=500, trials=2, seed=1)
    attacked = ia.simulate(policies, BANDIT, make(name, {"rho": 0}), horizon=500, trials=2, seed=1)
    assert np.array_equal(clean.regret, attacked.regret)


def test_a_compiled_attack_and_the_same_one_in_python_agree():
    """Round by round: equal regret at every checkpoint, memory included."""

    @ia.extend.hot
    def compiled(e, a, x, u, v):
        e.memory[0] += 1
        return (
            x - e.size * e.memory[0] * u
            if a == e.best
            else e.estimate[e.runner_up] + v + e.means[a] + e.pulls[a] / e.t
        )

    def plain(e, a, x, u, v):
        return compiled(e, a, x, u, v)

    policies = [ia.MedEUCB(), ia.RUCB(), ia.UCB(), ia.EXP3()]
    results = [
        ia.simulate(
            policies,
            BANDIT,
            ia.CustomAttack(0.3, function, {"size": 2}, cells=1),
            horizon=1500,
            trials=3,
            seed=6,
            checkpoints=range(1, 1501),
        )
        for function in (compiled, plain)
    ]
    assert np.array_equal(results[0].regret, results[1].regret)


def test_nan_from_an_attack_counts_as_minus_infinity():
    """The adversary could have sent -inf anyway."""
    policies = [
        ia.MedEUCB(),
        ia.RUCB(),
        ia.UCB(),
        ia.CatoniUCB(),
        ia.TrimmedUCB(alpha=0.1),
        ia.EXP3(),
    ]
    nan, inf = (
        ia.simulate(
            policies,
            BANDIT,
            ia.CustomAttack(0.2, lambda e, a, x, u, v, value=value: value),
            horizon=600,
            trials=2,
            seed=1,
        )
        for value in (math.nan, -math.inf)
    )
    assert np.array_equal(nan.regret, inf.regret)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ia.OppositeUniform(rho=1), "rho must be at least 0 and below 1, got 1"),
        (lambda: ia.OppositeUniform(rho=-0.1), "rho"),
        (lambda: ia.OppositeUniform(rho=math.nan), "rho"),
        (lambda: ia.OppositeUniform(rho="a lot"), "rho must be a number"),
        (lambda: ia.OppositeUniform(rho=0.1, scale=0), "scale"),
        (lambda: ia.Infinite(rho=0.1, sides="left"), "sides"),
        (lambda: ia.attacks.FrontLoaded(rho=0.1, pulls=0), "pulls"),
        (lambda: ia.attacks.MedianChaser(rho=0.1, margin=0), "margin"),
        (
            lambda: ia.attacks.Understate(rho=0.1, shown=1.1),
            "shown must be at least 0 and at most 1",
        ),
        (lambda: ia.attacks.Understate(rho=0.1, down=0), "down must be above 0"),
        (lambda: ia.attacks.Understate(rho=0.1, scale=0), "scale must be above 0"),
        (lambda: ia.CustomAttack(0.1, 5), "callable"),
        (lambda: ia.CustomAttack(0.1, max, {"size": "big"}), "size must be a number"),
        (lambda: make("Mimc", {}), "Did you mean 'Mimic'"),
        (lambda: make("Constant", {"rho": 0.1, "valu": 3}), "Did you mean 'value'"),
        (lambda: make("Constant", {}), "rho"),
    ],
)
def test_bad_parameters_get_a_sentence(build, message):
    """What, expected, got."""
    with pytest.raises(ia.InvalidInput, match=message):
        build()


@ia.extend.hot
def opens_a_file(e, a, x, u, v):
    return open("file")


@ia.extend.hot
def sets_a_global(e, a, x, u, v):
    global seen
    seen = x
    return x


@ia.extend.hot
def returns_text(e, a, x, u, v):
    return "high"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (opens_a_file, "opens_a_file cannot be compiled"),
        (sets_a_global, "sets_a_global cannot be compiled: test_attacks.py, line .*STORE_GLOBAL"),
        (returns_text, "returns_text cannot be compiled: could not convert string to float"),
    ],
)
def test_an_attack_that_cannot_be_compiled_says_why(bad, message):
    """A marked function that uses what compiled code cannot."""
    with pytest.raises(ia.errors.PolicyFault, match=message):
        ia.simulate(ia.UCB(), BANDIT, ia.CustomAttack(0.1, bad), horizon=10, trials=1, seed=1)


def test_an_attack_must_show_arms_that_exist():
    """Compiled code would read beyond the arrays."""

    class Elsewhere(ia.Mimic):
        def shows(self, bandit):
            return np.full(bandit.arms, 10**6)

    with pytest.raises(ia.errors.PolicyFault, match="shows must return"):
        ia.simulate(ia.UCB(), BANDIT, Elsewhere(rho=0.5), horizon=10, trials=1, seed=1)


def test_an_attack_in_python_must_return_a_number():
    """Text is refused."""
    with pytest.raises(ia.InvalidInput, match="must return a number"):
        ia.simulate(
            ia.UCB(),
            BANDIT,
            ia.CustomAttack(0.5, lambda e, a, x, u, v: "high"),
            horizon=50,
            trials=1,
            seed=1,
        )
