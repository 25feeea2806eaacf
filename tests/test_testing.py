"""`check_policy` accepts policies that keep their contract, and faults the others."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine.state import State
from ironarm.random import uniform
from ironarm.testing import check_policy
from ironarm.testing.policy import (
    _play,
    it_keeps_the_numbers_of_an_arm_together,
    it_works_as_plain_python,
)
from tests.every_policy import not_among


# some checks have 100 arms, more than fit into a short block
@pytest.mark.parametrize("policy", [*not_among([ia.MedEUCB()]), ia.MedEUCB()], ids=repr)
def test_every_policy_keeps_its_contract(policy):
    """Silent for all of ours."""
    check_policy(policy)


def test_the_documented_policy_of_a_user_passes_and_runs():
    """The example in docs/examples works in `simulate` and in `Agent`."""
    path = Path(__file__).parent.parent / "docs" / "examples" / "own_policy.py"
    import importlib.util
    import sys

    spec = importlib.util.spec_from_file_location("own_policy", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_policy"] = module
    spec.loader.exec_module(module)
    kinds = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, ia.extend.Policy)
        and value.__module__ == "own_policy"
    ]
    assert kinds
    for kind in kinds:
        check_policy(kind())
        result = ia.simulate(kind(), ia.GaussianBandit([0, 3]), horizon=2000, trials=3, seed=1)
        assert result.optimal[0, :, -1].min() > 0.5
        agent = ia.Agent(kind(), arms=["x", "y"], seed=1)
        agent.update(agent.select(), 1.0)
        assert agent.decisions == 1


@dataclass(frozen=True)
class Good(ia.extend.Policy):
    """Half the time any arm, else the highest mean."""

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        if uniform(g) < 0.5:
            return int(uniform(g) * s.arms)
        best = 0
        for a in range(s.arms):
            if s.estimate[a] > s.estimate[best]:
                best = a
        return best


@dataclass(frozen=True)
class OneTooFar(Good):
    """Returns an arm that does not exist."""

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        return s.arms if t == 50 else 0


@dataclass(frozen=True)
class Miscounts(Good):
    """Counts pulls itself."""

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        s.n[a] += 1


@dataclass(frozen=True)
class Forgets(Good):
    """Keeps what it has learnt in a field that it calls a cache."""

    fields = {"learnt": "cache float[arms]"}

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        best = 0
        for a in range(s.arms):
            if s.learnt[a] < s.learnt[best]:
                best = a
        return best

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        s.learnt[a] += abs(x) + 1


@dataclass(frozen=True)
class LivesTwice(Good):
    """Does something else behind an agent."""

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        return (t + s.live) % s.arms


@dataclass
class Changes(ia.extend.Policy):
    """Not frozen."""

    size: float = 1.0


class NotADataclass(ia.extend.Policy):
    """Parameters unknown."""


@dataclass(frozen=True)
class Unhashable(Good):
    """A list as parameter."""

    values: list = None

    def __post_init__(self):
        self._set(values=[1])


@dataclass(frozen=True)
class UnknownField(Good):
    """Reads a field that it has not declared."""

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        return int(s.no_such_field[0])


@dataclass(frozen=True)
class DoesNotCompile(Good):
    """Makes a list, which plain Python can."""

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        return len([n for n in s.n]) - 1  # noqa: C416


@dataclass(frozen=True)
class OutOfBounds(Good):
    """Reads beyond an array: something else compiled, an error as plain Python."""

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        return 0 if s.estimate[s.arms] > 0.0 else s.arms - 1


@dataclass(frozen=True)
class Starves(Good):
    """Waits for ten rewards of an arm before it turns to the next."""

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        for a in range(s.arms):
            if s.rewards[a] < 10:
                return a
        return 0


@dataclass(frozen=True)
class Recent(ia.extend.Policy):
    """The highest mean of the last `window` rewards, half the time."""

    window: int = 5

    estimator = None
    fields = {"recent": "float[arms*window]", "next": "int[arms]"}

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        if uniform(g) < 0.5:
            return int(uniform(g) * s.arms)
        best = 0
        for a in range(s.arms):
            if s.estimate[a] > s.estimate[best]:
                best = a
        return best

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        window = int(s.window)
        s.recent[a * window + s.next[a]] = x
        s.next[a] = (s.next[a] + 1) % window
        total = 0.0
        held = min(window, s.rewards[a])
        for i in range(held):
            total += s.recent[a * window + i]
        s.estimate[a] = total / held if total == total else -1e300


@dataclass(frozen=True)
class NeverWraps(Recent):
    """Writes beyond its window, which no check fills by itself."""

    window: int = 500

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        s.recent[a * int(s.window) + s.rewards[a] - 1] = x
        s.estimate[a] = x


@dataclass(frozen=True)
class NeverWrapsLater(NeverWraps):
    """Accepts only windows of at least 30, under another name in its state."""

    window: int = 500

    fields = {"recent": "float[arms*width]"}

    def __post_init__(self):
        if self.window < 30:
            raise ValueError("a window is at least 30")

    def constants(self, arms, horizon):
        return {"window": float(self.window), "width": 1.0 + self.window}


@dataclass(frozen=True)
class Strided(Recent):
    """Has the numbers of an arm apart: they are mixed up when an arm joins."""

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        s.recent[(s.rewards[a] - 1) % int(s.window) * s.arms + a] = x
        s.estimate[a] = x


@dataclass(frozen=True)
class OneRing(Recent):
    """Keeps the last rewards of all arms in one ring, so no place is an arm's."""

    fields = {"recent": "float[arms*window]", "next": "int[1]"}

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        s.recent[s.next[0]] = x
        s.next[0] = (s.next[0] + 1) % len(s.recent)
        s.estimate[a] = x


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (NeverWraps(), r"NeverWraps\(window=5\) fails as plain Python: .*line \d+: IndexError"),
        (NeverWrapsLater(), r"NeverWrapsLater\(window=40\) fails as plain Python: .*IndexError"),
    ],
)
def test_fields_that_a_parameter_sizes_are_filled(policy, message):
    """An index beyond a long window is found with the smallest window it accepts."""
    with pytest.raises(ia.errors.PolicyFault, match=message):
        it_works_as_plain_python(policy)


