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


def test_lines_say_what_why_and_how_long(spoken, capsys, monkeypatch):
    """On standard error; and that it is kept, where it is."""
    monkeypatch.setattr(kept, "directory", lambda: ".")
    with announce.compiling("MedEUCB", "your own code"):
        begun = capsys.readouterr().err
    assert begun == "ironarm: compiling MedEUCB (your own code; kept for the next time)\n"
    assert re.fullmatch(r"ironarm: compiled in 0\.\d s\n", capsys.readouterr().err)
    monkeypatch.setattr(kept, "directory", lambda: None)
    assert announce.reason("your own code") == "your own code"


@pytest.mark.parametrize("left", [None, lambda: "RUCB"])
def test_it_shows_that_it_is_alive(spoken, monkeypatch, left):
    """Every two seconds, with what is left to do."""
    assert announce.TICK == 2
    monkeypatch.setattr(announce, "TICK", 0.001)
    said, enough = [], threading.Event()

    def say(text):
        said.append(text)
        if len(said) > 4:
            enough.set()

    with announce.announced_by(say), announce.compiling("UCB", "it is new", left):
        assert enough.wait(60)
    now = "RUCB" if left else "UCB"
    assert said[0].startswith("compiling UCB (it is new")
    assert set(said[1:-1]) == {f"still compiling {now}, 0 s"}
    assert said[-1].startswith("compiled in ")


def test_a_failure_ends_it_too(spoken, capsys):
    """The error begins on a line of its own."""
    with pytest.raises(ValueError, match="no"), announce.compiling("x", "y"):
        raise ValueError("no")
    assert capsys.readouterr().err.endswith(" s\n")


def test_what_is_inside_is_said_by_what_is_around_it(spoken, capsys):
    """Whoever has a bar says it there, and only there."""
    said = []
    with (
        announce.announced_by(said.append),
        announce.compiling("UCB", "it is new"),
        announce.compiling("UCB's run", "it is new"),
    ):
        pass
    assert [text.split()[1] for text in said] == ["UCB", "in"]
    assert capsys.readouterr().err == ""


def test_a_list_of_names_stays_short():
    """Each name once."""
    assert announce.listed(["a"]) == "a"
    assert announce.listed(["a", "b", "a"]) == "a and b"
    assert announce.listed(["a", "b", "c", "d"]) == "a, b, c and d"
    assert announce.listed(list("abcdefg")) == "a, b, c and 4 more"
