"""Build the machine code that comes with ironarm, in src/ironarm/engine/shipped/.

    make objects                        what is missing, on all processors
    python release/objects.py --names   its names here, as JSON, without compiling

One object file for each entry point of each policy in its usual forms, of the attacks,
the tape and the radio. A file's name carries the hash of all the code that it was
compiled from, so after an edit only what changed is compiled. Lists say which file has
which hash, and under which name each version of Python looks for it: names depend on
bytecode, machine code does not.
"""

from __future__ import annotations

import glob
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.every_policy import USUAL  # noqa: E402

from ironarm.agent.input import estimator_for  # noqa: E402
from ironarm.attacks import ATTACKS  # noqa: E402
from ironarm.engine import adversary, objects, shipped  # noqa: E402
from ironarm.engine.entry_point import EntryPoint  # noqa: E402
from ironarm.engine.machine import Machine, compiled, machine_for  # noqa: E402
from ironarm.engine.state import LIVE_ENTRIES  # noqa: E402
from ironarm.engine.tape import draw_tape  # noqa: E402
from ironarm.errors import InvalidInput  # noqa: E402
from ironarm.extend import Attack, Policy  # noqa: E402
from ironarm.files import write_whole  # noqa: E402
from ironarm.naming.own_faults import constants_of  # noqa: E402
from ironarm.policies import SlidingMedUCB, SlidingWindowUCB  # noqa: E402
from ironarm.radio.signal import kernels  # noqa: E402
from ironarm.radio.signal.compiled_chain import CompiledChain  # noqa: E402
from ironarm.random import fill_open_uniform  # noqa: E402
from ironarm.simulation.progress import Progress  # noqa: E402

WINDOWS = (1000, 3000, 4000)
"""Sizes that our arenas use beside those of the tests; a layout has its size."""
SIMULATED = ("run", "run_observed", "run_late")


@cache
def machines() -> dict[str, tuple[Machine, tuple[str, ...]]]:
    """Return every machine, by name, with the entry points that are built."""
    found: dict[str, tuple[Machine, tuple[str, ...]]] = {}

    def add(policy: Policy, entries: Sequence[str], memory: str = "exact") -> None:
        machine = machine_for(policy, constants_of(policy, 10, 1000), estimator_for(policy, memory))
        if machine.estimator and machine.estimator.holds_rewards:
            entries = (*entries, "repack")
        estimator = machine.estimator.__name__ if machine.estimator else "none"
        sizes = [str(field.width) for field in machine.fields if field.width > 1]
        name = " ".join([machine.policy.__name__, estimator, *sizes])
        known = found.get(name, (machine, ()))[1]
        found[name] = machine, tuple(sorted({*known, *entries}))

    live = LIVE_ENTRIES
    windows = [kind(window=size) for size in WINDOWS for kind in (SlidingMedUCB, SlidingWindowUCB)]
    for policy in (*USUAL, *windows):
        add(policy, (*SIMULATED, *live))
        add(policy.mirrored(), live)
        with suppress(InvalidInput):  # it needs all rewards
            add(policy, live, "bounded")
    return found


def attacks() -> Iterator[Attack]:
    """Yield every attack."""
    for kind in ATTACKS.values():
        yield kind(rho=0.1)


def of_arrays() -> Iterator[EntryPoint]:
    """Yield what takes arrays: the tape's numbers and the radio's kernels."""
    words, floats = np.zeros(4, np.uint64), np.zeros(3)
    last, coin = np.zeros(1, np.int64), np.zeros(1, np.uint8)
    tape = (words, words, 0.5, True, 0.0, last, floats, coin, floats)
    yield compiled(draw_tape).entry_point(*tape)
    yield compiled(fill_open_uniform).entry_point(words, floats)
    chain, small = CompiledChain(), np.zeros(1, np.float32)
    packets = (words, last, floats, floats, floats, floats)
    yield compiled(kernels.measure).entry_point(chain.tables, chain.workspace(), *packets)
    windows = (chain.tables, chain.workspace(), small, small, floats)
    yield compiled(kernels.measure_windows).entry_point(*windows)
    symbols = (words, 0.5, 0.5, 0.5, small, last, floats)
    yield compiled(kernels.measure_symbols).entry_point(*symbols)


@cache
def entry_points() -> dict[str, dict[str, EntryPoint]]:
    """Return what is built: by what shares helpers, and by a name for all Pythons."""
    groups: dict[str, dict[str, EntryPoint]] = {
        kind: {f"{kind} {entry}": machine.entry_point(entry) for entry in entries}
        for kind, (machine, entries) in machines().items()
    }
    groups["attacks"] = {
        f"{type(attack).__name__} {entry.label}": entry
        for attack in attacks()
        for entry in adversary.entry_points(attack)
    }
    groups["arrays"] = {
        f"{entry.label} v{level}": replace(entry, level=level)
        for entry in of_arrays()
        for level in (objects.USUAL, objects.NEWER)
    }
    return groups