def test_an_arms_numbers_are_side_by_side():
    """A field with another order is refused, one that arms share is not."""
    with pytest.raises(
        ia.errors.PolicyFault, match=r"number of arm 0 in s.recent\[5\], where it is lost"
    ):
        it_keeps_the_numbers_of_an_arm_together(Strided(window=3))
    it_keeps_the_numbers_of_an_arm_together(Recent())
    it_keeps_the_numbers_of_an_arm_together(OneRing())


def test_the_size_of_a_field_may_be_a_parameter():
    """A window of the last rewards: its mean is the estimate, whatever its length."""
    for window in (1, 3, 50):
        check_policy(Recent(window))
        agent = ia.Agent(Recent(window), arms=2, seed=3)
        rewards = [[], []]
        for t in range(120):
            arm = agent.select()
            agent.update(arm, float(t))
            rewards[arm].append(float(t))
        for arm in (0, 1):
            last = rewards[arm][-window:]
            assert agent._core.state.view.estimate[arm] == pytest.approx(sum(last) / len(last))


def test_the_reward_is_counted_before_update():
    """`s.n` and `s.rewards` include it, live and in simulations."""

    @dataclass(frozen=True)
    class Notes(Good):
        fields = {"noted": "int[2]"}

        @staticmethod
        @ia.extend.hot
        def update(s, a, x):
            if s.noted[0] == 0:
                s.noted[0] = s.n[a]
                s.noted[1] = s.rewards[a]

    agent = ia.Agent(Notes(), arms=2, seed=1)
    agent.update(agent.select(), 1.0)
    assert agent._core.state.view.noted.tolist() == [1, 1]
    state = State(Notes(), 2, 10)
    for _ in _play(Notes(), state, np.array([1, 2, 3, 4], np.uint64), lambda t, a: 1.0, 1):
        assert state.view.noted.tolist() == [1, 1]


def test_a_good_policy_of_a_user_passes():
    """Written in a few lines."""
    check_policy(Good())


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (OneTooFar(), "arm that does not exist in round 50"),
        (Miscounts(), "changes s.n"),
        (Forgets(), "after a save and"),
        (LivesTwice(), "differently live"),
        (NotADataclass(), "frozen dataclass"),
        (Changes(), "can be changed"),
        (Unhashable(), "hashable"),
        (UnknownField(), "cannot be compiled.*no_such_field"),
        (DoesNotCompile(), "DoesNotCompile cannot be compiled.*cannot create lists"),
        (OutOfBounds(), "IndexError|as plain Python"),
        (Starves(), "while all rewards were late, and never chose 'b'"),
        (Good, "did you pass the class"),
        ("MedEUCB", "instance of ironarm.extend.Policy"),
    ],
)
def test_faults_are_named_in_a_sentence(policy, message):
    """One sentence about the first promise that is broken."""
    with pytest.raises(ia.errors.PolicyFault, match=message):
        check_policy(policy)
