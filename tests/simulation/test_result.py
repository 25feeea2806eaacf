"""A result summarises, plots, saves and loads; a damaged file is refused."""

import json
import random
import tracemalloc
import zipfile

import numpy as np
import pytest

import ironarm as ia
from ironarm.simulation.summary import bootstrap_interval, summarise

BANDIT = ia.GaussianBandit(means=[0, 1, 2])


@pytest.fixture(scope="module")
def result():
    return ia.simulate(
        [ia.MedEUCB(), ia.UCB()],
        BANDIT,
        ia.OppositeUniform(rho=0.1),
        horizon=2000,
        trials=12,
        seed=3,
    )


def test_a_saved_result_loads_equal(result, tmp_path):
    """Arrays to the bit, policies, specification with seed and versions."""
    result.save(tmp_path / "r.npz")
    loaded = ia.Result.load(tmp_path / "r.npz")
    for name in ("rounds", "regret", "optimal", "pulls", "last_tenth", "stuck"):
        assert np.array_equal(getattr(result, name), getattr(loaded, name))
    assert result.policies == loaded.policies
    assert result.specification == loaded.specification
    assert loaded.specification["seed"] == 3
    assert {"ironarm", "python", "numpy", "numba"} <= loaded.specification["versions"].keys()
    assert str(result.summary()) == str(loaded.summary())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:200]), "damaged or not a result"),
        (lambda p: p.write_bytes(b"hello"), "damaged or not a result"),
        (lambda p: np.savez(p, x=np.zeros(3)), "not a result"),
        (
            lambda p: np.savez(
                p, header=np.array(json.dumps({"format": "ironarm result", "version": 99}))
            ),
            "newer",
        ),
        (
            lambda p: np.savez(
                p, header=np.array(json.dumps({"format": "ironarm result", "version": 1}))
            ),
            "damaged",
        ),
        (
            lambda p: np.savez(p, header=np.array([{"a": 1}], dtype=object)),
            "damaged or not a result",
        ),
        (lambda p: p.unlink(), "does not exist"),
    ],
)
def test_a_damaged_foreign_or_newer_file_is_refused(result, spoil, message, tmp_path):
    """Each with a sentence; pickled objects are never loaded."""
    path = tmp_path / "r.npz"
    result.save(path)
    spoil(path)
    with pytest.raises(ia.errors.BadFile, match=message):
        ia.Result.load(path)


def test_no_flipped_byte_escapes_as_another_error(result, tmp_path):
    """Every 97th byte inverted, one at a time: a result that loads, or `BadFile`."""
    path = tmp_path / "r.npz"
    result.save(path)
    whole = path.read_bytes()
    refused = 0
    for i in range(0, len(whole), 97):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 255]) + whole[i + 1 :])
        try:
            ia.Result.load(path)
        except ia.errors.BadFile:
            refused += 1
    assert refused > len(whole) // 97 // 2


def test_a_header_that_is_no_python_is_refused(result, tmp_path):
    """NumPy tokenizes an array's header, and lets the tokenizer's own errors out."""
    path = tmp_path / "r.npz"
    result.save(path)
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    parts["regret.npy"] = parts["regret.npy"].replace(b"{'descr'", b"{('descr")
    with zipfile.ZipFile(path, "w") as damaged:
        for name, data in parts.items():
            damaged.writestr(name, data)
    with pytest.raises(ia.errors.BadFile):
        ia.Result.load(path)


def test_arrays_that_do_not_fit_together_are_refused(result, tmp_path):
    """A file whose arrays were exchanged."""
    path = tmp_path / "r.npz"
    result.save(path)
    with np.load(path) as file:
        parts = dict(file)
    parts["rounds"] = parts["rounds"][:-1]
    np.savez(path, **parts)
    with pytest.raises(ia.errors.BadFile, match="do not fit"):
        ia.Result.load(path)


def test_the_summary_is_that_of_the_arrays(result):
    """Mean, median, quantile and shares, computed here again."""
    for i, row in enumerate(result.summary().rows):
        final = result.regret[i, :, -1]
        assert row.mean == pytest.approx(final.mean())
        assert row.median == np.median(final)
        assert row.q95 == np.quantile(final, 0.95)
        assert row.stuck == result.stuck[i].mean()
        assert row.low <= row.mean <= row.high


def test_the_bootstrap_interval_covers_the_mean_as_it_claims():
    """95 % intervals for 30 normal values.

    Coverage between 0.90 and 0.97 in 1000 repetitions (theory about 0.935; the bounds
    are over four standard errors away).
    """
    values = np.random.default_rng(1).normal(size=(1000, 30))
    low, high = bootstrap_interval(values)
    assert 0.90 < np.mean((low <= 0) & (0 <= high)) < 0.97


def test_pairs_are_compared_trial_by_trial():
    """A constant difference under common noise has an interval of no width."""
    noise = np.random.default_rng(2).normal(size=20)
    summary = summarise(
        ["a", "b"], np.array([noise, noise - 3]), np.ones((2, 20)), np.zeros((2, 20))
    )
    pair = summary.pairs[0]
    assert (pair.first, pair.second) == ("a", "b")
    assert [3, 3, 3] == pytest.approx([pair.difference, pair.low, pair.high])
    assert "first - second" in summary.pairs_table()


