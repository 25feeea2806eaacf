"""The attacks on policies that watch for changes."""

import ironarm as ia
from ironarm.cli import main
from tests.attacks.asking import Asked


def test_a_fake_change_comes_and_goes():
    """Quiet for ten rounds, then ten rounds that look like a change, and so on."""
    asked = Asked(ia.attacks.FakeChange(rho=0.3, quiet=10, shift=3), ia.GaussianBandit([0, 4, 9]))
    assert [asked(2, 9.5, t=t) for t in (1, 10, 11, 20, 21)] == [9.5, 9.5, 6.5, 6.5, 9.5]
    assert asked(0, 0.5, t=11) == 3.5


def test_a_hidden_change_shows_the_means_of_before():
    """Each change hides behind the means that held until then."""
    rows = [[0.0, 4.0, 9.0], [9.0, 4.0, 1.0], [2.0, 2.0, 3.0]]
    bandit = ia.DriftingBandit([1, 101, 201], rows)
    asked = Asked(ia.attacks.HideChange(rho=0.3), bandit)
    seen = {row: [] for row in range(3)}
    for row, means in enumerate(rows):
        asked._scene.view.means[:] = means
        seen[row] = [asked(arm, means[arm] + 0.5) for arm in range(3)]
    assert seen == {0: [0.5, 4.5, 9.5], 1: [0.5, 4.5, 9.5], 2: [9.5, 4.5, 1.5]}


def test_a_hidden_change_in_a_simulation():
    """An attacker who hides every other reward delays the discovery of a change.

    A trial without the attack finds it at once, so its regret is far smaller.
    """
    bandit = ia.DriftingBandit([1, 501], [[0, 6], [6, 0]], sigma=0.5)
    regret = [
        ia.simulate(
            ia.policies.SlidingMedUCB(window=200, b=1),
            bandit,
            attack,
            horizon=1500,
            trials=20,
            seed=2,
            progress=False,
        )
        .regret[0, :, -1]
        .mean()
        for attack in (ia.NoAttack(), ia.attacks.HideChange(rho=0.4))
    ]
    assert regret[1] > 1.2 * regret[0]


def test_the_command_line_says_that_there_is_no_change_to_hide(capsys):
    """HideChange does nothing on arms that stay the same, and is no news on others."""
    words = ["simulate", "--policies", "UCB", "--attack", "HideChange", "--horizon", "100"]
    words += ["--trials", "1", "--seed", "1", "--bandit"]
    still, drifting = "GaussianBandit([0, 1])", "DriftingBandit([1, 50], [[0, 1], [1, 0]])"
    for bandit, expected in ((still, True), (drifting, False)):
        assert main([*words, bandit]) == 0
        assert ("HideChange does nothing here" in capsys.readouterr().err) == expected
