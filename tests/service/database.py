"""A PostgreSQL server of its own for a test or a benchmark, if one is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.service.running import free_port


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; Debian keeps them out of PATH."""
    found = shutil.which("pg_ctl")
    if found is not None:
        return Path(found).parent
    kept = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return kept[-1].parent if kept else None


class Database:
    """A server in a folder of its own, on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bin = programs()
        self.port = free_port()
        self.url = f"postgresql://ironarm@127.0.0.1:{self.port}/postgres"
        # PostgreSQL refuses to run as root
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user:
            owner = pwd.getpwnam(self._user)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        self._run("initdb", "-D", self._data, "-U", "ironarm", "-A", "trust", "--no-locale")

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._bin / program), *arguments],
            check=True,
            capture_output=True,
            user=self._user,
            cwd=self._folder,
        )

    def start(self) -> None:
        """Start the server."""
        settings = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self._folder}"
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", self._data, "-w", "-l", log, "-o", settings, "start")

    def stop(self, how: str = "immediate") -> None:
        """Stop it; `immediate` is as if it had been killed."""
        self._run("pg_ctl", "-D", self._data, "-m", how, "-w", "stop")


@contextmanager
def database() -> Iterator[Database | None]:
    """Yield a running server; None if PostgreSQL is not installed."""
    if programs() is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="ironarm-pg-") as folder:
        server = Database(Path(folder))
        server.start()
        try:
            yield server
        finally:
            try:
                server.stop()
            except subprocess.CalledProcessError:
                time.sleep(0.1)  # a test has stopped it


@contextmanager
def postgres() -> Iterator[str | None]:
    """Yield the address of a running server; None if PostgreSQL is not installed."""
    with database() as server:
        yield None if server is None else server.url
