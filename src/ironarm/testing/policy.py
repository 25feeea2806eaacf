"""`check_policy`: does a policy keep its contract?

`ironarm.policy` is the contract. Each check below tests a part of it.
"""

from __future__ import annotations

import copy
import math
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..agent.agent import Agent
from ..agent.reward_check import RewardWarning
from ..attacks import Infinite, OppositeUniform
from ..bandits import GaussianBandit
from ..engine import machine
from ..engine.record import size_names
from ..engine.state import State
from ..errors import InvalidInput, IronarmError, PolicyFault
from ..naming.own_faults import raised_in
from ..policies import Policy
from ..rules.decaying_greedy import DecayingGreedy
from ..show.text import counted
from ..simulation import simulate

ROUNDS = 300
LATE = 5000
"""How many decisions are made without a reward: more than a schedule forces."""
PLAIN_ROUNDS = 80
SMALL = 5
"""Fields of this size are full, and begin again, within a few rounds."""


def check_policy(policy: Policy) -> None:
    """Run all checks; raise `PolicyFault`, in one sentence, if one fails.

    Array indices are checked in 80 rounds of plain Python, with one to three arms. That
    fills only short fields, so a policy with a field whose size depends on a parameter,
    `"float[arms*window]"`, is also played with that parameter lowered: to 5, or the
    smallest of 10, 20, 40, ... that the policy accepts, with rounds enough to fill the
    field twice. A longer field of a fixed size is not filled.

    Examples
    --------
    >>> import ironarm as ia
    >>> from ironarm.testing import check_policy
    >>> check_policy(ia.MedEUCB())
    """
    if not isinstance(policy, Policy):
        raise PolicyFault(
            f"a policy must be an instance of ironarm.extend.Policy, got {policy!r}; did you pass "
            "the class instead of an instance?"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RewardWarning)  # these rewards suit no policy
        for check in CHECKS:
            with _explained(f"{type(policy).__name__} fails the check {check.__name__!r}"):
                check(policy)


def it_is_plain_data(policy: Policy) -> None:
    """A policy is immutable, compares by its parameters, hashes, and copies."""
    name = type(policy).__name__
    try:
        parameters = policy.parameters
    except TypeError:
        raise PolicyFault(
            f"{name} must be a frozen dataclass: write @dataclass(frozen=True) above the class."
        ) from None
    for parameter in parameters:
        try:
            setattr(policy, parameter, parameters[parameter])
        except AttributeError:
            continue
        raise PolicyFault(
            f"{name}.{parameter} can be changed after the fact: write @dataclass(frozen=True) "
            "above the class."
        )
    twin = copy.copy(policy)
    with _explained(
        f"{name} must be hashable; its parameters must be numbers, strings, tuples or None"
    ):
        if twin != policy or hash(twin) != hash(policy):
            raise PolicyFault(
                f"two equal copies of {name} differ; do not override __eq__ or __hash__."
            )


def it_works_as_plain_python(policy: Policy) -> None:
    """Uncompiled, the policy survives every kind of reward.

    An index out of bounds is then an error, and not a wrong number or a crash. So that
    fields get full, parameters on which their sizes depend are lowered too.
    """
    name = type(policy).__name__
    with machine.uncompiled():
        with _explained(f"{name} fails as plain Python"):
            _play_plainly(policy, PLAIN_ROUNDS)
        for parameter, small in _with_small_fields(policy):
            given = f"{parameter}={getattr(small, parameter)}"
            longest = int(max(_sizes(small).values()))
            try:
                _play_plainly(small, PLAIN_ROUNDS + 2 * longest)
            except Exception as error:
                raise PolicyFault(
                    f"{name}({given}) fails as plain Python: {raised_in(error)}. Fix that line. "
                    f"If {given} makes no sense, refuse it in `__post_init__`."
                ) from error


def it_compiles(policy: Policy) -> None:
    """`choose` and `update` compile, and the fields are declared correctly."""
    for arms in (2, 5):
        State(policy, arms, ROUNDS).machine.call("run")


