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
    """Leave a mark; the first cell kills its worker while the second is under way."""
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
        time.sleep(1 if len(list(begun.iterdir())) == 2 else 0)
    return run_cell(folder, cell, key)


def pretend(folder, cell, key):
    """A worker that has another disk."""
    return key


def lack(folder, cell, key):
    """A worker without ironarm."""
    raise ModuleNotFoundError("No module named 'ironarm'", name="ironarm")


def not_read(folder, cell, key):
    """What Dask answers if its scheduler's machine has no ironarm."""
    raise RuntimeError("Error during deserialization of the task graph.")
