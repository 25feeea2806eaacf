"""`ironarm plot` draws whatever ironarm has saved, and refuses the rest."""

import json
import re
import sys

import numpy as np
import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.lab.sweeps.file import read_sweep
from ironarm.lab.sweeps.sweep import run_sweep
from ironarm.naming import own_code
from ironarm.policies import policy_from_text
from ironarm.radio.testbed.closed_loop import run as play
from ironarm.radio.testbed.config import RadioConfig
from ironarm.radio.testbed.recording import record
from ironarm.radio.testbed.recording_figure import Recording
from ironarm.radio.testbed.records import RunRecord
from ironarm.radio.testbed.wideband_rounds import wideband_rounds
from tests.naming.test_own_code import POLICY

plt = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("sigmf")

SWEEP = """
policies = ["UCB", "TrimmedUCB(alpha=rho)"]
attacks = ["Infinite", "NoAttack"]
rho = [0.1, 0.3]
arms = 3
gap = 1
horizon = 200
trials = 3
seed = 3
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """One file of each kind."""
    folder = tmp_path_factory.mktemp("saved")
    ia.simulate(
        {"mine": ia.UCB(), "yours": ia.RUCB()},
        ia.GaussianBandit([0, 1]),
        horizon=200,
        trials=3,
        seed=1,
    ).save(folder / "result.npz")
    (folder / "sweep.toml").write_text(SWEEP)
    run_sweep(read_sweep(folder / "sweep.toml"), folder / "sweep", workers=1)
    play(RadioConfig.of({"rounds": 40, "seed": 2})).save(folder / "run.json")
    bandit = ia.RadioBandit()
    heard = wideband_rounds(
        bandit, ia.attacks.Jammer(0.5), ia.EpsilonGreedy(c=10), rounds=6, seed=3
    )
    record(heard, bandit, folder / "rec")
    agent = ia.Agent(ia.RUCB(), arms=["a", "$b$", "new"], seed=7)
    agent.warm_start([("a", 1.0), ("$b$", 3.0), ("$b$", 4.0)])
    agent.save(folder / "agent.json")
    return folder


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    "name",
    [
        "result.npz",
        "sweep",
        "sweep/checkpoints.parquet",
        "sweep/trials.parquet",
        "run.json",
        "rec.sigmf-meta",
        "rec.sigmf-data",
        "agent.json",
    ],
)
def test_every_kind_of_file_is_drawn(saved, name, tmp_path, capsys):
    """On the page and in a column."""
    for more in ([], ["--column"]):
        out = tmp_path / f"figure{len(more)}.png"
        assert main(["plot", str(saved / name), "-o", str(out), *more]) == 0
        assert str(out) in capsys.readouterr().out
        assert out.read_bytes()[:4] == b"\x89PNG"
    assert plt.imread(tmp_path / "figure1.png").shape[1] == 990  # 3.3 inches of 300 dots


def test_without_a_place_it_is_beside_the_file(saved, capsys):
    assert main(["plot", str(saved / "result.npz")]) == 0
    assert (saved / "result.png").is_file()


def test_options_reach_the_figure(saved, tmp_path):
    """Into an SVG, whose text can be read."""
    out = tmp_path / "f.svg"
    arguments = ["--what", "regret", "--policies", "yours", "0", "--labels", "Y", "M"]
    assert main(["plot", str(saved / "result.npz"), "-o", str(out), *arguments]) == 0
    text = out.read_text()
    assert ">Y<" in text
    assert ">M<" in text
    assert "share of optimal" not in text


def test_a_sweep_has_a_panel_for_each_setting(saved):
    """A policy that is not in a setting is not in its panel; colours agree."""
    figure = ia.plot(saved / "sweep")
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [f"Infinite(sides=both), rho {rho}" for rho in (0.1, 0.3)] + [
        "NoAttack, rho 0",
        "",
    ]
    first, second, third, _ = figure.axes
    assert [line.get_label() for line in second.lines] == ["UCB", "TrimmedUCB(alpha=0.3)"]
    assert first.lines[0].get_color() == third.lines[0].get_color() == "#D55E00"
    assert first.get_ylim() == second.get_ylim()
    cell = ia.simulate(
        ia.UCB(),
        ia.GaussianBandit([1, 2, 3]),
        ia.Infinite(0.3),
        horizon=200,
        trials=3,
        seed=3,
    )
    assert np.allclose(second.lines[0].get_ydata(), cell.regret[0].mean(axis=0))
    figure = ia.plot(saved / "sweep", where={"rho": "0.3"}, what="optimal", policies="UCB")
    (axes,) = figure.axes
    assert np.allclose(axes.lines[0].get_ydata(), cell.optimal[0].mean(axis=0))


def test_a_run_shows_its_regret_and_channels(saved):
    run = RunRecord.load(saved / "run.json")
    figure = run.plot(labels=["mine"])
    assert figure.axes[0].get_ylabel() == "regret, dB"
    assert figure.axes[0].lines[0].get_label() == "mine"
    assert figure.axes[0].lines[0].get_ydata()[-1] == run.rounds[-1].regret
    (axes,) = run.plot(what="pulls").axes
    assert axes.containers[0].lines[0].get_ydata().tolist() == run.summary()["pulls"]


def test_what_a_policy_of_ones_own_left_is_drawn(tmp_path, monkeypatch, capsys):
    """A run by its name, without the code; an agent with the policy that is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(POLICY)
    command = ["radio", "run", "--policy", "mine.py:Mine", "--rounds", "20", "--save", "run.json"]
    assert main(command) == 0
    with own_code.allowed():
        agent = ia.Agent(policy_from_text("mine.py:Mine(omega=2)"), arms=["a", "b"], seed=1)
    agent.warm_start([("a", 1.0), ("b", 2.0)])
    agent.save("agent.json")
    played = RunRecord.load("run.json").summary()
    assert played["policy"] == "Mine(omega=4.0)"
    own_code._loaded.clear()  # as in another process
    run = RunRecord.load("run.json")
    assert run.summary() == {**played, "policy": "Mine"}
    assert run.plot().axes[0].lines[0].get_label() == "Mine"
    assert main(["plot", "run.json"]) == 0
    capsys.readouterr()
    assert main(["plot", "agent.json"]) == 2
    assert "as --own mine.py:MyPolicy to `ironarm plot`" in capsys.readouterr().err
    assert main(["plot", "agent.json", "--own", "mine.py:Mine"]) == 2
    assert "but Mine(omega=4.0) was given" in capsys.readouterr().err
    assert main(["plot", "agent.json", "--own", "mine.py:Mine(omega=2)"]) == 0
    assert (tmp_path / "run.png").is_file()
    assert (tmp_path / "agent.png").is_file()
    assert main(["plot", "run.json", "--own", "mine.py:Mine"]) == 2
    assert "no choice of policy" in capsys.readouterr().err