def it_chooses_existing_arms(policy: Policy) -> None:
    """The arm chosen exists, with one to a hundred arms and any rewards.

    The policy also leaves the counts to the engine.
    """
    for arms in (1, 2, 7, 100):
        for rewards in (_normal, _huge, _infinite, _equal):
            state, stream = _start(policy, arms)
            for t, arm, _ in _play(policy, state, stream, rewards, 4 * arms + 60):
                if not 0 <= arm < arms:
                    raise PolicyFault(
                        f"{type(policy).__name__}.choose returned {arm} in round {t}; arms are "
                        f"numbered 0 to {arms - 1}."
                    )
                if state.view.n.sum() != t:
                    raise PolicyFault(
                        f"{type(policy).__name__} changes s.n; the engine counts, a policy only "
                        "reads."
                    )
                if state.view.rewards.sum() != t:
                    raise PolicyFault(
                        f"{type(policy).__name__} changes s.rewards; the engine counts, a policy "
                        "only reads."
                    )


def it_depends_on_nothing_else(policy: Policy) -> None:
    """The same rewards and the same stream give the same choices.

    A policy uses no clock and no global random numbers.
    """
    first, second = (
        [arm for _, arm, _ in _play(policy, *_start(policy, 5), _normal, ROUNDS)] for _ in range(2)
    )
    if first != second:
        t = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b) + 1
        raise PolicyFault(
            f"{type(policy).__name__} chose differently in round {t} of two equal runs; draw only "
            "from the stream g, with uniform(g) of ironarm.extend."
        )


def it_means_the_same_uncompiled(policy: Policy) -> None:
    """Compiled and as plain Python, the choices are the same."""
    compiled = [arm for _, arm, _ in _play(policy, *_start(policy, 4), _normal, ROUNDS)]
    with machine.uncompiled():
        plain = [arm for _, arm, _ in _play(policy, *_start(policy, 4), _normal, ROUNDS)]
    if compiled != plain:
        t = next(i for i, (a, b) in enumerate(zip(compiled, plain, strict=True)) if a != b) + 1
        raise PolicyFault(
            f"{type(policy).__name__} chooses arm {compiled[t - 1]} compiled and {plain[t - 1]} "
            f"as plain Python in round {t}; look for integers that overflow, indices out of "
            "bounds, or a name that means two things."
        )


def it_is_the_same_live(policy: Policy) -> None:
    """An agent makes the same choices as the simulator, with one worker or two.

    Rewards come at once.
    """
    bandit, attack = GaussianBandit([0.0, 1.0, 3.0]), Infinite(rho=0.1)
    alone = simulate(
        policy, bandit, attack, horizon=ROUNDS, trials=2, seed=3, workers=1, progress=False
    )
    again = simulate(
        policy,
        bandit,
        attack,
        horizon=ROUNDS,
        trials=2,
        seed=3,
        workers=2,
        checkpoints=[7],
        progress=False,
    )
    if not np.array_equal(alone.pulls, again.pulls):
        raise PolicyFault(
            f"{type(policy).__name__} pulls differently with two workers than with one; it must "
            "not share anything between trials."
        )
    simulated = [arm for _, arm, _ in _play(policy, *_start(policy, 3), _normal, ROUNDS)]
    live = [arm for _, arm, _ in _play(policy, *_start(policy, 3, live=True), _normal, ROUNDS)]
    if simulated != live:
        raise PolicyFault(
            f"{type(policy).__name__} chooses differently live and in a simulation; `recount` "
            "must not change what `update` would do."
        )


