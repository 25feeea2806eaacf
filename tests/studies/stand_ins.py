"""Stand-ins for `run_cell`, in a file of their own because workers import it."""

import os
import signal


def die(folder, cell, key):
    """A cell that needs more memory than there is."""
    os.kill(os.getpid(), signal.SIGKILL)


def pretend(folder, cell, key):
    """A worker that has another disk."""
    return key


def lack(folder, cell, key):
    """A worker without ironarm."""
    raise ModuleNotFoundError("No module named 'ironarm'", name="ironarm")


def not_read(folder, cell, key):
    """What Dask answers if its scheduler's machine has no ironarm."""
    raise RuntimeError("Error during deserialization of the task graph.")
