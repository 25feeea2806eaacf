"""Finds SoapySDR's Python binding, which pip cannot install.

Debian's package puts two files into the system's Python, `SoapySDR.py` and
`_SoapySDR.*.so`. They also work in a virtual environment of the same Python version,
with any NumPy. Only these two are loaded from there: with the whole folder on the path,
the system's NumPy and all else could get in the way of the environment's own.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import Any

from ...errors import MissingExtra

INSTALL = "apt-get install --no-install-recommends python3-soapysdr"
FOLDER_VARIABLE = "IRONARM_SOAPYSDR"
FOLDERS = (
    "/usr/lib/python3/dist-packages",
    "/usr/local/lib/python3/dist-packages",
    "/usr/local/lib/python{0}.{1}/dist-packages",
    "/usr/lib/python{0}.{1}/site-packages",
)


def soapy(folders: Sequence[str] | None = None) -> ModuleType:
    """Return the module SoapySDR, or say what to do to have it.

    Parameters
    ----------
    folders : where to look if it cannot be imported; None for where Debian and others
        put it, and first the folder that the variable IRONARM_SOAPYSDR names.
    """
    if "SoapySDR" in sys.modules:
        return sys.modules["SoapySDR"]
    try:
        return importlib.import_module("SoapySDR")
    except ModuleNotFoundError as error:
        if error.name != "SoapySDR":
            raise _broken(error) from error
    except ImportError as error:
        raise _broken(error) from error
    named = os.environ.get(FOLDER_VARIABLE)
    places = [
        Path(folder.format(*sys.version_info))
        for folder in ([named] if named else []) + list(FOLDERS if folders is None else folders)
    ]
    found = [place for place in places if (place / "SoapySDR.py").is_file()]
    for place in found:
        for suffix in EXTENSION_SUFFIXES:
            if (place / f"_SoapySDR{suffix}").is_file():
                return _load(place, suffix)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if found:
        built = (
            ", ".join(sorted(path.name for path in found[0].glob("_SoapySDR*")))
            or "no _SoapySDR*.so"
        )
        raise MissingExtra(
            f"SoapySDR in {found[0]} is for another Python ({built}), this is Python {version}: "
            "make a virtual environment with the system's own, /usr/bin/python3 -m venv, and "
            "install ironarm there."
        )
    raise MissingExtra(
        f"radios need SoapySDR, which pip cannot install: {INSTALL} (as root), and the module of "
        "your radio, for example soapysdr-module-uhd. If it is installed elsewhere, name the "
        f"folder of SoapySDR.py and _SoapySDR*.so, built for Python {version}, in the variable "
        f"{FOLDER_VARIABLE}."
    )


def bounds(ranges: Any) -> list[list[float]]:
    """Return the lowest and the highest value of each range of SoapySDR."""
    return [[one.minimum(), one.maximum()] for one in ranges]


def bounds_text(bounds: list[list[float]], unit: float = 1.0) -> str:
    """Return bounds in words.

    >>> bounds_text([[20e3, 20e3], [100e3, 1250e3]], 1e3)
    '20, 100 to 1250'
    """
    return ", ".join(
        f"{low / unit:g}" if low == high else f"{low / unit:g} to {high / unit:g}"
        for low, high in bounds
    )


def _load(place: Path, suffix: str) -> ModuleType:
    loaded: list[str] = []
    try:
        for name, file in (("_SoapySDR", f"_SoapySDR{suffix}"), ("SoapySDR", "SoapySDR.py")):
            spec = importlib.util.spec_from_file_location(name, place / file)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            loaded.append(name)
            spec.loader.exec_module(module)
    except ImportError as error:
        for name in loaded:
            del sys.modules[name]
        raise _broken(error) from error
    return sys.modules["SoapySDR"]


def _broken(error: ImportError) -> MissingExtra:
    return MissingExtra(
        f"SoapySDR is there but cannot be loaded ({error}); install it again: {INSTALL} (as root)."
    )
