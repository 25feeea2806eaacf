"""Policies × one bandit × one attack × trials, all on the same coins and noise."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..attacks import Attack, NoAttack
from ..bandits import Bandit
from ..bandits.base import finite_means
from ..engine.streams import fresh_seed
from ..engine.warm import compile_all
from ..errors import InvalidInput
from ..naming.own_faults import failures_of
from ..policies import Policy
from ..policy import require_policy
from ..validation import instance, whole
from ..version import __version__
from .delay import Delay
from .progress import Progress
from .result import Result
from .sources import Sources
from .trial import Simulation, Trials

ORDER = " The order is simulate(policies, bandit, attack)."
PER_DECADE = 20
"""Checkpoints between a power of ten and the next."""


def simulate(
    policies: Policy | Sequence[Policy] | Mapping[str, Policy],
    bandit: Bandit,
    attack: Attack | None = None,
    *,
    horizon: int,
    trials: int = 20,
    seed: int | None = None,
    workers: int | None = None,
    checkpoints: Iterable[int] | None = None,
    progress: bool | Progress | None = None,
    sources: Sources | None = None,
    delay: Delay | None = None,
) -> Result:
    """Simulate policies on a bandit under an attack.

    In every trial all policies meet the same noise and the same coins, so their results
    can be compared in pairs. The result depends on `seed` and on nothing else: not on
    `workers`, not on which other policies take part.

    Parameters
    ----------
    policies : one policy or several. A dict gives them names, which tables, figures and
        files use: `{"mine": MyPolicy(), "usual": ia.UCB()}`.
    bandit : the arms and their clean laws.
    attack : what the adversary does; None for nothing.
    horizon : rounds in a trial, >= 1.
    trials : independent repetitions, >= 1.
    seed : a whole number; None for a fresh one, which the result carries.
    workers : threads; None for one on each processor.
    checkpoints : the rounds at which regret is recorded; None for about 20 to a decade.
        The last is always the horizon.
    progress : show a progress bar on the terminal; None for yes, if there is one and
        the work takes over two seconds.
    sources : who sends the rewards; the attack's `rho` is then the share of corrupt
        sources. None: nobody says, and the coin is independent in each round.
    delay : how late rewards come; None: at once.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> attack = ia.OppositeUniform(rho=0.125, scale=1800)
    >>> result = ia.simulate(
    ...     [ia.MedEUCB(), ia.UCB()], bandit, attack, horizon=5000, trials=4, seed=7
    ... )
    >>> result.regret.shape == (2, 4, len(result.rounds))
    True
    >>> result.regret[0, :, -1].tolist()
    [3150.0, 3150.0, 3150.0, 3150.0]
    """
    names = _names(policies) if isinstance(policies, Mapping) else None
    if isinstance(policies, Mapping):
        policies = tuple(policies.values())
    several = isinstance(policies, Iterable) and not isinstance(policies, (Policy, str))
    chosen: tuple[Policy, ...] = tuple(policies) if several else (policies,)  # type: ignore[arg-type,assignment]
    for policy in chosen:
        require_policy(policy, ORDER)
    if not chosen:
        raise InvalidInput("policies is empty; give at least one, for example ia.MedEUCB().")
    twice = next((policy for i, policy in enumerate(chosen) if policy in chosen[:i]), None)
    if twice is not None:
        raise InvalidInput(
            f"{twice.label} is given twice; both would do exactly the same. Leave one out."
        )
    bandit = instance("a bandit", bandit, Bandit, "ia.GaussianBandit(means=[0, 1])", ORDER)
    with failures_of(type(bandit), "bandit"):
        finite_means(bandit.means)
        bandit.to_dict()  # the result needs it: refuse now, not after all trials
    attack = NoAttack() if attack is None else attack
    attack = instance("an attack or None", attack, Attack, "ia.OppositeUniform(rho=0.3)", ORDER)
    horizon = whole("horizon", horizon, at_least=1, below=2**48)
    trials = whole("trials", trials, at_least=1)
    seed = fresh_seed() if seed is None else whole("seed", seed)
    threads = (os.cpu_count() or 1) if workers is None else whole("workers", workers, at_least=1)
    rounds = checkpoint_rounds(horizon, checkpoints)
    _check_feedback(attack, sources, delay)

    # one more checkpoint marks the start of the last tenth, which decides whether a
    # trial is stuck; the 0 at the end is never reached
    opening = horizon - max(1, horizon // 10)
    inner = np.union1d(rounds, [opening] if opening else []).astype(np.int64)
    simulation = Simulation(
        chosen, bandit, attack, horizon, seed, np.append(inner, 0), sources, delay
    )
    shown = np.isin(inner, rounds)
    opened = int(np.searchsorted(inner, opening))
    regret = np.empty((len(chosen), trials, len(rounds)))
    optimal = np.empty_like(regret)
    pulls = np.zeros((len(chosen), trials, bandit.arms), np.int64)
    last_tenth = np.empty((len(chosen), trials))

    def one(trial: int) -> bool:
        if not own.trials.play(trial, stopped.is_set):
            return False
        for row, player in enumerate(own.trials.players):
            regret[row, trial] = player.regret[shown]
            optimal[row, trial] = player.optimal[shown]
            pulls[row, trial] = player.pulls
            # shares are counts over rounds, so rounding restores the counts
            before = round(player.optimal[opened] * opening) if opening else 0
            last_tenth[row, trial] = (round(player.optimal[-1] * horizon) - before) / (
                horizon - opening
            )
        return True

    stopped = threading.Event()
    own = _Own(simulation)
    with (
        progress
        if isinstance(progress, Progress)
        else Progress("simulating", trials, progress) as bar
    ):
        prepare(simulation, bar)
        started = time.perf_counter()
        _in_threads(one, trials, min(threads, trials), bar, stopped)
    return Result(
        policies=chosen,
        rounds=rounds,
        regret=regret,
        optimal=optimal,
        pulls=pulls,
        last_tenth=last_tenth,
        specification=specification(chosen, bandit, attack, horizon, trials, seed, sources, delay)
        | ({} if names is None else {"names": names}),
        seconds=time.perf_counter() - started,
    )


def _check_feedback(attack: Attack, sources: Sources | None, delay: Delay | None) -> None:
    """Refuse what is no description of feedback, and what does not go together."""
    if sources is not None:
        instance("sources", sources, Sources, "ia.Sources(400)")
    if delay is not None:
        instance("delay", delay, Delay, "ia.Delay(mean=50)")
    if sources is not None and attack.rho > 0 and round(attack.rho * sources.count) == 0:
        raise InvalidInput(
            f"rho = {attack.rho:g} of {sources.count} sources is less than one source, so none "
            "would be corrupt. Give more sources, a larger rho, or NoAttack."
        )
    if sources is not None and attack.burst > 0:
        raise InvalidInput(
            f"{type(attack).__name__} attacks in bursts, but with sources an attack depends on "
            "whether the source is corrupt; leave one of them out."
        )


def _names(policies: Mapping[str, Policy]) -> list[str]:
    for name in policies:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(
                f"the name of a policy must be text, got {name!r}; write for example "
                '{"mine": ia.MedEUCB(b=8)}.'
            )
    return list(policies)


class _Own(threading.local):
    """What each thread has for itself."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    @cached_property
    def trials(self) -> Trials:
        """Made when the first trial is played: a policy is compiled by then."""
        return Trials(self._simulation)


