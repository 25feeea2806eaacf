"""What a log proves: that nothing in it, or in the place of a part, was changed."""

import gzip
import json
import random
import sqlite3
from pathlib import Path

import pytest

import ironarm as ia
from ironarm.agent import logged, replay, verify
from ironarm.agent.log import Entry, Log, Prune, entry_hash
from ironarm.agent.snapshot import sealed, snapshot_of
from ironarm.agent.sqlite import SqliteStore
from ironarm.agent.verify import verified
from ironarm.cli import main
from ironarm.service.hosted import Hosted
from ironarm.simulation import progress

BEFORE_SEALS = Path(__file__).parent / "logs_before_seals"


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Clear caches and keep snapshots often enough for a short test."""
    monkeypatch.setattr(replay, "REFRESH", 8)
    monkeypatch.setattr(logged, "REFRESH", 8)
    monkeypatch.setattr(logged, "SNAPSHOT", 16)


def play(agent, rounds, seed=4):
    """Decide and learn; arm b is the best."""
    world = random.Random(seed)
    for _ in range(rounds):
        decision = agent.decide()
        if world.random() < 0.8:
            agent.learn(decision, world.random() + (decision.arm == "b"), source="user")
    for thread in agent._shared.threads:
        thread.join()  # it writes a snapshot


def made(path, rounds=30, policy=None):
    """Make the log of an agent."""
    with ia.DurableAgent(path, policy or ia.RUCB(), arms=["a", "b", 3], seed=5) as agent:
        play(agent, rounds)
    return path


@pytest.fixture
def log(tmp_path):
    """A log with a snapshot."""
    return made(tmp_path / "agent.db")


def check(path, **more):
    """Verify, as the command does."""
    store = SqliteStore.open(path, create=False)
    try:
        store.refuse_damage()
        return verified(store, 1, **more)
    finally:
        store.close()


def change(path, *statements):
    """Do what somebody does who can write to the file."""
    with sqlite3.connect(path) as connection:
        for statement, *values in statements:
            connection.execute(statement, values)
    connection.close()


def rows(path, question):
    with sqlite3.connect(path) as connection:
        found = connection.execute(question).fetchall()
    connection.close()
    return found


def edited(path):
    """Return the latest snapshot: number, the entry's hash, a state where a leads."""
    number, stored = rows(path, "SELECT number, state FROM snapshot ORDER BY number DESC")[0]
    found = snapshot_of(number, stored)
    data = json.loads(found.state)
    data["arms"] = ["b", "a", 3]
    return number, found.entry, json.dumps(data)


def test_what_is_whole_passes(log):
    """With the last entry's number and hash, and the latest snapshot compared."""
    found = check(log)
    number, digest = rows(log, "SELECT number, hash FROM log ORDER BY number DESC LIMIT 1")[0]
    assert (found.last, found.hash, found.entries) == (number, digest, number)
    assert (found.prune, found.not_replayed) == (None, "")
    assert rows(log, "SELECT number FROM snapshot") == [(number - number % 16,)]


def test_a_removed_beginning_is_found(log):
    """A row in `pruned` alone proves nothing."""
    number, digest = rows(log, "SELECT number, hash FROM log WHERE number = 20")[0]
    change(
        log,
        ("INSERT INTO pruned VALUES (1, ?, ?)", number, digest),
        ("DELETE FROM log WHERE number <= ?", number),
    )
    with pytest.raises(ia.errors.BadFile, match="no entry proves that they were pruned"):
        check(log)


def test_a_prune_proves_itself(log):
    """By an entry that names what is gone, and the snapshot in its place."""
    with ia.DurableAgent(log) as agent:
        before = agent.best(), agent.rewards, agent.open_decisions
    assert main(["log", "prune", str(log), "--keep", "10"]) == 0
    found = check(log)
    prune = Prune.read(rows(log, "SELECT extra FROM log WHERE kind = 'pruned'")[0][0])
    assert found.prune == prune
    assert rows(log, "SELECT number, hash FROM pruned") == [(prune.number, prune.hash)]
    with ia.DurableAgent(log) as agent:
        assert (agent.best(), agent.rewards, agent.open_decisions) == before
        play(agent, 30, seed=5)
    kept = [number for (number,) in rows(log, "SELECT number FROM snapshot ORDER BY number")]
    assert len(kept) == 2, "the latest, and the one that the prune names"
    assert kept[0] == prune.snapshot
    assert check(log).prune == prune
    assert main(["log", "prune", str(log)]) == 0
    assert check(log).prune.number > prune.number
    assert rows(log, "SELECT count(*) FROM snapshot") == [(1,)]


