"""Scenarios follow their specs, and are the same on every machine."""

import dataclasses
import json
import math

import numpy as np
import pytest

from ironarm.errors import BadFile
from ironarm.lab.scenarios.file import as_text, digest, known_sum, read_scenario
from ironarm.lab.scenarios.scenario import make_scenario
from ironarm.lab.scenarios.spec import read_spec, shipped


@pytest.mark.parametrize("name", shipped())
def test_ours_are_those_that_were_published(name):
    """The hash of the whole file; the first and the last seed."""
    for seed in (1, 20):
        text = as_text(make_scenario(read_spec(name), seed))
        assert known_sum(name, seed) == digest(text)


def test_clean_readings_have_the_medians_and_the_spread():
    """2,000 of each; each check fails with probability below 1e-5 (4.5 sigma)."""
    scenario = make_scenario(read_spec("calm"), 3)
    logs = np.log(np.array(scenario.readings))
    limit = 4.5 * 0.3 / math.sqrt(2000)
    assert np.abs(logs.mean(axis=0) - np.log([0.5, 0.75, 1.0, 1.25, 1.5])).max() < limit
    assert np.abs(logs.std(axis=0) - 0.3).max() < limit
    assert all(told == [0] * 5 for told in scenario.after)


def test_corruption_hits_its_share_and_its_victims():
    """One coin for each request: all deployments are hit, or none."""
    spec = read_spec("fail-fast")
    clean = make_scenario(dataclasses.replace(spec, corrupt=()), 5)
    scenario = make_scenario(spec, 5)
    assert not np.any(np.array(clean.readings) > 25)
    best, others = np.array(scenario.readings)[:, 0], np.array(scenario.readings)[:, 1:]
    stalls, pages = best >= 30, others == 0.01
    assert ((best[stalls] >= 30) & (best[stalls] <= 60)).all()
    for hit in (stalls, pages.all(axis=1)):
        assert abs(hit.mean() - 0.1) < 4.5 * math.sqrt(0.09 / 2000)
    untouched = ~stalls & ~pages.any(axis=1)
    assert np.array(clean.readings)[untouched].tolist() == (
        np.array(scenario.readings)[untouched].tolist()
    )


def test_suppression_takes_what_contradicts():
    """Good outcomes of the best, bad ones of the others, and nothing else."""
    spec = read_spec("suppressed")
    only = dataclasses.replace(spec, corrupt=spec.corrupt[:1])
    scenario = make_scenario(only, 2)
    for row, told in zip(scenario.readings, scenario.after, strict=True):
        for k, (reading, after) in enumerate(zip(row, told, strict=True)):
            if after is None:
                assert (reading < 0.5) if k == 0 else (reading >= spec.deployments[k].at(1))
    missing = np.mean([after is None for told in scenario.after for after in told])
    assert abs(missing - 0.15) < 4.5 * math.sqrt(0.3 * 0.7 / 4 / 2000)


def test_delays_have_their_mean_and_some_never_come():
    """Geometric, mean 50; one in ten is lost. 4.5 sigma each."""
    scenario = make_scenario(read_spec("delayed"), 4)
    after = [x for told in scenario.after for x in told]
    come = np.array([x for x in after if x is not None])
    n = len(after)
    assert abs(1 - len(come) / n - 0.1) < 4.5 * math.sqrt(0.09 / n)
    assert abs(come.mean() - 50) < 4.5 * math.sqrt(50 * 51 / len(come))
    assert come.min() == 0


def test_a_file_holds_everything(tmp_path):
    """Read again, it is the same scenario."""
    for name in ("delayed", "new-deployment", "degradation"):
        scenario = make_scenario(read_spec(name), 7)
        path = tmp_path / "x.jsonl"
        path.write_text(as_text(scenario))
        assert scenario == read_scenario(path)
    assert scenario.excess()[999][0] == 0
    assert scenario.excess()[1000][:2] == [1.25, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "it has 1999 requests, and its head says 2000"),
        (lambda rows: [{**rows[0], "version": 2}, *rows[1:]], "version 2 of the format"),
        (lambda rows: [{**rows[0], "format": "x"}, *rows[1:]], "is not a scenario"),
        (lambda rows: [{**rows[0], "goal": "x"}, *rows[1:]], "goal must be"),
        (lambda rows: [{**rows[0], "clean": []}, *rows[1:]], '"clean" needs'),
        (lambda rows: [rows[0], rows[2], rows[1], *rows[3:]], "request 1 needs"),
        (lambda rows: [rows[0], {"request": 1, "readings": ["a"] * 5}, *rows[2:]], "not a finite"),
        (lambda rows: [rows[0], {**rows[1], "readings": [1e999] * 5}, *rows[2:]], "not a finite"),
        (lambda rows: [{**rows[0], "deployments": []}, *rows[1:]], "no deployments"),
        (lambda rows: [rows[0], {**rows[1], "after": [-1] * 5}, *rows[2:]], 'bad list "after"'),
        (lambda rows: [], "is not a scenario"),
    ],
)
def test_a_damaged_file_is_refused(change, message, tmp_path):
    """With a sentence."""
    rows = [json.loads(line) for line in as_text(make_scenario(read_spec("calm"), 1)).splitlines()]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, change(rows))))
    with pytest.raises(BadFile, match=message):
        read_scenario(path)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    """Or not there."""
    path = tmp_path / "x.jsonl"
    with pytest.raises(BadFile, match="cannot be read"):
        read_scenario(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadFile, match="not JSON lines"):
        read_scenario(path)
    path.write_text("[" * 10**5 + "]" * 10**5)
    with pytest.raises(BadFile, match="nested too deeply"):
        read_scenario(path)
