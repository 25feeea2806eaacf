"""Whoever waits for a compiler is told what it is, why, and how long it took."""

import re
import threading

import pytest

from ironarm.engine import announce, kept


@pytest.fixture
def spoken():
    """Let it speak, which the tests otherwise prevent."""
    token = announce._say.set(None)
    yield
    announce._say.reset(token)


def test_a_line_says_what_why_and_how_long(spoken, capsys, monkeypatch):
    """On standard error; and that it is kept, where it is."""
    monkeypatch.setattr(kept, "directory", lambda: ".")
    with announce.compiling("MedEUCB's run", "your own code"):
        begun = capsys.readouterr().err
    assert begun == ("ironarm: compiling MedEUCB's run (your own code; kept for the next time) ...")
    assert re.fullmatch(r" 0\.\d s\n", capsys.readouterr().err)
    monkeypatch.setattr(kept, "directory", lambda: None)
    assert announce.reason("your own code") == "your own code"


def test_it_shows_that_it_is_alive(spoken, capsys, monkeypatch):
    """Every two seconds."""
    assert announce.TICK == 2
    monkeypatch.setattr(announce, "TICK", 0.001)
    ticks, enough, original = [], threading.Event(), announce._print

    def heard(text):
        original(text)
        ticks.append(text)
        if len(ticks) > 3:
            enough.set()

    monkeypatch.setattr(announce, "_print", heard)
    with announce.compiling("UCB's run", "it is new"):
        assert enough.wait(60)
    assert re.fullmatch(
        r"ironarm: compiling UCB's run \(it is new.*\) \.\.\.( 0 s \.\.\.)+ 0\.\d s\n",
        capsys.readouterr().err,
    )


def test_a_failure_ends_the_line(spoken, capsys):
    """So that the error begins on a line of its own."""
    with pytest.raises(ValueError, match="no"), announce.compiling("x", "y"):
        raise ValueError("no")
    assert capsys.readouterr().err.endswith(" s\n")


def test_whoever_has_a_bar_says_it_there(spoken, capsys):
    """And only there."""
    said = []
    with announce.announced_by(said.append), announce.compiling("UCB's run", "it is new"):
        pass
    assert len(said) == 1
    assert said[0].startswith("compiling UCB's run (it is new")
    assert capsys.readouterr().err == ""