def test_another_prune_than_the_proved_one_is_found(log):
    """More is gone than the entry says."""
    assert main(["log", "prune", str(log), "--keep", "20"]) == 0
    (last,) = rows(log, "SELECT number FROM pruned")[0]
    number, digest = rows(log, f"SELECT number, hash FROM log WHERE number = {last + 1}")[0]
    change(
        log,
        ("UPDATE pruned SET number = ?, hash = ?", number, digest),
        ("DELETE FROM log WHERE number <= ?", number),
    )
    with pytest.raises(ia.errors.BadFile, match="no entry proves that they were pruned"):
        check(log)


def test_what_no_snapshot_replaces_is_not_pruned(log):
    """Decisions and rewards after the snapshot are nowhere else."""
    (number,) = rows(log, "SELECT number FROM snapshot")[0]
    before = rows(log, "SELECT * FROM log")
    held = Log.open(log, create=False)
    assert held.prune(number + 1, now=0.0) == 0
    assert rows(log, "SELECT * FROM log") == before
    assert held.prune(number, now=0.0) == number
    held.close()
    check(log)


def test_a_prune_that_was_only_written_down_is_found(log):
    """Its entry fits the chain, and what it says is gone is there."""
    number, digest = rows(log, "SELECT number, hash FROM log WHERE number = 8")[0]
    held = Log.open(log, create=False)
    found = held.snapshot()
    assert len(list(held.unread())) > 0
    prune = Prune(number, digest, found.number, found.entry, found.content)
    held.begin()
    held.append(Entry(held.last + 1, 1e10, "pruned", extra=prune.extra()))
    held.commit()
    held.close()
    with pytest.raises(ia.errors.BadFile, match="what it says of its prunes does not fit"):
        check(log)


def test_entries_are_counted_in_two_ways(log, monkeypatch):
    """By reading them all, and by asking the store, which may see others."""
    monkeypatch.setattr(SqliteStore, "count", lambda store, agent, last: last + 1)
    with pytest.raises(ia.errors.BadFile, match="counts another number of them"):
        check(log)


def test_what_was_looked_up_follows_the_log(log):
    """What is appended meanwhile is among it, and what is cut off again is not."""
    held = Log.open(log, create=False)
    assert len(list(held.unread())) > 0
    held.begin()
    with held.looked_up(["x"]):
        start = held.mark()
        entry = Entry(held.last + 1, 1e10, "observed", "x", "a", 1.0)
        held.append(entry)
        assert held.about("x") == [entry]
        held.cut(start)
        assert held.about("x") == []
    held.roll_back()
    held.close()


def test_a_changed_snapshot_is_not_used(log):
    """Verify says that it was changed; who opens the log makes it anew."""
    number, entry, text = edited(log)
    for stored in (sealed(entry, "{}").partition("\n")[0] + "\n" + text, "sealed x\n" + text, text):
        change(log, ("UPDATE snapshot SET state = ? WHERE number = ?", stored, number))
        if not stored.startswith("{"):
            with pytest.raises(ia.errors.BadFile, match=f"snapshot of entry {number} was changed"):
                check(log)
        with ia.DurableAgent(log) as agent:
            assert agent.arms == ("a", "b", 3)
        check(log)


def test_a_snapshot_with_a_new_seal_is_found_by_verify(log):
    """It is compared with what the entries add up to."""
    _, entry, text = edited(log)
    change(log, ("UPDATE snapshot SET state = ?", sealed(entry, text)))
    with pytest.raises(ia.errors.BadFile, match="is not what the entries add up to"):
        check(log)


def test_a_snapshot_of_another_log_is_not_used(log, tmp_path):
    """Its entry has another hash."""
    other = made(tmp_path / "other.db")
    number, stored = rows(other, "SELECT number, state FROM snapshot")[0]
    change(log, ("UPDATE snapshot SET state = ? WHERE number = ?", stored, number))
    with pytest.raises(ia.errors.BadFile, match="was changed"):
        check(log)
    with ia.DurableAgent(log) as agent, ia.DurableAgent(other) as foreign:
        assert agent.open_decisions != foreign.open_decisions


@pytest.mark.parametrize("seal", ["none", "old", "new"])
def test_a_changed_snapshot_of_a_pruned_log_is_refused(seal, log):
    """Nothing else has what it stands for; with a new seal verify finds it."""
    assert main(["log", "prune", str(log)]) == 0
    _, entry, text = edited(log)
    stored = {"none": text, "old": sealed(entry, "{}")[:-2] + text, "new": sealed(entry, text)}
    change(log, ("UPDATE snapshot SET state = ?", stored[seal]))
    if seal != "new":
        with pytest.raises(ia.errors.BadFile, match="replaces them is missing or was changed"):
            ia.DurableAgent(log)
    with pytest.raises(
        ia.errors.BadFile, match="replaces the pruned entries, is missing or was changed"
    ):
        check(log)


