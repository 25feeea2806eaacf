"""Stand-ins for `run_cell`, in a file of their own because workers import it."""

import os
import signal
import time
from pathlib import Path
from uuid import uuid4

from ironarm.lab.sweeps.sweep import run_cell


def die(folder, cell, key):
    """A cell that needs more memory than there is."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(folder, cell, key):
    """Leave a mark; the first cell kills its worker while the second is under way.

    The second goes on when a third has begun, which is after the kill.
    """
    place = Path(folder).parents[1]
    begun, killed = place / "begun", place / "killed"
    begun.mkdir(exist_ok=True)
    (begun / f"{key}.{uuid4()}").touch()
    while len(list(begun.iterdir())) < 2:
        time.sleep(0.01)
    try:
        with killed.open("x") as file:
            file.write(key)
        os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        while len(list(begun.iterdir())) < 3:
            time.sleep(0.01)
    return run_cell(folder, cell, key)


def count(folder, cell, key):
    """Leave a mark beside the sweep's folder."""
    marks = Path(folder).parents[1] / "runs"
    marks.mkdir(exist_ok=True)
    (marks / str(uuid4())).touch()
    return run_cell(folder, cell, key)


def stay(folder, cell, key):
    """Never end once a cell is finished, so that a test can disturb the sweep then."""
    while list(Path(folder).glob("[!.]*.npz")):
        time.sleep(0.01)
    return run_cell(folder, cell, key)


def print_much(folder, cell, key):
    """More than a pipe holds."""
    print("x" * 100_000)
    return run_cell(folder, cell, key)


def fail(folder, cell, key):
    """With an error that cannot be pickled."""
    raise Unsendable("too", "much")


class Unsendable(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def end_cluster(folder, cell, key):
    """Kill the process that started this one, in which Dask's scheduler runs."""
    os.kill(os.getppid(), signal.SIGKILL)


def pretend(folder, cell, key):
    """A worker that has another disk."""
    return key


def lack(folder, cell, key):
    """A worker without ironarm."""
    raise ModuleNotFoundError("No module named 'ironarm'", name="ironarm")


def not_read(folder, cell, key):
    """What Dask answers if its scheduler's machine has no ironarm."""
    raise RuntimeError("Error during deserialization of the task graph.")
