"""Frames of pandas, polars and Arrow go in and come out."""

import random
import sys

import narwhals
import numpy as np
import pytest

import ironarm as ia

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
dask = pytest.importorskip("dask.dataframe")

DATA = {"arm": ["x", "y", "x", "y"], "reward": [1.0, 4.0, 3.0, 6.0], "other": [0, 0, 0, 0]}


class OnlyStream:
    """What another library gives: nothing but Arrow's stream."""

    def __init__(self, data):
        self.__arrow_c_stream__ = pyarrow.table(data).__arrow_c_stream__


class OnlyInterchange:
    """What an older library gives: nothing but the interchange protocol."""

    def __init__(self, data):
        self.__dataframe__ = pyarrow.table(data).__dataframe__


class Derived(pandas.DataFrame):
    """What GeoPandas gives: a class from elsewhere that derives from that of pandas."""


MAKERS = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "lazy": polars.LazyFrame,
    "arrow": pyarrow.table,
    "stream": OnlyStream,
    "interchange": OnlyInterchange,
    "record batch": pyarrow.record_batch,
    "reader": lambda data: pyarrow.table(data).to_reader(),
    "duckdb": lambda data: duckdb.from_arrow(pyarrow.table(data)),
    "dask": lambda data: dask.from_pandas(pandas.DataFrame(data), npartitions=2),
    "subclass": Derived,
    "narwhals": lambda data: narwhals.from_native(polars.DataFrame(data)),
}
every_kind = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@every_kind
def test_a_replay_bandit_takes_a_frame(make):
    bandit = ia.ReplayBandit(make(DATA))
    assert bandit.names == ["x", "y"]
    assert bandit.means.tolist() == [2.0, 5.0]
    assert (
        bandit.to_dict() == ia.ReplayBandit(zip(DATA["arm"], DATA["reward"], strict=True)).to_dict()
    )


@every_kind
def test_an_agent_starts_from_a_frame(make):
    """Names in capital letters, arms that are numbers."""
    agent = ia.Agent(ia.RUCB(), arms=[0, 1], seed=1)
    agent.warm_start(make({"Arm": [0, 1, 1], "REWARD": [1, 2, 4]}))
    assert agent.rewards == {0: 1, 1: 2}
    assert agent.decisions == 3


@every_kind
def test_certify_takes_a_frame(make):
    """The same certificate as from pairs."""
    noise = random.Random(1)
    log = [(name, noise.gauss(mean, 1)) for name, mean in (("a", 0), ("b", 4)) for _ in range(50)]
    frame = make({"arm": [arm for arm, _ in log], "reward": [reward for _, reward in log]})
    given = ia.certify(frame, rho=0.1)
    assert given.to_dict() == ia.certify(ia.ReplayBandit(log), rho=0.1).to_dict()


@every_kind
def test_missing_columns_get_a_sentence(make):
    for data in ({"arm": ["x"], "rewards": [1.0]}, {"a": ["x"], "reward": [1.0]}):
        with pytest.raises(ia.InvalidInput, match="must have the columns 'arm' and 'reward', got"):
            ia.ReplayBandit(make(data))


@every_kind
def test_missing_values_get_a_sentence(make):
    with pytest.raises(ia.InvalidInput, match="row 2 of the data frame has no reward"):
        ia.ReplayBandit(make({"arm": ["x", "y"], "reward": [1.0, None]}))
    with pytest.raises(ia.InvalidInput, match="row 1 of the data frame has no arm"):
        ia.ReplayBandit(make({"arm": [None, "y"], "reward": [1.0, 2.0]}))


def test_columns_that_differ_only_in_case_are_refused():
    """Unless one is exactly right."""
    with pytest.raises(ia.InvalidInput, match="2 columns called 'arm'"):
        ia.ReplayBandit(pandas.DataFrame([["x", "y", 1.0]], columns=["Arm", "ARM", "reward"]))
    frame = pandas.DataFrame([["x", "y", 1.0]], columns=["Arm", "arm", "reward"])
    assert ia.ReplayBandit(frame).names == ["y"]