def test_a_recording_is_drawn_as_it_was_heard(saved):
    """Power where the packet is; a triangle for each jammed round."""
    recording = Recording.load(saved / "rec.sigmf-meta")
    heard = list(
        wideband_rounds(
            ia.RadioBandit(), ia.attacks.Jammer(0.5), ia.EpsilonGreedy(c=10), rounds=6, seed=3
        )
    )
    samples = np.concatenate([one.samples for one in heard])
    assert np.max(np.abs(recording.samples(0, len(samples)) - samples)) < 2e-4
    power, edges, places = recording.power_db()
    for i, one in enumerate(heard):
        loudest = power[:, places[i] : places[i + 1]].max(axis=1)
        centre = 1200e6 + 0.5e6 * one.channel
        assert abs(edges[np.argmax(loudest)] - centre) < 0.3e6
    axes = ia.plot(saved / "rec.sigmf-meta").axes[0]
    triangles = [line for line in axes.lines if line.get_marker() == "v"]
    assert len(triangles) == sum(one.jammed for one in heard) > 0


def test_an_agent_shows_estimates_and_counts(saved):
    axes = ia.plot(saved / "agent.json").axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", r"\$b\$", "new"]
    assert [text.get_text() for text in axes.texts] == ["1", "2", "0", "rewards"]
    assert [line.get_xdata()[0] for line in axes.lines] == [1.0, 3.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.npz"], "does not exist"),
        (["sweep.toml"], "what can be drawn: a result .*a sweep.*radio.*recording.*an agent"),
        ([".", "-o", "x.png"], "a folder without a sweep's tables; what can be drawn"),
        (["agent.json", "--x", "log"], "no choice of x; leave it out"),
        (["rec.sigmf-meta", "--what", "regret"], "no choice of what"),
        (["run.json", "--where", "rho=1"], "no choice of where"),
        (["sweep", "--what", "pulls"], "hold no pulls"),
        (["sweep", "--where", "roh=1"], "Did you mean 'rho'"),
        (["sweep", "--where", "rho=1"], "no row has rho = 1; there is 0.1, 0.3, 0.0"),
        (["sweep", "--where", "rho"], "COLUMN=VALUE"),
        (["result.npz", "-o", "no/where.png"], "there is no folder"),
        (["result.npz", "-o", "sweep"], "is a folder"),
        (["result.npz", "-o", "x.doc"], "must end with"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(
    saved, arguments, message, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(saved)
    before = sorted(saved.iterdir())
    assert main(["plot", *arguments]) == 2
    error = capsys.readouterr().err

    assert re.search(message, error), error
    assert sorted(saved.iterdir()) == before


def test_a_place_that_cannot_be_written_is_refused_before_work(saved, monkeypatch, capsys):
    """The file is not even read."""
    monkeypatch.setattr(ia.Result, "load", lambda path: pytest.fail("was read"))
    assert main(["plot", str(saved / "result.npz"), "-o", "no/such/folder.png"]) == 2
    assert main(["plot", str(saved / "result.npz"), "-o", "folder.doc"]) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"core:datatype": "rf64_le"}, "expected ci16_le or cf32_le"),
        ({"core:sample_rate": "fast"}, "not the metadata"),
        ({"core:sample_rate": -1}, "does not fit"),
    ],
)
def test_a_damaged_recording_is_refused(saved, change, message, tmp_path):
    meta = json.loads((saved / "rec.sigmf-meta").read_text())
    meta["global"].update(change)
    (tmp_path / "rec.sigmf-meta").write_text(json.dumps(meta))
    (tmp_path / "rec.sigmf-data").write_bytes((saved / "rec.sigmf-data").read_bytes())
    with pytest.raises(ia.errors.BadFile, match=message):
        ia.plot(tmp_path / "rec.sigmf-meta")
    (tmp_path / "rec.sigmf-data").unlink()
    with pytest.raises(ia.errors.BadFile):
        ia.plot(tmp_path / "rec.sigmf-meta")
