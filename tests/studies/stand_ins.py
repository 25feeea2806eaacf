"""Stand-ins for `run_cell`, in a file of their own because workers import it."""

import os
import signal


def die(folder, cell, key):
    """A cell that needs more memory than there is."""
    os.kill(os.getpid(), signal.SIGKILL)


def pretend(folder, cell, key):
    """A worker that has another disk."""
    return key
