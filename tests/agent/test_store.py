"""SQLite keeps the contract of stores; stores that do not are found out."""

import pytest

from ironarm.agent.sqlite import SqliteStore
from ironarm.errors import ContractFault
from ironarm.testing import check_store


def test_sqlite_keeps_it(tmp_path):
    """With two connections to one file."""
    check_store(lambda: SqliteStore.open(tmp_path / "logs.db", create=True))


class Rounding(SqliteStore):
    """Keeps numbers with few digits."""

    def insert(self, rows):
        super().insert([(*row[:6], row[6] and round(row[6], 3), *row[7:]) for row in rows])


class Floating(SqliteStore):
    """Keeps whole numbers as others, which are equal and are not the same."""

    def insert(self, rows):
        super().insert([(*row[:5], float(3) if row[5] == 3 else row[5], *row[6:]) for row in rows])


class Eager(SqliteStore):
    """Does not take back what a transaction has done."""

    def roll_back(self):
        if self.connection.in_transaction:
            self.commit()


class Lasting(SqliteStore):
    """Cuts nothing off."""

    def delete_after(self, agent, number):
        pass


class Hoarding(SqliteStore):
    """Keeps a snapshot of an entry that was never stored."""

    def keep_snapshot(self, agent, number, digest, stored):
        super().keep_snapshot(agent, number, self.hash_of(agent, number), stored)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Rounding, "it_returns_what_it_was_given: after"),
        (Floating, "it_returns_what_it_was_given: after"),
        (Eager, "it_keeps_all_of_a_transaction_or_nothing: after a roll_back"),
        (Lasting, "it_keeps_all_of_a_transaction_or_nothing: after a cut"),
        (Hoarding, r"it_keeps_the_latest_snapshot: a snapshot gives \[5\]"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_store_that_does_not_is_found_out(tmp_path, kind, message):
    """With the check that fails, what was expected and what came."""
    with pytest.raises(ContractFault, match=message):
        check_store(lambda: kind.open(tmp_path / "logs.db", create=True))
