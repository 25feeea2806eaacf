"""Figures show what the tables say."""

import numpy as np
import pytest

from ironarm.lab.studies import figures as show
from ironarm.lab.studies.read import read_study
from ironarm.lab.studies.runner import StudyFindings
from ironarm.show.figures import looks_of
from tests.lab.studies.fabricated import evidence, linear_curve, log_curve, noisy, result


def test_the_tail_is_the_share_of_trials_with_more():
    """Between good and stuck trials the line lies at the share of stuck ones.

    A single worst trial can be seen.
    """
    curves = noisy(log_curve(), trials=40, spread=0.01)
    curves[:19] = linear_curve(5.0)
    curves[0] = linear_curve(9.0)
    figure = show.tails(
        evidence(trials=40, policy=result(curves)), looks_of({"policy": "RUCB"}), "title"
    )
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
        looks_of(dict(zip(results, ("UCB", "UCB", "EpsilonGreedy", "EpsilonGreedy"), strict=True))),
        "title",
    )
    assert [line.get_linestyle() for line in figure.axes[0].lines] == ["-", "-.", "--", "-."]


def test_a_dollar_sign_in_a_name_is_only_a_dollar_sign(tmp_path):
    """Not mathematics."""
    figure = show.regret(
        evidence(**{"costs $x": result(noisy(log_curve()))}),
        looks_of({"costs $x": "UCB"}),
        "title",
    )
    figure.savefig(tmp_path / "figure.svg")
    assert "costs $x" in (tmp_path / "figure.svg").read_text()


def test_intervals_of_the_share_of_optimal_pulls_do_not_cover_each_other():
    """They are bars, around the line, each at a round where no other policy has one."""
    names = [f"policy {i}" for i in range(8)]
    results = {name: result(noisy(log_curve())) for name in names}
    for i, one in enumerate(results.values()):
        one.optimal[0] = np.random.default_rng(i).random((200, 1))
    figure = show.optimal(evidence(**results), looks_of(dict.fromkeys(names, "UCB")), "title")
    bars = [collection.get_segments() for collection in figure.axes[0].collections]
    at = [{float(bar[0][0]) for bar in of_one} for of_one in bars]
    assert min(map(len, at)) > 3
    assert sum(map(len, at)) == len(set().union(*at))
    for of_one, line in zip(bars, figure.axes[0].lines, strict=True):
        (_, low), (_, high) = of_one[0]
        assert low < line.get_ydata()[0] < high


def labels(figure):
    """Return the entries of a figure's legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_legend_says_where_one_line_covers_another():
    """Tuning may choose what another policy has anyway."""
    results = {"a": result(noisy(log_curve())), "b": result(noisy(log_curve(), seed=2))}
    results["a, tuned"] = results["a"]
    figure = show.tails(evidence(**results), looks_of(dict.fromkeys(results, "UCB")), "title")
    assert labels(figure) == ["a", "b", "a, tuned: as a"]
    assert figure.axes[0].get_ylabel() == "share of trials with higher regret"


def test_the_growth_figure_explains_its_dots_once():
    """Each median has its policy's colour; the legend has one entry for all."""
    results = {name: result(noisy(log_curve(size))) for name, size in (("a", 300), ("b", 500))}
    looks = looks_of({"a": "MedEUCB", "b": "UCB"})
    figure = show.growth(evidence(**results), looks, "title")
    assert labels(figure) == ["a", "b", "median trial (dotted)"]
    medians = figure.axes[0].lines[2:4]
    assert [line.get_color() for line in medians] == [looks["a"][0], looks["b"][0]]
    assert medians[0].get_ydata()[-1] == np.median(results["a"].regret[0, :, -1])


def test_a_policy_looks_the_same_in_all_figures_of_a_study():
    """Colour, dashes and marker, whoever else is in the figure."""
    study = read_study("synthetic", trials=2)
    findings = StudyFindings(study)
    for run in study.runs:
        for rho in run.rho:
            findings.outcomes[run.name, rho] = {
                name: result(noisy(log_curve(), trials=2, seed=i))
                for i, name in enumerate(run.policies)
            }
    seen = {}
    for spec in study.show["figures"]:
        if spec["kind"] in ("regret", "optimal", "growth"):
            for _, figure in show.draw(findings, spec):
                for line in figure.axes[0].lines[: len(spec["policies"])]:
                    look = (line.get_color(), line.get_linestyle(), line.get_marker())
                    assert seen.setdefault(line.get_label(), look) == look
                show.pyplot().close(figure)
    assert len(seen) > 10
    assert len(set(seen.values())) == len(seen)
