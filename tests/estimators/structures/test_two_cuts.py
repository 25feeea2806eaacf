"""The two cuts: the work for one value is bounded, whatever the attacker sends."""

import itertools

import pytest

import ironarm as ia
from ironarm.engine.state import State
from ironarm.estimators.structures import two_cuts
from ironarm.estimators.trimmed_mean import TrimmedMean
from tests.estimators.structures.test_exact_sum import near

ORDERS = {
    "rising": lambda n: [float(i) for i in range(n)],
    "falling": lambda n: [-float(i) for i in range(n)],
    "outwards": lambda n: [float(i if i % 2 else -i) for i in range(n)],
    "inwards": lambda n: [float(n - i if i % 2 else i - n) for i in range(n)],
    "to and fro": lambda n: [float(i if i // 300 % 2 else -i) for i in range(n)],
    "far to and fro": lambda n: [float(i if 900 <= i < 2200 else -i) for i in range(n)],
    "equal": lambda n: [1.0] * n,
    "two values": lambda n: [float(i % 3 == 0) for i in range(n)],
}


@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.45, 0.4999])
@pytest.mark.parametrize("order", ORDERS)
def test_no_value_sets_off_a_long_chain_of_work(monkeypatch, order, alpha):
    """In hostile orders no value takes more than a few slides of sixteen values.

    On average it is at most three values, even with hardly anything between the cuts.
    """
    popped = itertools.count()
    plain = two_cuts.heap_pop
    monkeypatch.setattr(
        two_cuts, "heap_pop", lambda *arguments: (next(popped), plain(*arguments))[1]
    )
    state = State(ia.TrimmedUCB(alpha=alpha), 1)
    values = ORDERS[order](3000)
    before = first = next(popped)
    for n, x in enumerate(values, start=1):
        while not TrimmedMean.room(state.view, 0):
            state.grow()
        state.view.rewards[0] = n
        estimate = TrimmedMean.add(state.view, 0, x)
        now = next(popped)
        assert now - before <= 4 * two_cuts.HALF, n
        before = now
    cut = int(alpha * len(values))
    assert near(sorted(values)[cut : len(values) - cut], len(values) - 2 * cut, estimate)
    assert before - first <= (1 + 3) * len(values)
    assert sorted(values) == sorted(TrimmedMean.samples(state.view, 0).tolist())
