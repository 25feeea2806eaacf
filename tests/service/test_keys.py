"""Keys and limits by themselves."""

import time

import pytest

import ironarm as ia
from ironarm.service import keys
from ironarm.service.keys import Buckets, KeyRing, agent_name, make_key
from ironarm.service.location import StoreLocation


def test_a_key_is_found_by_its_whole_text(tmp_path):
    """A hash is kept, never the text; a revoked key is not found."""
    store = StoreLocation(tmp_path).open(create=True)
    text = make_key(store, "web", ["decide", "reward"], ["ads"], rate=5.0)
    other = make_key(store, "other", ["read"])
    ring = KeyRing()
    assert ring.empty
    ring.take(store.api_keys())
    key = ring.find(text)
    assert (key.name, key.scopes, key.agents, key.rate) == (
        "web",
        frozenset({"decide", "reward"}),
        frozenset({"ads"}),
        5.0,
    )
    assert ring.find(text[:-1]) is None
    assert ring.find(text.replace(text[-8:], other[-8:])) is None
    assert ring.find("") is None
    assert not any(text.encode() in bytes(str(row), "utf-8") for row in store.api_keys())
    assert store.revoke_key(key.id, time.time()) == 1
    assert store.revoke_key(key.id, time.time()) == 0
    ring.take(store.api_keys())
    assert ring.find(text) is None
    assert not ring.empty
    store.close()


def test_a_bucket_lets_a_rate_pass(monkeypatch):
    """A burst of two seconds' worth, then as many as the clock allows."""
    now = [100.0]
    monkeypatch.setattr(keys, "monotonic", lambda: now[0])
    buckets = Buckets()
    assert [buckets.take("a", 5.0) for _ in range(10)] == [0.0] * 10
    assert buckets.take("a", 5.0) == pytest.approx(0.2)
    assert buckets.take("b", 5.0) == 0.0
    now[0] += 1.0
    assert [buckets.take("a", 5.0) > 0 for _ in range(6)] == [False] * 5 + [True]


def test_who_owes_waits_until_that_is_paid_off(monkeypatch):
    """And a debt is not forgotten when room is made for other names."""
    now = [100.0]
    monkeypatch.setattr(keys, "monotonic", lambda: now[0])
    monkeypatch.setattr(Buckets, "MOST", 4)
    buckets = Buckets()
    assert buckets.take("a", 2.0) == 0.0
    buckets.owe("a", 2.0, 100)  # three are left of the burst
    assert buckets.take("a", 2.0) == pytest.approx(49.0)
    for name in "bcd":
        assert buckets.take(name, 2.0) == 0.0
    now[0] += 48.0
    assert buckets.take("e", 2.0) == 0.0
    assert buckets.take("a", 2.0) == pytest.approx(1.0)
    now[0] += 1.0
    assert buckets.take("a", 2.0) == 0.0


def test_many_names_do_not_fill_the_memory(monkeypatch):
    """Not even if all of them are busy; and making room is rare."""
    monkeypatch.setattr(Buckets, "MOST", 100)
    monkeypatch.setattr(keys, "monotonic", lambda: 100.0)
    made, forget = [], Buckets._forget

    def counted(self, now, rate):
        made.append(1)
        forget(self, now, rate)

    monkeypatch.setattr(Buckets, "_forget", counted)
    buckets = Buckets()
    for k in range(1000):
        buckets.take(k, 1.0)
    assert len(buckets._levels) <= 100
    assert len(made) <= 20


@pytest.mark.parametrize("name", ["", "-a", "a b", "a/b", "..", "a" * 101, "ä", "a\n", None, 7])
def test_names_that_are_none(name):
    """What stands in a path is plain."""
    with pytest.raises(ia.InvalidInput, match="an agent's name"):
        agent_name(name)
