"""Figures show what the tables say."""

import numpy as np
import pytest

from ironarm.studies import figures as show
from tests.studies.fabricated import evidence, linear_curve, log_curve, noisy, result


def test_the_tail_is_the_share_of_trials_with_more():
    """Between good and stuck trials the line lies at the share of stuck ones.

    A single worst trial can be seen.
    """
    curves = noisy(log_curve(), trials=40, spread=0.01)
    curves[:19] = linear_curve(5.0)
    curves[0] = linear_curve(9.0)
    figure = show.tails(evidence(trials=40, policy=result(curves)), {"policy": "RUCB"}, "title")
    line = figure.axes[0].lines[0]
    x, y = line.get_data()
    assert line.get_drawstyle() == "steps-pre"

    def drawn(value):
        """The height of a line of steps, each up to and with its point."""
        return y[np.searchsorted(x, value, side="right")]

    assert drawn(100_000) == pytest.approx(19 / 40)
    assert drawn(700_000) == pytest.approx(1 / 40)


def test_a_policy_with_other_parameters_is_dash_dotted():
    """Whatever the line of the policy itself: one rule for tuned against untuned."""
    results = {name: result(noisy(log_curve())) for name in ("a", "a, tuned", "b", "b, tuned")}
    figure = show.tails(
        evidence(**results),
        dict(zip(results, ("UCB", "UCB", "EpsilonGreedy", "EpsilonGreedy"), strict=True)),
        "title",
    )
    assert [line.get_linestyle() for line in figure.axes[0].lines] == ["-", "-.", "--", "-."]


def test_a_dollar_sign_in_a_name_is_only_a_dollar_sign(tmp_path):
    """Not mathematics."""
    figure = show.regret(
        evidence(**{"costs $x": result(noisy(log_curve()))}), {"costs $x": "UCB"}, "title"
    )
    figure.savefig(tmp_path / "figure.svg")
    assert "costs $x" in (tmp_path / "figure.svg").read_text()


def test_intervals_of_the_share_of_optimal_pulls_do_not_cover_each_other():
    """They are bars, around the line, each at a round where no other policy has one."""
    names = [f"policy {i}" for i in range(8)]
    results = {name: result(noisy(log_curve())) for name in names}
    for i, one in enumerate(results.values()):
        one.optimal[0] = np.random.default_rng(i).random((200, 1))
    figure = show.optimal(evidence(**results), dict.fromkeys(names, "UCB"), "title")
    bars = [collection.get_segments() for collection in figure.axes[0].collections]
    at = [{float(bar[0][0]) for bar in of_one} for of_one in bars]
    assert min(map(len, at)) > 3
    assert sum(map(len, at)) == len(set().union(*at))
    for of_one, line in zip(bars, figure.axes[0].lines, strict=True):
        (_, low), (_, high) = of_one[0]
        assert low < line.get_ydata()[0] < high