def it_saves_and_continues(policy: Policy) -> None:
    """Saved and loaded in the middle, an agent continues with the same choices.

    Late rewards, new arms and removed arms leave it sound.
    """
    agent, saved = (_agent(policy, ["a", "b", "c"]) for _ in range(2))
    values = iter(np.random.default_rng(5).normal(size=2000).tolist())
    for _ in range(151):  # not a multiple of the number of arms
        reward = next(values)
        for one in (agent, saved):
            one.update(one.select(), reward)
    late = [agent.decide() for _ in range(5)]
    if late != [saved.decide() for _ in range(5)]:
        raise PolicyFault(
            f"{type(policy).__name__} chose differently in two equal agents; draw only from the "
            "stream g, with uniform(g) of ironarm.extend."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.json"
        saved.save(path)
        loaded = Agent.load(path, policy=policy)
    for decision in reversed(late):
        reward = next(values)
        for one in (agent, saved, loaded):
            one.learn(decision.id, reward)
    for t in range(150):
        arm, *others = (one.select() for one in (agent, saved, loaded))
        if others != [arm, arm]:
            raise PolicyFault(
                f"{type(policy).__name__} chose {others[0]!r} after a save and {others[1]!r} "
                f"after a load, but {arm!r} without them (round {t + 1} afterwards); "
                "declare a field as 'cache' only if zero means that it is not known."
            )
        reward = next(values)
        for one in (agent, saved, loaded):
            one.update(arm, reward)
    agent.add_arm("d")
    agent.remove_arm("b")
    for _ in range(100):
        agent.cancel(agent.decide().id)
        agent.update(agent.select(), next(values))
    if agent.decisions != 151 + 5 + 150 + 200:
        raise PolicyFault(f"{type(policy).__name__} changes the number of rounds.")


def it_keeps_the_numbers_of_an_arm_together(policy: Policy) -> None:
    """In a field like `"float[arms*4]"`, the numbers of arm a are those from 4 * a on.

    They move with the arm when others join or leave. A policy is faulted if the first
    rewards of each arm go to places of its own that are not in its part. A policy may
    write to other arms' parts, as long as the arms share those places.
    """
    arms = 5
    touched: dict[str, list[set[int]]] = {}
    with machine.uncompiled():
        for arm in range(arms):
            state, _ = _start(policy, arms, live=True)
            fields = [
                field
                for field in state.machine.fields
                if field.per_arm and field.width > 1 and not field.cache
            ]
            before = {field.name: getattr(state.view, field.name).copy() for field in fields}
            for t in range(1, 4):
                state.select(arm)
                state.observe(arm, _normal(t, arm), float(state.view.chance[0]))
            for field in fields:
                changed = np.flatnonzero(getattr(state.view, field.name) != before[field.name])
                touched.setdefault(field.name, []).append(set(changed.tolist()))
    for field in fields:
        places, width = touched[field.name], field.width
        if sum(map(len, places)) > len(set.union(*places)):
            continue  # arms share places, so these are not one arm's numbers
        for arm, own in enumerate(places):
            outside = [i for i in sorted(own) if i // width != arm]
            if outside:
                raise PolicyFault(
                    f"{type(policy).__name__} keeps a number of arm {arm} in "
                    f"s.{field.name}[{outside[0]}], where it is lost when arms join or leave; the "
                    f"numbers of arm a must be s.{field.name}[a*{width}] to "
                    f"s.{field.name}[a*{width}+{width - 1}]."
                )


def it_explores_while_rewards_are_late(policy: Policy) -> None:
    """Before any reward has come, every arm is tried.

    A policy that waits for an arm's reward before it tries the next arm would repeat
    the first one until its reward arrives.
    """
    names = ["a", "b", "c"]
    agent = _agent(policy, names)
    tried = {agent.decide().arm for _ in range(LATE)}
    if tried != set(names):
        raise PolicyFault(
            f"{type(policy).__name__} made {LATE} decisions while all rewards were late, and "
            f"never chose {min(set(names) - tried)!r}; let `choose` count decisions (s.n), not "
            "rewards (s.rewards)."
        )


def it_survives_an_attack(policy: Policy) -> None:
    """A simulation with huge and infinite rewards ends with a finite regret.

    Every round is accounted for.
    """
    bandit = GaussianBandit([0.0, 1.0])
    for attack in (OppositeUniform(rho=0.3), Infinite(rho=0.3)):
        result = simulate(
            policy, bandit, attack, horizon=ROUNDS, trials=3, seed=1, workers=1, progress=False
        )
        if not (np.isfinite(result.regret).all() and (result.pulls.sum(axis=2) == ROUNDS).all()):
            raise PolicyFault(f"{type(policy).__name__} loses rounds under {attack}.")


CHECKS: list[Callable[[Policy], None]] = [
    it_is_plain_data,
    # first, because the compiler names the line of what it refuses
    it_compiles,
    it_works_as_plain_python,
    it_chooses_existing_arms,
    it_depends_on_nothing_else,
    it_means_the_same_uncompiled,
    it_is_the_same_live,
    it_keeps_the_numbers_of_an_arm_together,
    it_saves_and_continues,
    it_explores_while_rewards_are_late,
    it_survives_an_attack,
]


@contextmanager
def _explained(sentence: str) -> Iterator[None]:
    try:
        yield
    except IronarmError:
        raise
    except Exception as error:
        raise PolicyFault(f"{sentence}: {raised_in(error)}.") from error


def _start(policy: Policy, arms: int, live: bool = False) -> tuple[State, np.ndarray]:
    stream = np.array([1, 2, 3, 4], np.uint64)
    try:
        state = State(policy, arms, ROUNDS, live=live)
        # all zeros would stay zeros for ever: no sampler that rejects would end. Greedy
        # policies keep them: an arm without a reward comes first live and last in a
        # simulation, so chance must not leave one out
        if not isinstance(policy, DecayingGreedy):
            state.view.stream[:] = stream
        return state, stream
    except InvalidInput as error:
        raise PolicyFault(f"{type(policy).__name__} refuses {arms} arms: {error}") from error


def _play(
    policy: Policy,
    state: State,
    stream: np.ndarray,
    rewards: Callable[[int, int], float],
    rounds: int,
) -> Iterator[tuple[int, int, float]]:
    """Play rounds through the compiled steps; yields (round, arm, reward)."""
    for t in range(1, rounds + 1):
        arm = state.select()
        if arm < 0:
            raise PolicyFault(
                f"{type(policy).__name__}.choose returned an arm that does not exist in round "
                f"{t}; with {counted(state.view.arms, 'arm')} it must be 0 to "
                f"{state.view.arms - 1}."
            )
        x = rewards(t, arm)
        state.observe(arm, x, float(state.view.chance[0]))
        yield t, arm, x


def _play_plainly(policy: Policy, rounds: int) -> None:
    for arms, rewards in ((1, _normal), (3, _normal), (3, _huge), (2, _infinite), (2, _equal)):
        for _ in _play(policy, *_start(policy, arms), rewards, rounds):
            pass


def _with_small_fields(policy: Policy) -> Iterator[tuple[str, Policy]]:
    """Yield the policy with each parameter lowered on which the size of a field rests.

    With the parameter's name. What the policy refuses is left out.
    """
    sizes = _sizes(policy)
    for parameter, value in policy.parameters.items() if sizes else ():
        size = SMALL
        while type(value) is int and size < value:
            try:
                small: Any = replace(policy, **{parameter: size})  # type: ignore[type-var]
                depends = _sizes(small) != sizes
            except Exception:  # refused, in the author's own way
                size *= 2
                continue
            if depends:
                yield parameter, small
            break


def _sizes(policy: Policy) -> dict[str, float]:
    """Return the constants that are sizes of fields, for as many arms as are played."""
    declared = machine.fields_of(type(policy), policy.estimator).values()
    constants = policy.constants(3, ROUNDS)
    return {name: constants[name] for name in size_names(declared) if name in constants}


def _agent(policy: Policy, arms: list[str]) -> Agent:
    try:
        return Agent(policy, arms=arms, seed=11)
    except InvalidInput as error:
        raise PolicyFault(f"{type(policy).__name__} cannot work live: {error}") from error


def _normal(t: int, arm: int) -> float:
    return arm + math.sin(12.9898 * t + 78.233 * arm) * 2


def _huge(t: int, arm: int) -> float:
    return (1e308 if t % 3 else -1e308) * math.sin(t)


def _infinite(t: int, arm: int) -> float:
    return (math.inf, -math.inf, 1.0)[t % 3]


def _equal(t: int, arm: int) -> float:
    return 1.0
