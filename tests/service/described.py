"""Does the service do what its description says? Schemathesis asks it.

    python -m tests.service.described --examples 200

It starts a service of its own on this machine, reads its OpenAPI document, and sends
what the document allows and what it does not: bounds of every field, wrong types, wrong
methods, random requests, lines, and chains of a decision and its reward.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ironarm as ia
from tests.service.serving import Service, serving

HERE = Path(__file__).parent
# a valid request may still be refused: for the policy's sake, or for what is stored
SETTINGS = """\
seed = 1
continue-on-failure = true
[parameters]
"path.agent" = "ads"
[[operations]]
include-operation-id = "archive"
parameters = { "path.agent" = "spare" }
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "410", "422", "429"]
# every text is a batch; each bad line has its own refusal in the answer
[[operations]]
include-operation-id = ["rewards", "observe"]
checks.negative_data_rejection.expected-statuses = ["2xx", "4xx"]
# a number for an arm is text in a path, and may be an arm's name
[[operations]]
include-operation-id = "remove_arm"
checks.negative_data_rejection.expected-statuses = ["2xx", "4xx"]
"""
EVENTS = "/v1/agents/{agent}/events"  # they never end


@contextmanager
def prepared(folder: Path, keys: bool) -> Iterator[Service]:
    """Start a service with agents that may be asked, changed and ended."""
    with serving(folder, keys=keys) as service:
        with ia.Client(service.url, service.admin) as client:
            client.create("ads", ia.RUCB(), arms=["red", "green", "blue"], seed=1)
            client.create("spare", ia.RUCB(), arms=["a"])
            client.create("lines", ia.RUCB(), arms=["red", "green"])
        yield service


def asked(
    service: Service, folder: Path, *options: str, capture: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run schemathesis against a service."""
    (folder / "schemathesis.toml").write_text(SETTINGS)
    key = [] if service.admin is None else ["--header", f"Authorization: Bearer {service.admin}"]
    return subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"),
            *("--exclude-path", EVENTS, "--checks", "all"),
            # a policy that is new here is compiled, which takes long on a busy machine
            *("--request-timeout", "180", "--max-response-time", "180"),
            *("--no-color", *key, *options),
        ],
        cwd=folder,
        env={
            **os.environ,
            "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
            "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
        },
        capture_output=capture,
        text=True,
    )


def main() -> int:
    """Ask, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--examples", type=int, default=200, help="of each operation")
    parser.add_argument("--keys", action="store_true", help="with a key for everything")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with prepared(folder / "service", options.keys) as service:
            run = asked(service, folder, "--max-examples", str(options.examples), capture=False)
            tracebacks = service.errors.read_text().count("Traceback")
    print(f"Tracebacks: {tracebacks}.")
    return 1 if run.returncode or tracebacks else 0


if __name__ == "__main__":
    sys.exit(main())