def test_an_entry_that_was_written_down_is_looked_for(log, capsys):
    """The same hash, another one, a log that was cut off; and one that was pruned."""
    found = check(log)
    since = f"{found.last}:{found.hash.hex()}"
    assert main(["log", "verify", str(log), "--since", since]) == 0
    assert f"; the last is {since}\n" in capsys.readouterr().out
    assert main(["log", "verify", str(log), "--since", f"{found.last - 1}:{found.hash.hex()}"]) == 2
    assert "has not the hash that you gave" in capsys.readouterr().err
    assert main(["log", "verify", str(log), "--since", f"{found.last + 1}:{'00' * 16}"]) == 2
    assert f"ends with entry {found.last}" in capsys.readouterr().err
    assert main(["log", "verify", str(log), "--since", "7"]) == 2
    assert "NUMBER:HASH" in capsys.readouterr().err
    assert main(["log", "prune", str(log), "--keep", "5"]) == 0
    gone, digest = rows(log, "SELECT number, hash FROM pruned")[0]
    assert main(["log", "verify", str(log), "--since", f"{gone}:{digest.hex()}"]) == 1
    last = check(log)
    assert main(["log", "verify", str(log), "--since", f"{last.last}:{last.hash.hex()}"]) == 0
    assert main(["log", "verify", str(log), "--since", f"{gone}:{'00' * 16}"]) == 2
    capsys.readouterr()
    assert main(["log", "verify", str(log), "--since", f"3:{'00' * 16}"]) == 1
    assert "among them 3, so its hash could not be compared" in capsys.readouterr().out


def test_a_chain_that_was_written_anew_is_found_by_what_was_written_down(log):
    """Whoever can write to the file can make hashes that fit."""
    found = check(log)
    connection = sqlite3.connect(log)
    before = b""
    reader = Log.open(log, create=False)
    for entry in list(reader.unread()):
        if entry.kind == "rewarded":
            entry = entry._replace(value=entry.value / 2)
        before = entry_hash(before, entry)
        connection.execute(
            "UPDATE log SET value = ?, hash = ? WHERE number = ?",
            (entry.value, before, entry.number),
        )
    reader.close()
    connection.execute("DELETE FROM snapshot")
    connection.execute("UPDATE setting SET value = ?", (f"{found.last}:{before.hex()}",))
    connection.commit()
    connection.close()
    assert check(log).entries == found.entries
    with pytest.raises(ia.errors.BadFile, match="has not the hash that you gave"):
        check(log, since=(found.last, found.hash))


@pytest.mark.parametrize("name", ["whole", "pruned"])
def test_logs_from_before_there_were_seals_go_on(name, tmp_path):
    """With the same choices; a prune is accepted once, and is in the chain then."""
    path = tmp_path / "agent.db"
    path.write_bytes(gzip.decompress((BEFORE_SEALS / f"{name}.db.gz").read_bytes()))
    expected = json.loads((BEFORE_SEALS / "choices.json").read_text())[name]
    if name == "pruned":
        with pytest.raises(ia.errors.BadFile, match="no entry proves"):
            check(path)
        with pytest.warns(UserWarning, match="the entries up to 32 are gone"):
            ia.DurableAgent(path).close()
        assert check(path).prune.late
        assert check(path).entries == 52 - 32 + 1
    with ia.DurableAgent(path) as agent:
        assert [list(each) for each in agent.open_decisions] == expected["open"]
        assert [list(each) for each in agent.rewards.items()] == expected["rewards"]
        assert [agent.decide().arm for _ in range(12)] == expected["next"]
        for thread in agent._shared.threads:
            thread.join()
    check(path)
    newest = rows(path, "SELECT state FROM snapshot ORDER BY number DESC LIMIT 1")[0][0]
    assert snapshot_of(1, newest).entry is not None


def test_a_node_of_the_service_seals_an_old_prune_too(tmp_path):
    """When it loads the agent; the next one finds nothing to do."""
    path = tmp_path / "agent.db"
    path.write_bytes(gzip.decompress((BEFORE_SEALS / "pruned.db.gz").read_bytes()))
    store = SqliteStore.open(path, create=False)
    node, other = (Hosted(store, 1, lambda frozen: None) for _ in range(2))
    other.catch_up()
    with pytest.warns(UserWarning, match="the entries up to 32 are gone"):
        node.load()
    assert verified(store, 1).last == 53
    other.load()
    assert verified(store, 1).last == other.log.last == 53
    store.close()


def test_a_long_log_without_a_usable_snapshot_gets_one(log):
    """Else every start would read all of it."""
    (number, _), *_ = rows(log, "SELECT number, state FROM snapshot")
    change(log, ("DELETE FROM snapshot",))
    with ia.DurableAgent(log) as agent:
        for thread in agent._shared.threads:
            thread.join()
    assert rows(log, "SELECT number FROM snapshot") == [(number,)]
    check(log)