def prepare(simulation: Simulation, bar: Progress) -> None:
    """Compile what the policies need before the workers start.

    Refuses policies that do not fit the bandit.
    """
    compile_all(
        simulation.policies,
        simulation.adversary,
        simulation.bandit.arms,
        simulation.horizon,
        bar.compiling,
        (simulation.entry,),
    )
    _ = simulation.adversary.start  # refuses a bandit that the attack does not fit
    simulation.bandit.prepare(bar.compiling)
    bar.note("simulating")


def _in_threads(one: Any, trials: int, count: int, bar: Progress, stopped: threading.Event) -> None:
    """Run all trials; after an interrupt or an error, wait for the threads to end."""
    if count == 1:  # no threads: handing a trial over takes longer than starting it
        for trial in range(trials):
            one(trial)
            bar.advance()
            bar.refresh()
        return
    pool = ThreadPoolExecutor(count, thread_name_prefix="ironarm")
    waiting = iter(range(trials))
    running: set[Future[bool]] = set()
    try:
        for trial in waiting:
            running.add(pool.submit(one, trial))
            if len(running) >= 2 * count:
                running = _collect(running, bar)
        while running:
            running = _collect(running, bar)
    except BaseException:
        stopped.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _collect(running: set[Future[bool]], bar: Progress) -> set[Future[bool]]:
    # with a time-out: on some systems, waiting without one cannot be interrupted
    done, left = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
    for future in done:
        future.result()
        bar.advance()
    bar.refresh()
    return left


def checkpoint_rounds(horizon: int, checkpoints: Iterable[int] | None = None) -> np.ndarray:
    """Return the rounds at which results are recorded; the last is the horizon.

    By default there are 20 to a decade, and every power of ten is among them.

    >>> checkpoint_rounds(1000)[-3:].tolist()
    [794, 891, 1000]
    """
    if checkpoints is None:
        steps = range(PER_DECADE * len(str(horizon)))
        grid = [round(10 ** (k / PER_DECADE)) for k in steps]
        rounds = np.unique([t for t in grid if t < horizon])
    else:
        rounds = np.unique([whole("a checkpoint", t, at_least=1) for t in checkpoints])
        if len(rounds) and rounds[-1] > horizon:
            raise InvalidInput(
                f"checkpoints must not lie beyond the horizon {horizon}, got {int(rounds[-1])}."
            )
    return np.union1d(rounds, [horizon]).astype(np.int64)


def specification(
    policies: tuple[Policy, ...],
    bandit: Bandit,
    attack: Attack,
    horizon: int,
    trials: int,
    seed: int,
    sources: Sources | None = None,
    delay: Delay | None = None,
) -> dict[str, Any]:
    """Return everything that determines a result, as plain data."""
    feedback = {"sources": sources, "delay": delay}
    return {
        "policies": [policy.to_dict() for policy in policies],
        "bandit": bandit.to_dict(),
        "attack": attack.to_dict(),
        "horizon": horizon,
        "trials": trials,
        "seed": seed,
        "versions": {
            "ironarm": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": _numba_version(),
        },
        **{name: each.to_dict() for name, each in feedback.items() if each is not None},
    }


@cache
def _numba_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:  # what comes with ironarm runs without it
        return "not installed"