def names() -> dict[str, str]:
    """Return under which name this Python looks for each entry point."""
    return {
        shared: entry.name for group in entry_points().values() for shared, entry in group.items()
    }


def build(group: str, wanted: Sequence[str]) -> None:
    """Compile these entry points of a group into the folder."""
    for shared in wanted:
        entry = entry_points()[group][shared]
        name = entry.name
        write_whole(shipped.place() / f"{name}{shipped.ENDING}", entry.compiled(name))


def missing() -> dict[str, list[str]]:
    """Return what is not yet built, by group."""
    found = defaultdict(list)
    for group, entries in entry_points().items():
        for shared, entry in entries.items():
            name = entry.name
            damaged = shipped.has(name) and shipped.read(name) is None
            if damaged or not (shipped.place() / f"{name}{shipped.ENDING}").exists():
                found[group].append(shared)
    return found


def build_missing(bar: Progress) -> None:
    """Compile what is missing, a group at a time in each process."""
    todo = missing()
    bar.restart(sum(map(len, todo.values())))
    shipped.place().mkdir(parents=True, exist_ok=True)
    # started anew, the processes have no threads
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        # the largest first, so that all processors are busy to the end
        largest = sorted(todo, key=lambda group: -len(todo[group]))
        running = {pool.submit(build, group, todo[group]): group for group in largest}
        try:
            for done in as_completed(running):
                done.result()
                bar.advance(len(todo[running[done]]))
                bar.note(f"built {running[done].split()[0]}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def write_lists(pythons: dict[str, dict[str, str]]) -> None:
    """Write the list of each Python, and remove what none of them names.

    `pythons`: names by tag of the Python, and by the name that all share.
    """
    mine = names()
    files = {shared: f"{name}{shipped.ENDING}" for shared, name in mine.items()}
    hashes = {
        shared: hashlib.sha256((shipped.place() / file).read_bytes()).hexdigest()
        for shared, file in files.items()
    }
    for tag, theirs in {str(sys.implementation.cache_tag): mine, **pythons}.items():
        rows = {theirs[shared]: [files[shared], hashes[shared]] for shared in sorted(mine)}
        lines = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(rows.items()))
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        write_whole(shipped.list_for(tag), text.encode())
    tags = {str(sys.implementation.cache_tag), *pythons}
    for path in shipped.place().iterdir():
        if path.name not in files.values() and path.stem not in tags:
            path.unlink()


def other_pythons() -> Iterator[str]:
    """Yield the other versions of Python, of those in pyproject.toml, that are here.

    Say which are not: with these, an install of the wheel compiles.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for line in project["classifiers"]:
        version = line.rpartition(" ")[2]
        if "." not in version or version == f"{sys.version_info.major}.{sys.version_info.minor}":
            continue
        pyenv = glob.glob(str(Path.home() / f".pyenv/versions/{version}.*/bin/python"))
        for candidate in (shutil.which(f"python{version}"), *pyenv):
            if candidate and subprocess.run([candidate, "-V"], capture_output=True).returncode == 0:
                yield candidate
                break
        else:
            print(f"Python {version} is not here, so there is no list for it", file=sys.stderr)


def names_in(python: str) -> dict[str, dict[str, str]]:
    """Return the names under which another Python looks, by its tag."""
    command = [sys.executable, "-m", "uv", "run", "--quiet", "--no-project", "--isolated"]
    command += ["--python", python, "--with", "numpy", "--with", "scipy", "python", __file__]
    done = subprocess.run([*command, "--names"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(f"no names for {python}: {done.stderr.strip()}", file=sys.stderr)
        return {}
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


def main() -> int:
    """Build what is missing, or print names."""
    if "--names" in sys.argv[1:]:
        json.dump({str(sys.implementation.cache_tag): names()}, sys.stdout)
        return 0
    from ironarm.engine.jit import knows_the_fast_way  # needs Numba, which names do not

    if not knows_the_fast_way():
        raise SystemExit("this release of Numba is unknown, so nothing can be built with it")
    if not shipped.AS_SHIPPED:
        raise SystemExit("unset the NUMBA_ and IRONARM_ variables that change what is compiled")
    with Progress("building machine code", 1, True) as bar:
        bar.announce("looking for machine code that is missing")
        build_missing(bar)
    pythons: dict[str, dict[str, str]] = {}
    for python in other_pythons():
        pythons |= names_in(python)
    write_lists(pythons)
    print(f"{len(names())} entry points in {shipped.place().relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
