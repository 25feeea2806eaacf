"""The parts of joblib that its documentation does not promise, imported in one place.

A new release of joblib may move any of them, so `pyproject.toml` has an upper bound. To
raise the bound, run tests/lab/sweeps with the new release and adapt this file.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import joblib

from ...errors import IronarmError


def part(module: str, name: str) -> Any:
    """Return a part of joblib, or say which version lacks it."""
    try:
        return getattr(import_module(f"joblib.{module}"), name)
    except (ImportError, AttributeError) as error:
        raise IronarmError(
            f"sweeps do not support joblib {joblib.__version__} ({error}); expected a version that "
            "ironarm's extra 'study' allows. Install it with: pip install 'ironarm[study]'"
        ) from None


ThreadingBackend = part("_parallel_backends", "ThreadingBackend")
resource_tracker = part("externals.loky.backend", "resource_tracker")
ProcessPoolExecutor = part("externals.loky.process_executor", "ProcessPoolExecutor")
ShutdownExecutorError = part("externals.loky.process_executor", "ShutdownExecutorError")
TerminatedWorkerError = part("externals.loky.process_executor", "TerminatedWorkerError")
