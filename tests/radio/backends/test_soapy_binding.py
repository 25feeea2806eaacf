"""The error says what to do where SoapySDR is missing or cannot be loaded.

These tests need no package.
"""

import argparse
import sys

import pytest

from ironarm.commands.radio import probe
from ironarm.errors import MissingExtra
from ironarm.radio.backends.soapy_binding import soapy


@pytest.fixture
def without_soapy(monkeypatch):
    for name in ("SoapySDR", "_SoapySDR"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delenv("IRONARM_SOAPYSDR", raising=False)
    monkeypatch.setattr("ironarm.radio.backends.soapy_binding.FOLDERS", ())


@pytest.mark.usefixtures("without_soapy")
def test_where_soapy_is_missing_the_error_says_what_to_install(tmp_path, capsys):
    with pytest.raises(
        MissingExtra, match="apt-get install --no-install-recommends python3-soapysdr"
    ):
        soapy([str(tmp_path)])
    parser = argparse.ArgumentParser()
    probe.add(parser)
    assert probe.run(parser.parse_args([])) == 1
    assert "apt-get install" in capsys.readouterr().err
    (tmp_path / "SoapySDR.py").write_text("raise AssertionError")
    (tmp_path / "_SoapySDR.cpython-27-x86_64-linux-gnu.so").write_bytes(b"")
    with pytest.raises(
        MissingExtra, match=r"is for another Python .*cpython-27.*/usr/bin/python3 -m venv"
    ):
        soapy([str(tmp_path)])


@pytest.mark.usefixtures("without_soapy")
def test_a_binding_that_cannot_be_loaded_is_named(tmp_path, monkeypatch):
    (tmp_path / "SoapySDR.py").write_text("import _SoapySDR")
    (tmp_path / "_SoapySDR.so").write_bytes(b"not a library")
    monkeypatch.setattr("ironarm.radio.backends.soapy_binding.EXTENSION_SUFFIXES", [".so"])
    monkeypatch.setenv("IRONARM_SOAPYSDR", str(tmp_path))
    with pytest.raises(MissingExtra, match="is there but cannot be loaded"):
        soapy()
    assert "_SoapySDR" not in sys.modules
