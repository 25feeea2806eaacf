"""Both sweeps, run without any disturbance, for the others to compare with."""

import pytest

from ironarm.lab.sweeps.file import read_sweep
from ironarm.lab.sweeps.sweep import run_sweep

from .examples import LONGER, SMALL, written


@pytest.fixture(scope="package")
def small(tmp_path_factory):
    """The small sweep, in one process."""
    folder = tmp_path_factory.mktemp("small")
    run_sweep(read_sweep(written(folder, SMALL)), folder / "out", workers=1)
    return folder / "out"


@pytest.fixture(scope="package")
def longer(tmp_path_factory):
    """The longer sweep, in two processes."""
    folder = tmp_path_factory.mktemp("longer")
    run_sweep(read_sweep(written(folder, LONGER)), folder / "out", workers=2)
    return folder / "out"
