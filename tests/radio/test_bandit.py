"""The testbed is a bandit like any other."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import ironarm as ia
from ironarm.bandits import make
from ironarm.simulation import trial

NOISE = np.random.default_rng(8).random(4000)


@pytest.mark.parametrize("law", range(10))
def test_tiers_agree(law):
    """Means within 0.05 dB of each other and of what was configured, clean and jammed.

    Little wander, so a mean's standard error is 0.006 dB (false alarm under 1e-6).
    """
    bandits = [ia.RadioBandit(tier, spread=0.35) for tier in ("iq", "symbol", "analytic")]
    means = [bandit.rewards(law, NOISE).mean() for bandit in bandits]
    assert max(means) - min(means) < 0.05
    assert means == pytest.approx([[*bandits[0].means, *bandits[0].jammed][law]] * 3, abs=0.05)


@pytest.mark.parametrize("tier", ["iq", "symbol", "analytic"])
def test_rewards_spread_by_one_decibel(tier):
    """Within 5 % in the best and the worst channel (4.5 standard errors).

    False alarm 1e-5.
    """
    bandit = ia.RadioBandit(tier)
    assert [bandit.rewards(arm, NOISE).std() for arm in (0, 4)] == pytest.approx([1, 1], rel=0.05)


def test_a_packet_is_a_function_of_its_noise_number():
    """Bit for bit the same alone, in parts, and reversed; other channels differ."""
    for tier in ("iq", "symbol", "analytic"):
        bandit = ia.RadioBandit(tier)
        some = NOISE[:30]
        together = bandit.rewards(6, some)
        assert np.array_equal(together, [bandit.rewards(6, some[i : i + 1])[0] for i in range(30)])
        assert np.array_equal(together[::-1], bandit.rewards(6, some[::-1]))
        assert len({float(bandit.rewards(law, some[:1])[0]) for law in range(10)}) == 10


def test_simulation_does_not_depend_on_the_stretch(monkeypatch):
    """Pulls don't depend on how many packets are rendered at a time, or on threads.

    Only pulled channels are rendered.
    """
    results = []
    for stretch, workers in ((1, 1), (16, 2), (300, 1)):
        monkeypatch.setattr("ironarm.radio.bandit.RadioBandit.stretch", stretch)
        results.append(
            ia.simulate(
                [ia.MedEUCB(block=100), ia.UCB()],
                ia.RadioBandit(),
                ia.attacks.Jammer(0.3),
                horizon=300,
                trials=2,
                seed=3,
                workers=workers,
                progress=False,
            )
        )
    assert np.array_equal(results[0].regret, results[1].regret)
    assert np.array_equal(results[0].pulls, results[2].pulls)


def test_jammed_laws_are_computed_for_attacked_rounds_only():
    """The others are never shown."""
    bandit = ia.RadioBandit("analytic")
    columns = trial.Columns(bandit, 100)
    columns.serve(bandit)
    columns.cells[:] = np.nan
    coin = (np.arange(100) % 4 == 0).astype(np.uint8)
    columns.fill(7, NOISE[:100], coin)
    assert np.array_equal(np.isfinite(columns.cells[700:800]), coin != 0)


def test_strategies_of_the_jammer():
    """It shows the jammed law of the channels it names.

    Bandits without jammed laws, and channels that don't exist, are refused.
    """
    bandit = ia.RadioBandit("analytic")
    assert [
        ia.attacks.Jammer(0.3, strategy).shows(bandit).tolist()
        for strategy in ("any", "best", [1, 4])
    ] == [[5, 6, 7, 8, 9], [5, 1, 2, 3, 4], [0, 6, 2, 3, 9]]
    assert pickle.loads(pickle.dumps(ia.attacks.Jammer(0.3, [1, 4]))) == ia.attacks.Jammer(
        0.3, (1, 4)
    )
    with pytest.raises(ia.InvalidInput, match="RadioBandit"):
        ia.simulate(
            ia.UCB(), ia.GaussianBandit([0, 1]), ia.attacks.Jammer(0.3), horizon=10, trials=1
        )
    with pytest.raises(ia.InvalidInput, match="channel 5"):
        ia.attacks.Jammer(0.3, [5]).shows(bandit)
    for neither in ("worst", []):
        with pytest.raises(
            ia.InvalidInput, match="strategy must be 'any', 'best' or a list of channel numbers"
        ):
            ia.attacks.Jammer(0.3, neither)
    for probabilities, message in (
        ([1, 0, 0, 0, 0], "names a channel twice.*not a probability for each"),
        ([0.5, 0, 0, 0, 0], "a list names the channels that are jammed"),
    ):
        with pytest.raises(ia.InvalidInput, match=message):
            ia.attacks.Jammer(0.3, probabilities)


@pytest.mark.parametrize("tier", ["iq", "symbol", "analytic"])
def test_a_jammer_of_the_same_power_leaves_all_channels_alike(tier):
    """What it leaves differs by the channels' own noise alone, 0.04 dB.

    By default channels are left at 10 to 5 dB. A mean's standard error is 0.006 dB.
    """
    bandit = ia.RadioBandit(tier, spread=0.35)
    default, same = (
        [
            bandit.rewards(law, NOISE).mean()
            for law in ia.attacks.Jammer(0.3, "any", power).shows(bandit)
        ]
        for power in (False, True)
    )
    assert default == pytest.approx([10, 8.75, 7.5, 6.25, 5], abs=0.05)
    assert same == pytest.approx([7.509, 7.506, 7.503, 7.491, 7.472], abs=0.05)
    assert bandit.same_power == pytest.approx(10**-0.7504, rel=1e-4)


def test_which_channels_a_jammer_of_the_same_power_hits():
    """Those that its strategy names; a channel without any jamming has no power."""
    bandit = ia.RadioBandit("analytic")
    assert [
        ia.attacks.Jammer(0.3, strategy, same_power=True).shows(bandit).tolist()
        for strategy in ("any", "best", [1, 4])
    ] == [[10, 11, 12, 13, 14], [10, 1, 2, 3, 4], [0, 11, 2, 3, 14]]
    with pytest.raises(ia.InvalidInput, match="same_power must be True or False, got 'no'"):
        ia.attacks.Jammer(0.3, same_power="no")
    unjammed = ia.RadioBandit("analytic", means=[40, 30], jammed=[10, 30])
    assert unjammed.rewards(3, NOISE).mean() == pytest.approx(30, abs=0.1)
    with pytest.raises(ia.InvalidInput, match="in channel 1 it has none"):
        ia.attacks.Jammer(0.3, same_power=True).shows(unjammed)


def test_powers_that_are_the_same_stay():
    """Where the powers are already the same, same_power changes nothing."""
    noise = 10 ** (-np.array([40, 20, 10]) / 10) + 0.1
    bandit = ia.RadioBandit("analytic", means=[40, 20, 10], jammed=-10 * np.log10(noise))
    assert [bandit.mean_of(law) for law in range(6, 9)] == pytest.approx(bandit.jammed, abs=0.01)


def test_policies_on_the_testbed():
    """A jammer of the best channel fools means and not medians; others change reports.

    Analytic tier, 20 trials; the shares are 0.84 and 0.0.
    """
    policies = [ia.MedEUCB(block=200), ia.UCB()]
    for attack in (ia.attacks.Jammer(0.3, "best"), ia.OppositeUniform(0.3)):
        result = ia.simulate(
            policies,
            ia.RadioBandit("analytic"),
            attack,
            horizon=2000,
            trials=20,
            seed=1,
            progress=False,
        )
        assert result.optimal[0, :, -1].mean() > 0.7
        assert result.optimal[1, :, -1].mean() < 0.1


def test_certify_reads_the_law():
    """Poison budget and promise are those of normal arms with sigma 1, nearly."""
    radio, normal = (
        ia.certify(bandit, 0.125, horizon=2000)
        for bandit in (ia.RadioBandit(), ia.GaussianBandit([41, 37, 35, 31, 28]))
    )
    assert radio.guaranteed
    assert (radio.budget.malicious, radio.budget.coin) == pytest.approx(
        (normal.budget.malicious, normal.budget.coin), abs=2e-3
    )
    assert radio.bound == pytest.approx(normal.bound, rel=0.02)


def test_missed_packets_pay_the_floor():
    """Jamming far below what the receiver finds, in every tier."""
    for tier in ("iq", "symbol", "analytic"):
        bandit = ia.RadioBandit(tier, means=[20, 30], jammed=[0, 8], missed=-40)
        # less than 0 dB cannot be asked for
        bandit.jammed, bandit.jam[0] = np.array([-30.0, 8.0]), 1000.0
        assert set(bandit.rewards(2, NOISE[:50])) == {-40.0}
        assert bandit.rewards(3, NOISE[:50]).min() > 0


def test_by_name_and_as_data():
    """Study files can name it; it survives pickling; results know what made them."""
    bandit = make({"name": "RadioBandit", "tier": "analytic", "means": "40,30", "jammed": [5, 5]})
    assert bandit.to_dict() == {
        "bandit": "RadioBandit",
        "tier": "analytic",
        "means": [40, 30],
        "jammed": [5, 5],
        "spread": 1,
        "missed": -20,
    }
    assert np.array_equal(
        pickle.loads(pickle.dumps(bandit)).rewards(3, NOISE[:5]), bandit.rewards(3, NOISE[:5])
    )
    assert make({"name": "RadioBandit"}).tier == "iq"


def test_bad_settings_are_refused():
    """Unknown tier, wrong counts, jamming that would help, unreachable targets."""
    for wrong, problem in (
        ({"tier": "iqq"}, "Did you mean 'iq'"),
        ({"means": [40, 30]}, "give jammed too: it needs 2 numbers, .* its default has 5"),
        ({"means": [40, 30], "jammed": [5]}, "one number for each of the 2 means, got 1"),
        ({"means": [40], "jammed": [41]}, "only adds noise"),
        ({"jammed": [-1, 8, 7, 6, 5]}, "jammed must be at least 0 dB"),
        ({"means": [90], "jammed": [1]}, "between 0 and 60"),
        ({"spread": 0.1}, "at least 0.2"),
        ({"spread": 100}, "spread must be .* at most 20"),
        ({"missed": 3}, "missed"),
    ):
        with pytest.raises(ia.InvalidInput, match=problem):
            ia.RadioBandit(**wrong)


def test_import_loads_nothing_of_it():
    """`import ironarm` does not load the testbed; asking for the bandit does."""
    loaded = "any('ironarm.radio' in name or name in ('zmq', 'sigmf') for name in sys.modules)"
    code = f"import sys, ironarm as ia; assert not {loaded}; ia.RadioBandit; assert {loaded}"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="RadioBandits"):
        _ = ia.RadioBandits
