"""Another process compiles, and runs nothing from the folder that it starts in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ironarm.engine import elsewhere


def write_down(request):
    """Tell what the other process was asked."""
    Path(request["to"]).write_text(json.dumps([request["said"], sys.path]))


@pytest.mark.parametrize("name", ["json", "importlib", "sitecustomize", "numpy"])
def test_code_in_the_current_folder_is_not_run(tmp_path, monkeypatch, name):
    """Not even if Python itself was started there, or was told to look there."""
    (tmp_path / f"{name}.py").write_text(
        "import os, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'ran')!r}).write_text('')\n"
        "raise SystemExit(1)\n"
    )
    monkeypatch.setattr(sys, "path", ["", ".", *sys.path])
    request = {"to": str(tmp_path / "told"), "said": [1, "a", float("inf")]}
    done = subprocess.run(
        elsewhere.command(write_down, request),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
    said, path = json.loads((tmp_path / "told").read_text())
    assert said == [1, "a", float("inf")]
    assert path == [entry for entry in sys.path if os.path.isabs(entry)]