def test_who_was_away_while_others_pruned_goes_on(log):
    """It reads the snapshot in the place of what it has missed."""
    with ia.DurableAgent(log) as idle:
        idle.summary()
        with ia.DurableAgent(log) as busy:
            play(busy, 40, seed=6)
            assert main(["log", "prune", str(log)]) == 0
            decision = busy.decide()
            assert idle.open_decisions == busy.open_decisions
        idle.learn(decision, 1.0)
        assert idle.best() == "b"


OWN = """
from dataclasses import dataclass
import ironarm as ia
@dataclass(frozen=True)
class Mine(ia.RUCB):
    pass
"""


def test_a_policy_of_ones_own(tmp_path, capsys):
    """Without it the chain is checked, and what is not is said; with it all is."""
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    from ironarm.naming import own_code
    from ironarm.policies import policy_from_text

    with own_code.allowed():
        policy = policy_from_text(f"{file}:Mine")
    path = made(tmp_path / "agent.db", policy=policy)
    _, entry, text = edited(path)
    assert main(["log", "verify", str(path), "--own", f"{file}:Mine"]) == 0
    assert capsys.readouterr().err == ""
    change(path, ("UPDATE snapshot SET state = ?", sealed(entry, text)))
    assert main(["log", "verify", str(path), "--own", f"{file}:Mine"]) == 2
    assert "is not what the entries add up to" in capsys.readouterr().err
    own_code._loaded.clear()
    assert main(["log", "verify", str(path)]) == 0
    assert "snapshots were not compared with the entries" in capsys.readouterr().err


def test_progress_is_shown_when_it_takes_long(log, monkeypatch, capsys):
    """As lines where there is no terminal."""
    monkeypatch.setattr(verify, "STEP", 1)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    assert main(["log", "verify", str(log)]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("checking entries: ")
    assert lines[-1].startswith("checking entries: 100 %")


def forged(path, after):
    """Put another state in the place of the beginning, as whoever can write may.

    A prune is appended that names it; nothing before is touched.
    """
    store = SqliteStore.open(path, create=False)
    log = Log(store)
    number = max(store.snapshots(1))
    state = log.stored_snapshot(number).state
    data = json.loads(state)
    data["state"]["rounds"] += 1
    entry = store.hash_of(1, number)
    text = sealed(entry, json.dumps(data))
    end = store.end(1)
    log.last, log.last_hash = end[0], end[2]
    content = snapshot_of(number, text).content
    prune = Prune(number, entry, number, entry, content)
    with store.transaction():
        store.hold([1])
        store.replace_snapshots(1, number, text)
        log.append(Entry(log.last + 1, after, "pruned", extra=prune.extra()))
        log.hand_over()
        store.prune(1, number, entry, number)
    store.close()


def test_a_hash_from_before_a_prune_proves_nothing(log, capsys):
    """The prune may have been forged, with a snapshot of anything; verify says so."""
    found = check(log)
    forged(log, 9e9)
    assert main(["log", "verify", str(log), "--since", f"{found.last}:{found.hash.hex()}"]) == 1
    assert f"so the hash of {found.last} proves nothing" in capsys.readouterr().out


def test_what_is_damaged_is_not_pruned(log, capsys):
    """A prune would prove a state that nothing else does, and remove what shows it."""
    store = SqliteStore.open(log, create=False)
    number = max(store.snapshots(1))
    found = Log(store).stored_snapshot(number)
    data = json.loads(found.state)
    data["state"]["rounds"] += 1
    store.replace_snapshots(1, number, sealed(found.entry, json.dumps(data)))
    store.close()
    before = rows(log, "SELECT count(*) FROM log")
    assert main(["log", "prune", str(log), "--keep", "5"]) == 2
    assert "is damaged" in capsys.readouterr().err
    assert rows(log, "SELECT count(*) FROM log") == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DELETE FROM log; DELETE FROM setting", "has a snapshot of"),
        ("UPDATE log SET agent = 2 WHERE number > 40", "has no name"),
        ("UPDATE log SET time = 'abc' WHERE number = 3", "is damaged"),
        ("UPDATE snapshot SET number = 1000000", "has a snapshot of"),
        ("INSERT INTO pruned VALUES (1, 'abc', x'')", "is damaged"),
    ],
)
def test_what_somebody_has_done_to_the_tables_is_found(log, change, message, capsys):
    """In one sentence each time."""
    with sqlite3.connect(log) as connection:
        connection.executescript(change)
    connection.close()
    assert main(["log", "verify", str(log)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
