"""Figures of results: which policies, which names, which panels, which axes."""

from dataclasses import dataclass

import numpy as np
import pytest

import ironarm as ia
from ironarm.show.curves import Band, PolicyCurve, chosen, first_round

plt = pytest.importorskip("matplotlib.pyplot")


@dataclass(frozen=True)
class Mine(ia.UCB):
    """A policy that is not built in."""


@dataclass(frozen=True)
class Other(ia.RUCB):
    """Another."""


@pytest.fixture(scope="module")
def result():
    return ia.simulate(
        {"mine": Mine(alpha=2), "$other$": Other(), "usual": ia.UCB()},
        ia.GaussianBandit(means=[0, 1, 2]),
        ia.OppositeUniform(rho=0.1),
        horizon=2000,
        trials=5,
        seed=3,
    )


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    plt.close("all")


def test_names_are_kept_everywhere(result, tmp_path):
    """In labels, summary, frame and file."""
    names = ["mine", "$other$", "usual"]
    result.save(tmp_path / "r.npz")
    for one in (result, ia.Result.load(tmp_path / "r.npz")):
        assert one.labels == names
        assert [row.policy for row in one.summary().rows] == names
        assert one.to_frame()["policy"].unique().tolist() == names
        assert one.specification["names"] == names
        assert "mine" in repr(one)


def test_without_names_nothing_is_added():
    """Files and hashes of what is known are as before."""
    bare = ia.simulate(ia.UCB(), ia.GaussianBandit([0, 1]), horizon=10, trials=1, seed=1)
    assert "names" not in bare.specification
    assert bare.labels == ["UCB"]


@pytest.mark.parametrize("name", [3, "", "  "])
def test_a_name_must_be_text(name):
    with pytest.raises(ia.InvalidInput, match="the name of a policy must be text"):
        ia.simulate({name: ia.UCB()}, ia.GaussianBandit([0, 1]), horizon=10)


def test_names_that_do_not_fit_the_policies_are_refused(result, tmp_path):
    """A file that was changed."""
    result.specification["names"].append("one more")
    try:
        result.save(tmp_path / "r.npz")
    finally:
        result.specification["names"].pop()
    with pytest.raises(ia.errors.BadFile, match="does not name each policy"):
        ia.Result.load(tmp_path / "r.npz")


def test_own_policies_have_colours_of_their_own(result):
    """None is grey, none has the colour of the built-in one."""
    above = result.plot().axes[0]
    colours = [line.get_color() for line in above.lines]
    assert len(set(colours)) == 3
    assert colours[2] == "#D55E00"


def test_policies_are_chosen_and_renamed(result):
    """By label or by number, in that order; a dollar sign is a dollar sign."""
    figure = result.plot(policies=["usual", 0], labels=["A", "B $x$"], what="regret")
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["A", r"B \$x\$"]
    assert np.allclose(axes.lines[0].get_ydata(), result.regret[2].mean(axis=0))
    figure = result.plot(labels={"mine": "ours"}, what="optimal")
    assert [line.get_label() for line in figure.axes[0].lines] == ["ours", r"\$other\$", "usual"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policies": ["usal"]}, "no policy 'usal'.*mean 'usual'"),
        ({"policies": [3]}, "no policy 3.*from 0 to 2"),
        ({"policies": []}, "empty"),
        ({"policies": ["mine", 0]}, "twice"),
        ({"labels": ["one"]}, "expected 3, got 1"),
        ({"labels": {"your": "x"}}, "no policy 'your'"),
        ({"what": "regrets"}, "Did you mean 'regret'"),
        ({"x": "cubic"}, "one of 'log', 'linear'"),
        ({"what": "pulls", "x": "log"}, "leave it out"),
        ({"ax": 3}, "axes of a matplotlib figure"),
        ({"path": "figure.xyz"}, "must end with"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(result, options, message):
    with pytest.raises(ia.InvalidInput, match=message):
        result.plot(**options)


def test_it_draws_into_axes_of_the_user(result):
    """One panel, nothing else of the figure is touched, and the figure stays open."""
    figure, (left, right) = plt.subplots(1, 2)
    assert result.plot(ax=right, what="optimal", x="linear") is figure
    assert not left.lines
    assert len(right.lines) == 3
    assert right.get_xscale() == "linear"
    assert plt.fignum_exists(figure.number)


def test_pulls_are_those_of_each_arm(result):
    """A point for each policy and arm."""
    (axes,) = result.plot(what="pulls").axes
    drawn = [box.lines[0].get_ydata() for box in axes.containers]
    assert np.allclose(drawn, result.pulls.mean(axis=1))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1", "2"]


def test_a_figure_for_a_column(result, tmp_path):
    """3.3 inches, letters of 8 points, no title."""
    figure = result.plot(tmp_path / "r.pdf", column=True, what="regret")
    assert figure.get_size_inches()[0] == pytest.approx(3.3)
    (axes,) = figure.axes
    texts = [axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels()]
    assert {text.get_fontsize() for text in texts} == {8}
    assert figure.get_suptitle() == ""
    assert b"/FontFile2" in (tmp_path / "r.pdf").read_bytes()


def test_linear_axes(result):
    above, below = result.plot(x="linear").axes
    assert (above.get_xscale(), above.get_yscale(), below.get_xscale()) == ("linear",) * 3


def test_a_notebook_shows_a_figure_once(result, monkeypatch):
    """It shows the value of a cell, and all figures that are open."""
    assert plt.fignum_exists(result.plot().number)
    monkeypatch.setattr(plt, "get_backend", lambda: "inline")
    assert not plt.fignum_exists(result.plot().number)


def line(means, rounds, arms=1):
    return PolicyCurve("x", "UCB", np.array(rounds), {"regret": Band(np.array(means, float))}, arms)


def test_the_axis_starts_where_something_happens():
    """Not while lines coincide, or stay flat, or some arm has not been tried."""
    rounds = [1, 10, 100, 1000, 10_000]
    assert first_round([line([0, 0, 0, 5, 9], rounds)]) == 100
    assert first_round([line([1, 2, 3, 5, 9], rounds), line([1, 2, 3, 6, 8], rounds)]) == 100
    assert first_round([line([1, 2, 3, 5, 9], rounds), line([2, 2, 3, 6, 8], rounds)]) == 1
    assert first_round([line([1, 2, 3, 5, 9], rounds, arms=12)]) == 10
    assert first_round([line([0, 0, 0, 0, 0], rounds)]) == 1


def test_the_drawn_axis_starts_there(result):
    """All three policies try the three arms first."""
    assert result.plot(what="regret").axes[0].get_xlim()[0] >= 3


def test_a_label_that_is_there_twice_is_chosen_by_number():
    with pytest.raises(ia.InvalidInput, match="by number"):
        chosen(["a", "a"], ["a"])
    assert chosen(["a", "a"], [1]) == [(1, "a")]
