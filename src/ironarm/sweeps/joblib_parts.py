"""The parts of joblib that its documentation does not promise, imported in one place.

A new release of joblib may move any of them, so `pyproject.toml` has an upper bound. To
raise the bound, run tests/sweeps with the new release and adapt this file.
"""

from __future__ import annotations

from typing import Any

import joblib

from ..errors import IronarmError


def _moved(error: ImportError) -> IronarmError:
    return IronarmError(
        f"sweeps do not know joblib {joblib.__version__} ({error}); expected a version that "
        "ironarm's extra 'study' allows. Install it with: pip install 'ironarm[study]'"
    )


try:
    from joblib._parallel_backends import ThreadingBackend
    from joblib.externals.loky.backend import resource_tracker
    from joblib.externals.loky.process_executor import (
        ProcessPoolExecutor,
        ShutdownExecutorError,
        TerminatedWorkerError,
    )
except ImportError as error:
    raise _moved(error) from None

__all__ = [
    "ProcessPoolExecutor",
    "ShutdownExecutorError",
    "TerminatedWorkerError",
    "ThreadingBackend",
    "dask_backend",
    "resource_tracker",
]


def dask_backend() -> Any:
    """Return joblib's backend class for Dask; this loads Dask, which is slow."""
    try:
        from joblib._dask import DaskDistributedBackend
    except ImportError as error:
        raise _moved(error) from None
    return DaskDistributedBackend
