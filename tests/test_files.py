"""Files appear whole or not at all; JSON gets no infinities."""

import json
import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from ironarm.files import PIECE, json_pieces, json_ready, whole_file, write_whole


@pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED: file modes; Windows has none")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_usual_mode(tmp_path, mask):
    """The one that `open` gives it, whatever the umask is at that time."""
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "file", b"data")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask


def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path):
    """What was written until then is gone."""
    path = tmp_path / "file"
    write_whole(path, b"old")
    with pytest.raises(OverflowError), whole_file(path) as file:
        file.write((-1).to_bytes(1))
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])


def test_a_folder_that_does_not_exist_is_an_error():
    """Of the operating system."""
    with pytest.raises(FileNotFoundError):
        write_whole(Path("no such folder", "file"), b"")


def test_json_ready_replaces_every_infinity_and_nan():
    """At any depth, by text or by what the caller wants; the rest stays as it is."""
    data = {"a": [math.inf, {"b": (-math.inf, 1.5, 2, True, "inf", None)}], "c": math.nan}
    texts = {"a": ["inf", {"b": ["-inf", 1.5, 2, True, "inf", None]}], "c": "nan"}
    assert json_ready(data) == texts
    assert json_ready(data, lambda _: None)["a"][0] is None
    assert json.loads(json.dumps(json_ready(data), allow_nan=False)) == texts


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 3 * PIECE])
def test_json_pieces_are_the_json_of_the_whole(size):
    """Arrays are written as lists are, in pieces, with their infinities as texts."""
    numbers = np.linspace(-1, 1, size)
    numbers[::7] = -math.inf
    counts = np.arange(size)
    many = [counts[:2]] * (size + 1)
    data = {"a": [numbers, counts], "b": {"c": numbers}, "d": [], "e": [{}, "x"], "f": many}
    lists = {
        "a": [numbers.tolist(), counts.tolist()],
        "b": {"c": numbers.tolist()},
        "d": [],
        "e": [{}, "x"],
        "f": [counts[:2].tolist()] * (size + 1),
    }
    pieces = list(json_pieces(json_ready(data)))
    assert "".join(pieces) == json.dumps(json_ready(lists))
    assert max(map(len, pieces)) < 30 * PIECE
