"""The tables of a sweep hold what was simulated, and every reader understands them."""

import duckdb
import pandas
import polars
import pytest

import ironarm as ia
from ironarm.cli import main

from .test_file import EXAMPLE, documented


def test_the_tables_hold_what_simulate_returns(small):
    """Trial by trial and checkpoint by checkpoint."""
    result = ia.simulate(
        ia.UCB(alpha=2),
        ia.GaussianBandit([0.5, 1, 1.5]),
        ia.Infinite(rho=0.3),
        horizon=500,
        trials=4,
        seed=3,
    )
    where = (
        "policy == 'UCB' and policy_alpha == 2 and attack == 'Infinite' and rho == 0.3 and gap == "
        "0.5"
    )
    trials = pandas.read_parquet(small / "trials.parquet").query(where)
    assert [0, 1, 2, 3] == trials["trial"].tolist()
    assert result.regret[0, :, -1].tolist() == trials["regret"].tolist()
    assert result.optimal[0, :, -1].tolist() == trials["optimal"].tolist()
    assert result.last_tenth[0].tolist() == trials["last_tenth"].tolist()
    assert result.stuck[0].tolist() == trials["stuck"].tolist()
    checkpoints = pandas.read_parquet(small / "checkpoints.parquet").query(where)
    assert result.rounds.tolist() == checkpoints["round"].tolist()
    assert result.regret[0].mean(axis=0) == pytest.approx(
        checkpoints["regret_mean"].to_numpy(), rel=1e-12
    )
    row, last = result.summary().rows[0], checkpoints.iloc[-1]
    expected = (row.mean, row.low, row.high, row.median, row.q95, row.optimal, row.stuck)
    columns = [
        "regret_mean",
        "regret_low",
        "regret_high",
        "regret_median",
        "regret_q95",
        "optimal_mean",
        "stuck_share",
    ]
    assert expected == pytest.approx(tuple(last[columns].astype(float)), rel=1e-12)


def test_pandas_polars_and_duckdb_read_the_same(small):
    """Without options, the same names, values and gaps; no column is nested."""
    for name in ("trials.parquet", "checkpoints.parquet"):
        path = small / name
        by_pandas = pandas.read_parquet(path)
        by_polars = polars.read_parquet(path)
        by_duckdb = duckdb.sql(f"select * from '{path}'")
        rows = by_polars.rows()
        assert rows == by_duckdb.fetchall()
        assert by_pandas.columns.tolist() == by_polars.columns == by_duckdb.columns
        assert rows == [
            tuple(None if pandas.isna(value) else value for value in row)
            for row in by_pandas.itertuples(index=False, name=None)
        ]
        assert set(by_polars.dtypes) <= {
            polars.String,
            polars.Float64,
            polars.Int64,
            polars.Boolean,
        }
    assert ["(0.0, 4.0)"] == by_polars["policy_reward_range"].drop_nulls().unique().to_list()


def test_the_documented_example_runs(tmp_path, monkeypatch, capsys):
    """As the documentation says, with fewer trials.

    Many cells are shown by the best of each setting, and the query in the documentation
    has an answer for each.
    """
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", str(EXAMPLE), "--trials", "1", "--workers", "1"]) == 0
    assert "the best of 48 cells in each setting" in capsys.readouterr().out
    assert len(duckdb.sql(documented("sql")).fetchall()) == 4  # two rho, two gaps
