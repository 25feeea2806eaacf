"""Bandits turn noise into rewards of the right law, and refuse what is not one."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import ironarm as ia
from ironarm.extend import Bandit

NOISE = np.random.default_rng(0).random(20_000)


def test_gaussian_arms_have_their_own_scales():
    """Location plus scale times noise."""
    bandit = ia.GaussianBandit([1, 2], sigma=[3, 0.5])
    assert [7.0, 2.0 + 1.0] == [
        bandit.rewards(0, np.array([2.0]))[0],
        bandit.rewards(1, np.array([2.0]))[0],
    ]


def test_bernoulli_pays_one_with_its_mean():
    """Monotone in the noise, and the right share.

    Within five standard deviations, false alarm under 1e-6.
    """
    bandit = ia.BernoulliBandit([0.3, 0, 1])
    rewards = bandit.rewards(0, NOISE)
    assert abs(rewards.mean() - 0.3) < 5 * math.sqrt(0.21 / len(NOISE))
    assert rewards[NOISE > 0.7].all()
    assert (bandit.rewards(1, NOISE).max(), bandit.rewards(2, NOISE).min()) == (0, 1)


def test_scipy_laws_are_drawn_through_their_inverse():
    """Kolmogorov-Smirnov against the law itself (fixed seed; false alarm 1e-4)."""
    laws = [stats.t(df=3, loc=1), stats.gamma(2.5), stats.poisson(3)]
    bandit = ia.ScipyBandit(laws)
    assert [1, 2.5, 3] == pytest.approx(bandit.means.tolist())
    assert stats.kstest(bandit.rewards(0, NOISE), laws[0].cdf).pvalue > 1e-4
    assert stats.kstest(bandit.rewards(1, NOISE), laws[1].cdf).pvalue > 1e-4
    assert np.array_equal(bandit.rewards(2, NOISE), laws[2].ppf(NOISE))


def test_a_scipy_normal_is_a_gaussian_bandit():
    """The same noise gives the same rewards to about 1e-14, and the same pulls."""
    gaussian = ia.simulate(ia.UCB(), ia.GaussianBandit([0, 1]), horizon=2000, trials=3, seed=1)
    scipy = ia.simulate(
        ia.UCB(),
        ia.ScipyBandit([stats.norm(0, 1), stats.norm(1, 1)]),
        horizon=2000,
        trials=3,
        seed=1,
    )
    assert np.array_equal(gaussian.pulls, scipy.pulls)


def test_replay_draws_each_logged_reward_equally_often():
    """With replacement, and every value is from the log.

    Shares are within five standard deviations.
    """
    bandit = ia.ReplayBandit([("x", 1.0), ("y", 4.0), ("x", 3.0), ("x", 8.0)])
    rewards = bandit.rewards(0, NOISE)
    for value in (1.0, 3.0, 8.0):
        assert abs((rewards == value).mean() - 1 / 3) < 5 * math.sqrt(2 / 9 / len(NOISE))
    assert set(rewards) == {1.0, 3.0, 8.0}
    assert (bandit.means[0], bandit.best, bandit.runner_up) == (4.0, 0, 1)


def test_replay_reads_csv_and_arrays(tmp_path):
    """Columns in any order, further columns, a byte-order mark, numbers as arms."""
    path = tmp_path / "log.csv"
    path.write_text("time,reward,arm\n1,2.5,left\n2,3.5,right\n3,4.5,left\n", encoding="utf-8-sig")
    bandit = ia.ReplayBandit(path)
    assert (["left", "right"], [3.5, 3.5]) == (bandit.names, bandit.means.tolist())
    assert [0, 1] == ia.ReplayBandit(np.array([[0, 1.5], [1, 2.5]])).names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "columns 'arm' and 'reward'"),
        ("", "columns 'arm' and 'reward'"),
        ("arm,reward\n", "no rows"),
        ("arm,reward\nx,high\n", "row 1"),
        ("arm,reward\nx,1\ny\n", "row 2"),
        ("arm,reward\nx,nan\n", "finite"),
    ],
)
def test_a_bad_table_gets_a_sentence(text, message, tmp_path):
    """Which row, what is wrong."""
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(ia.InvalidInput, match=message):
        ia.ReplayBandit(path)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ia.GaussianBandit([]), "at least one"),
        (lambda: ia.GaussianBandit([1, math.inf]), "finite"),
        (lambda: ia.GaussianBandit("abc"), "sequence of numbers"),
        (lambda: ia.GaussianBandit(5), "sequence of numbers"),
        (lambda: ia.GaussianBandit([1, 2], sigma=-1), "sigma"),
        (lambda: ia.GaussianBandit([1, 2], sigma=[1, 2, 3]), "one for each of the 2 arms"),
        (lambda: ia.BernoulliBandit([0.5, 1.5]), "probabilities"),
        (lambda: ia.ScipyBandit([5]), "scipy.stats"),
        (lambda: ia.ScipyBandit([stats.cauchy()]), "finite"),
        (lambda: ia.ReplayBandit("nonesuch.csv"), "cannot be read"),
        (lambda: ia.ReplayBandit([1, 2]), "row 1"),
    ],
)
def test_what_is_not_a_bandit_is_refused(build, message):
    """What, expected, got."""
    with pytest.raises(ia.InvalidInput, match=message):
        build()


def test_many_arms_of_any_law_fit_the_memory():
    """3000 scipy arms: rewards are computed in stretches, for pulled arms only."""
    bandit = ia.ReplayBandit([(arm, arm / 3000 + x) for arm in range(3000) for x in (-1, 0, 1)])
    result = ia.simulate(ia.UCB(), bandit, horizon=4000, trials=1, seed=1)
    assert (result.pulls >= 1).all()


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        (stats.norm, "must be a list with one law for each arm.*got norm"),
        (stats.norm(0, 1), r"must be a list with one law for each arm.*got norm\(0, 1\)"),
        ("norm(0, 1)", "must be a list"),
        ([stats.gamma], r"got the family gamma; write gamma\(...\)"),
    ],
)
def test_laws_are_a_list_of_laws_with_parameters(laws, message):
    """One law alone, or a family, gets a sentence."""
    with pytest.raises(ia.InvalidInput, match=message):
        ia.ScipyBandit(laws)


@pytest.mark.parametrize(
    "text",
    [
        "Arm,Reward\na,1.5\nb,2\n",
        " ARM , reward\na,1.5\nb,2\n",
        "arm;reward\na;1,5\nb;2\n",
        "time;Reward;Arm\n3,5;1.5;a\n4;2;b\n\n",
        "arm\treward\na\t1.5\nb\t2\n",
        '"arm","reward"\r\n"a","1.5"\r\nb,2\r\n',
    ],
)
def test_tables_as_spreadsheets_write_them_are_read(text, tmp_path):
    """Semicolons with decimal commas, tabs, capitals."""
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode("utf-8"))
    bandit = ia.ReplayBandit(path)
    assert (bandit.names, bandit.means.tolist()) == (["a", "b"], [1.5, 2.0])


@pytest.mark.parametrize("text", ["arm,reward\na\n", "arm;reward\na;1.234,5\n", "arm,Arm,reward\n"])
def test_tables_that_are_not_clear_are_refused(text, tmp_path):
    """A missing reward, two marks in a number, two columns of one name."""
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(ia.InvalidInput, match=r"row 1 of the table must be|once each"):
        ia.ReplayBandit(tmp_path / "log.csv")


@dataclass(frozen=True)
class Shifted(Bandit):
    """Uniform rewards around means that are a plain tuple."""

    means: tuple = (1, 2, 4)
    width: float = 1.0

    def rewards(self, arm, noise):
        """Return uniform numbers around the mean."""
        return self.means[arm] + self.width * (noise - 0.5)


class Bare(Bandit):
    """Means, and nothing else."""

    means = (0.0, 1.0)


def test_means_may_be_any_sequence_of_numbers():
    """A tuple serves as an array does, and what is no number is refused."""
    bandit = Shifted()
    assert (bandit.arms, bandit.best, bandit.runner_up) == (3, 2, 1)
    assert bandit.gaps.tolist() == [3, 2, 0]
    options = {"horizon": 50, "trials": 2, "seed": 1, "workers": 1, "progress": False}
    attack = ia.OppositeUniform(rho=0.2)
    tuples, arrays = (
        ia.simulate(ia.UCB(), Shifted(means), attack, **options)
        for means in ((1, 2, 4), np.array([1.0, 2, 4]))
    )
    assert np.array_equal(tuples.pulls, arrays.pulls)
    for wrong in (("a", 2), (), None):
        with pytest.raises(ia.InvalidInput, match="means must be"):
            ia.simulate(ia.UCB(), Shifted(wrong), attack, **options)


def test_a_dataclass_describes_itself():
    """Its parameters are plain data, and a class without them says what to write."""
    described = {"bandit": "Shifted", "means": [1.0, 2.0], "width": 1.0}
    assert Shifted(np.array([1.0, 2.0])).to_dict() == described
    with pytest.raises(ia.errors.PolicyFault, match=r"Bare has no `to_dict`: .*'bandit': 'Bare'"):
        ia.simulate(ia.UCB(), Bare(), horizon=10, trials=1, seed=1, progress=False)
    with pytest.raises(ia.errors.PolicyFault, match="Bare has no `rewards`: write rewards"):
        Bare().rewards(0, NOISE)


def test_a_bandit_without_a_repr_shows_its_size():
    """Its class and its number of arms, not a place in memory."""
    assert repr(Bare()) == "<Bare: 2 arms>"
