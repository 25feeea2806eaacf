"""The tables of docs/policies.md, from what the policies say of themselves.

A page holds them between `<!-- table: NAME -->` and `<!-- end of the table -->`. This
writes them there:

    python docs/make/policy_tables.py
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from ironarm.commands.listing import parameters_of
from ironarm.policies import POLICIES
from ironarm.policy import Policy

PAGE = Path(__file__).parent.parent / "policies.md"
PLACE = re.compile(r"(<!-- table: ([^>]*) -->\n).*?(<!-- end of the table -->\n)", re.DOTALL)


def with_tables(page: str) -> str:
    """Return a page with its tables as they are now.

    >>> with_tables("no table")
    'no table'
    """
    return PLACE.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n{found[3]}", page)


def by_rule() -> str:
    """Return the table of rules and estimators, and a list of the other policies.

    An estimator that only one rule uses has no column.
    """
    rules: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    users: dict[str, set[str]] = defaultdict(set)
    for name, kind in POLICIES.items():
        rule, estimator = kind.family
        rules[rule][estimator].append(f"`{name}`")
        users[estimator].add(rule)
    columns = [estimator for estimator in users if len(users[estimator]) > 1]
    rows = [
        (rule, *(", ".join(cells.get(column, ())) for column in columns))
        for rule, cells in rules.items()
        if not cells.keys().isdisjoint(columns)
    ]
    others = [
        f"- {rule}: " + "; ".join(f"{', '.join(names)} ({on})" for on, names in rest.items())
        for rule, cells in rules.items()
        if (rest := {on: names for on, names in cells.items() if on not in columns})
    ]
    end = "\nThe others, and what they judge an arm by:\n\n" if others else ""
    return markdown(("rule / estimator", *columns), rows) + end + "".join(f"{o}\n" for o in others)


def by_use() -> str:
    """Return the table that says when to use which policy."""
    return markdown(
        ("policy", "use when"),
        [(calls(name, kind), in_markdown(kind)) for name, kind in POLICIES.items()],
    )


TABLES: dict[str, Callable[[], str]] = {
    "policies by rule and estimator": by_rule,
    "policies by use": by_use,
}


def markdown(head: Iterable[str], body: Iterable[Iterable[str]]) -> str:
    """Return a table.

    >>> print(markdown(["a", "b"], [["1", "2"]]), end="")
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    first, *rest = (f"| {' | '.join(row)} |\n" for row in (head, *body))
    return first + re.sub("[^|\n]+", "---", first) + "".join(rest)


def calls(name: str, kind: type[Policy]) -> str:
    """Return how a policy is made, with the defaults; also by `for_rho`.

    >>> calls("MedEUCB", POLICIES["MedEUCB"])
    '`MedEUCB(b=4, omega=4, block=None)`, or `MedEUCB.for_rho(rho)`'
    """
    given = ", ".join(
        parameter if default is None else f"{parameter}={default}"
        for parameter, default in parameters_of(kind).items()
    )
    made = f"`{name}({given})`".replace("'", '"')
    if not hasattr(kind, "for_rho"):
        return made
    asked = [
        parameter for parameter, default in parameters_of(kind.for_rho).items() if default is None
    ]
    return f"{made}, or `{name}.for_rho({', '.join(asked)})`"


def in_markdown(kind: type[Policy]) -> str:
    """Return when to use a policy, with links to the pages that it names.

    >>> in_markdown(POLICIES["KLUCB"]).partition("; ")[2]
    'corrupt or not ([clicks.md](clicks.md))'
    """
    words = re.sub(r"\bdocs/([\w-]+\.md)", r"[\1](\1)", kind.use_when)
    return f"**experimental**: {words}" if kind.experimental else words


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
