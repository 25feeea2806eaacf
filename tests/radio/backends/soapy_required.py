"""Skips a module's tests, loudly, where SoapySDR or the driver is not installed."""

import pytest

from ironarm.errors import MissingExtra
from ironarm.radio.backends.soapy_binding import soapy


def require_soapy():
    """Skip the calling module if SoapySDR is missing, and say what to install."""
    try:
        modules = soapy().listModules()
    except MissingExtra:
        modules = ()
    if not any("RedPitaya" in path for path in modules):
        pytest.skip(
            "NOT TESTED: radios through SoapySDR; apt-get install --no-install-recommends "
            "python3-soapysdr soapysdr-module-redpitaya (as root)",
            allow_module_level=True,
        )
