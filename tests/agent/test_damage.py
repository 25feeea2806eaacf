"""Damaged files are refused with a sentence, or read as if nothing had happened."""

import os
import sqlite3

import pytest

import ironarm as ia
from ironarm.agent import sqlite
from ironarm.agent.log import Log

from .damage import KEPT, run

INDEX = "CREATE INDEX log_decision ON log (decision) WHERE decision "


def test_damaged_files_are_refused_or_read_as_before(tmp_path):
    """A few of each kind; `python -m tests.agent.damage` tries more."""
    counts = run(files=40, seed=3, folder=tmp_path)
    for name, count in counts.items():
        assert set(count) <= set(KEPT), (name, count)
        assert len(count) == 2, f"{name}: the damage should be felt by some, not all"


@pytest.fixture
def log(tmp_path):
    """The log of an agent, and a reward that it has."""
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, ia.UCB(), arms=2, seed=1) as agent:
        decision = agent.decide()
        agent.learn(decision, 1.5)
        agent.decide()
    return path, decision.id


def change(path, *statements):
    """Do what no ironarm does."""
    for statement in statements:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(statement)
        connection.close()


def test_entries_missing_at_the_end_are_found(log):
    """Nothing in the rest of the log shows it, but the note beside it does."""
    path, _ = log
    change(path, "DELETE FROM log WHERE number = 4")
    with pytest.raises(ia.errors.BadFile, match=r"last entries, 4 to 4, are missing"):
        ia.DurableAgent(path)
    change(path, "DELETE FROM setting")
    with pytest.raises(ia.errors.BadFile, match="does not say where its log ends"):
        ia.DurableAgent(path)


def test_a_file_of_the_first_format_gets_the_note(log):
    """It is opened as it is, and what is lost after that is found."""
    path, _ = log
    change(path, "DELETE FROM setting", "PRAGMA user_version = 1")
    with ia.DurableAgent(path) as agent:
        assert agent.decisions == 2
        assert agent._shared.log.store.noted_end(1) == (4, agent._shared.log.last_hash)
    change(path, "DELETE FROM log WHERE number = 4")
    with pytest.raises(ia.errors.BadFile, match="are missing"):
        ia.DurableAgent(path)


@pytest.mark.parametrize("large", [False, True])
def test_a_damaged_index_is_found_when_a_file_is_opened(large, log, monkeypatch):
    """Else a reward sent again would be unknown; of a large one after a crash."""
    path, _ = log
    schema = "UPDATE sqlite_master SET sql = '{}' WHERE name = 'log_decision'"
    # the index is made for other rows than those that it is said to have
    change(
        path,
        schema.format(INDEX + "= ''none''"),
        "REINDEX log_decision",
        schema.format(INDEX + "IS NOT NULL"),
    )
    if large:
        monkeypatch.setattr(sqlite, "LOOK", 0)
        ia.DurableAgent(path).close()
        reader = sqlite3.connect(path)  # while it is open, nobody removes the -wal file
        reader.execute("SELECT count(*) FROM log").fetchall()
        with ia.DurableAgent(path) as agent:
            agent.decide()
        assert os.path.getsize(f"{path}-wal") > 0
    with pytest.raises(ia.errors.BadFile, match="log_decision"):
        ia.DurableAgent(path)
    if large:
        reader.close()


def test_an_old_entry_is_checked_when_it_is_asked_for(log):
    """What a snapshot has replaced is not read at the start."""
    path, id = log
    with ia.DurableAgent(path) as agent:
        change(path, "UPDATE log SET value = 2.5 WHERE kind = 'rewarded'")
        with pytest.raises(ia.errors.BadFile, match="entry 3 was changed"):
            agent.learn(id, 2.5)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE log SET extra = CAST(X'ff' AS TEXT) WHERE number = 1", "damaged"),
        ("UPDATE log SET hash = 7 WHERE number = 2", "entry 2 was changed"),
        ("UPDATE log SET arm = X'00' WHERE number = 2", "entry 2 was changed"),
        ("INSERT INTO pruned VALUES (1, 3, 7)", "its first entries were pruned"),
        ("UPDATE setting SET value = 'x'", "damaged"),
        ("DROP TABLE snapshot", "no such table"),
    ],
)
def test_contents_that_cannot_be(statement, words, log):
    """One sentence each, from whoever reads."""
    path, _ = log
    change(path, statement)
    with pytest.raises(ia.errors.BadFile, match=words):
        ia.DurableAgent(path)


def test_a_log_that_is_read_from_its_middle_is_checked_too(log):
    """By the hash of the entry before."""
    path, _ = log
    change(path, "UPDATE log SET value = 2.5 WHERE kind = 'rewarded'")
    reader = Log.open(path, create=False)
    assert reader.seek(2)
    with pytest.raises(ia.errors.BadFile, match="entry 3 was changed"):
        list(reader.unread())
    assert not reader.seek(9)
    reader.close()
