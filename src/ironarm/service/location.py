"""Where a service keeps its agents: a folder with SQLite, or a PostgreSQL database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..agent.sqlite import SqliteStore
from ..agent.store import Store
from ..errors import InvalidInput, StoreError

FILE = "ironarm.db"


@dataclass(frozen=True)
class StoreLocation:
    """A folder, or the address of a database."""

    folder: Path | None = None
    database: str | None = None

    def __post_init__(self) -> None:
        if (self.folder is None) == (self.database is None):
            raise InvalidInput("say where agents are kept: --data DIR, or --database URL.")
        if self.database is not None and not self.database.startswith(
            ("postgresql://", "postgres://")
        ):
            raise InvalidInput(
                "--database is an address such as postgresql://user@host/name; for SQLite use "
                "--data DIR."
            )

    @classmethod
    def of(cls, text: str) -> StoreLocation:
        """Return the place that a text names: a folder, a file or an address."""
        # messages show a folder's name, so nothing that is nearly an address is one
        if re.match("postgres(ql)?[:+]", text, re.IGNORECASE):
            return cls(database=text)
        return cls(Path(text))

    @property
    def _file(self) -> Path:
        """The SQLite file: one agent's own, or that of the service in its folder."""
        assert self.folder is not None
        return self.folder if self.folder.is_file() else self.folder / FILE

    def __str__(self) -> str:
        if self.folder is not None:
            return str(self._file)
        from .postgres import place_and_password

        return place_and_password(self.database or "")[0]

    @property
    def shared(self) -> bool:
        """Whether several nodes can use it."""
        return self.database is not None

    def open(self, create: bool = False) -> Store:
        """Connect to the store; with `create`, make it if it is not there."""
        if self.database is not None:
            from .postgres import PostgresStore

            return PostgresStore.open(self.database, create)
        assert self.folder is not None
        path = self._file
        if create:
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(
                    f"{path.parent} cannot be created: {error.strerror}. Choose another folder."
                ) from None
        elif not path.exists():
            raise StoreError(
                f"{self.folder} does not exist, or holds no agents. DurableAgent creates the file "
                f"of one agent, `ironarm serve --data {self.folder}` a folder of agents."
            )
        return SqliteStore.open(path, create, check=create)