REPEATED = [["x", 0, 0, 1.0], ["y", 0, 0, 2.0]]
KINDS_THAT_REPEAT = {
    "pandas": lambda names: pandas.DataFrame(REPEATED, columns=names),
    "arrow": lambda names: pyarrow.table(list(zip(*REPEATED, strict=True)), names=names),
    "reader": lambda names: KINDS_THAT_REPEAT["arrow"](names).to_reader(),
    "stream": lambda names: OnlyStream(KINDS_THAT_REPEAT["arrow"](names)),
    "duckdb": lambda names: duckdb.sql(
        "select " + ", ".join(f"c{i} as {name}" for i, name in enumerate(names)) + " from "
        "(values ('x', 0, 0, 1.0), ('y', 0, 0, 2.0)) as t(c0, c1, c2, c3)"
    ),
}


@pytest.mark.parametrize("make", KINDS_THAT_REPEAT.values(), ids=KINDS_THAT_REPEAT)
def test_other_columns_may_share_a_name(make):
    """As after a join. The two that are read may not."""
    assert ia.ReplayBandit(make(["arm", "other", "other", "reward"])).means.tolist() == [1, 2]
    with pytest.raises(ia.InvalidInput, match="2 columns called 'arm'"):
        ia.ReplayBandit(make(["arm", "arm", "other", "reward"]))
    with pytest.raises(ia.InvalidInput, match="'arm' and 'reward', got other, other, x, reward"):
        ia.ReplayBandit(make(["other", "other", "x", "reward"]))


def test_a_frame_of_pandas_keeps_what_arrow_cannot_hold():
    """Arms that are text and numbers, and names that are no text."""
    for kind in (pandas.DataFrame, Derived):
        bandit = ia.ReplayBandit(kind({"arm": ["x", 1], "reward": [1, 2], 7: [0, 0]}))
        assert bandit.names == ["x", 1]


MARKS = (None, float("nan"), pandas.NA, pandas.NaT)


@pytest.mark.parametrize("mark", MARKS, ids=repr)
def test_every_mark_of_a_missing_value_is_known(mark):
    frame = pandas.DataFrame({"arm": pandas.Series(["x", mark], dtype=object), "reward": [1, 2]})
    with pytest.raises(ia.InvalidInput, match="row 2 of the data frame has no arm"):
        ia.ReplayBandit(frame)


class Unreadable:
    """It says that it speaks a protocol, and does not."""

    def __init__(self, protocol):
        setattr(self, protocol, self.fail)

    def fail(self, *_, **__):
        raise NotImplementedError("not today")


@pytest.mark.parametrize("protocol", ["__arrow_c_stream__", "__dataframe__"])
def test_what_cannot_be_read_gets_a_sentence(protocol, monkeypatch):
    with pytest.raises(ia.InvalidInput, match=r"an? Unreadable, cannot be read \(not today\)"):
        ia.ReplayBandit(Unreadable(protocol))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ia.errors.MissingExtra, match=r"of the type Unreadable needs .*'study'"):
        ia.ReplayBandit(Unreadable(protocol))


def test_without_pyarrow_pandas_and_polars_are_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for kind in (pandas.DataFrame, Derived, polars.DataFrame, polars.LazyFrame):
        assert ia.ReplayBandit(kind(DATA)).means.tolist() == [2.0, 5.0]


def test_a_csv_file_may_have_capital_letters(tmp_path):
    (tmp_path / "log.csv").write_text("Reward,Arm\n1,x\n2,y\n")
    assert ia.ReplayBandit(tmp_path / "log.csv").names == ["x", "y"]


def test_a_result_as_a_frame_of_each_kind():
    """The same rows; the policies are categories, in order."""
    result = ia.simulate(
        {"b": ia.UCB(), "a": ia.RUCB()}, ia.GaussianBandit([0, 1]), horizon=50, trials=2, seed=1
    )
    usual = result.to_frame()
    assert usual["policy"].cat.categories.tolist() == ["b", "a"]
    for frame in (result.to_frame("polars"), polars.from_arrow(result.to_frame("arrow"))):
        assert frame["policy"].to_list() == usual["policy"].tolist()
        for name in ("trial", "round", "regret", "optimal"):
            assert np.array_equal(frame[name].to_numpy(), usual[name].to_numpy())
    assert result.to_frame("arrow").column_names == list(usual.columns)
    with pytest.raises(ia.InvalidInput, match="Did you mean 'polars'"):
        result.to_frame("polar")