def test_the_frame_has_a_row_for_each_policy_trial_and_checkpoint(result):
    """The same numbers as the arrays."""
    frame = result.to_frame()
    assert len(frame) == result.regret.size
    picked = frame[(frame.policy == "UCB") & (frame.trial == 5)]
    assert picked.regret.tolist() == result.regret[1, 5].tolist()
    assert picked["round"].tolist() == result.rounds.tolist()


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_plot_is_written(result, suffix, tmp_path):
    """Each policy has a labelled line in both panels, in its own colour."""
    figure = result.plot(tmp_path / f"r.{suffix}")
    assert (tmp_path / f"r.{suffix}").stat().st_size > 5000
    above, below = figure.axes
    assert ["MedEUCB", "UCB"] == [line.get_label() for line in above.get_lines()]
    assert ["#0072B2", "#D55E00"] == [line.get_color() for line in below.get_lines()]
    assert np.allclose(above.get_lines()[0].get_ydata(), result.regret[0].mean(axis=0))


def test_a_result_of_an_unknown_policy_keeps_its_description(result, tmp_path):
    """A user's own policy whose code is not at hand."""
    result.save(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz") as file:
        parts = dict(file)
    header = json.loads(str(parts["header"]))
    header["specification"]["policies"][1] = {"policy": "Mine", "parameters": {"x": 1}}
    np.savez(tmp_path / "r.npz", **{**parts, "header": np.array(json.dumps(header))})
    loaded = ia.Result.load(tmp_path / "r.npz")
    assert ["MedEUCB", "Mine"] == loaded.labels
    assert "Mine" in str(loaded.summary())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("r.csv", r"ends in .npz, got .csv\. For a table, use to_frame\(\)\."),
        ("r", "ends in .npz, got no ending"),
        ("", "is a folder; name a file in it"),
    ],
)
def test_a_file_of_another_kind_is_not_written(result, name, message, tmp_path):
    """As on the command line."""
    with pytest.raises(ia.InvalidInput, match=message):
        result.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def rewritten(path, change, **arrays):
    """Write a result's file again, with another specification or other arrays."""
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    header = json.loads(str(parts["header"]))
    change(header["specification"])
    parts["header"] = np.array(json.dumps(header))
    np.savez_compressed(path, **{**parts, **arrays})


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec.pop("horizon"),
        lambda spec: spec.update(trials="12"),
        lambda spec: spec.pop("seed"),
        lambda spec: spec["policies"].__setitem__(0, {"policy": ["MedEUCB"], "parameters": {}}),
    ],
)
def test_what_is_read_can_be_shown(change, result, tmp_path):
    """A result without what its text needs is refused when it is read."""
    path = tmp_path / "r.npz"
    result.save(path)
    rewritten(path, change)
    with pytest.raises(ia.errors.BadFile, match="damaged"):
        ia.Result.load(path)


def test_arrays_of_texts_are_refused(result, tmp_path):
    """They have the right shape."""
    path = tmp_path / "r.npz"
    result.save(path)
    rewritten(path, lambda spec: None, last_tenth=result.last_tenth.astype(str))
    with pytest.raises(ia.errors.BadFile, match="does not say what was simulated"):
        ia.Result.load(path)


def test_a_small_file_cannot_become_gigabytes(result, tmp_path):
    """Neither by zeros that take no room, nor by a header that asks for them."""
    path = tmp_path / "r.npz"
    result.save(path)
    rewritten(path, lambda spec: None, pulls=np.zeros((2, 12, 2**19)))
    assert path.stat().st_size < 2**20
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    tracemalloc.start()
    try:
        with pytest.raises(ia.errors.BadFile, match="bytes would become"):
            ia.Result.load(path)
        parts["pulls.npy"] = parts["pulls.npy"][:4096]
        with zipfile.ZipFile(path, "w") as damaged:
            for name, data in parts.items():
                damaged.writestr(name, data)
        with pytest.raises(ia.errors.BadFile, match="is larger than what it holds"):
            ia.Result.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_no_damage_inside_a_member_escapes(result, tmp_path):
    """Bytes changed before they were packed: refused, or a result that can be shown."""
    path = tmp_path / "r.npz"
    result.save(path)
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    world = random.Random(1)
    read = 0
    for _ in range(300):
        name = world.choice(["header.npy", *parts])
        data = bytearray(parts[name])
        at = world.randrange(len(data) if name == "header.npy" else 128)
        data[at] = world.choice([data[at] ^ 1 << world.randrange(8), 0, 34, 91, 123])
        with zipfile.ZipFile(path, "w") as damaged:
            for each, whole in parts.items():
                damaged.writestr(each, bytes(data) if each == name else whole)
        try:
            loaded = ia.Result.load(path)
        except ia.errors.BadFile:
            continue
        read += 1
        assert repr(loaded)
        assert loaded._repr_html_()
    assert 0 < read < 300
