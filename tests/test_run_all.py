"""`make test` keeps compiled code for the next run, and nothing for ever."""

import os
import time

import pytest

from tests.script import ROOT, script


@pytest.fixture(scope="module")
def run_all():
    """The script."""
    with script("run_all") as found:
        yield found


def test_compiled_code_is_kept_beside_the_users_own(run_all, tmp_path, monkeypatch):
    """Never in it; what nobody has used for a month goes."""
    monkeypatch.setenv("IRONARM_CACHE_DIR", str(tmp_path / "ironarm"))
    with run_all.compiled_code(cold=False) as folder:
        assert folder == tmp_path / "ironarm-test"
        assert folder.stat().st_mode & 0o077 == 0
        for name, days in (("old", 31), ("read", 29), ("new", 0)):
            (folder / name).write_text(name)
            then = time.time() - days * 86_400
            os.utime(folder / name, (then, time.time() - 100 * 86_400))
    with run_all.compiled_code(cold=False) as folder:
        assert sorted(path.name for path in folder.iterdir()) == ["new", "read"]


def test_a_cold_run_begins_with_nothing(run_all, tmp_path, monkeypatch):
    """And leaves nothing."""
    monkeypatch.setenv("IRONARM_CACHE_DIR", str(tmp_path / "ironarm"))
    with run_all.compiled_code(cold=True) as folder:
        assert list(folder.iterdir()) == []
        assert tmp_path not in folder.parents
    assert not folder.exists()


def test_every_test_is_part_of_a_step(run_all):
    """No file is left out because a step of its own was forgotten."""
    commands = [command for _, command, _ in run_all.STEPS]
    (rest,) = (command for command in commands if "tests/" in command)
    ignored = [word.removeprefix("--ignore=") for word in rest if word.startswith("--ignore=")]
    named = {word for command in commands if command is not rest for word in command}
    for left_out in ignored:
        assert left_out in named or left_out == "tests/test_lowest.py"  # tests/lowest.py runs it
        assert (ROOT / left_out).exists()
