"""The reference: a page for each kind of public name, and one for all commands.

mkdocstrings fills the pages from docstrings; the commands' page holds their `--help`.
"""

from __future__ import annotations

import argparse
import inspect
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import ironarm as ia
from ironarm import attacks, bandits, cli, errors, extend, policies, testing

PAGES = {
    "simulations": ("Simulations", "Run policies against attacks, and look at what came out."),
    "agents": ("Agents", "Decide live: in memory, or with every decision on disk."),
    "clients": ("Clients of the service", "Talk to `ironarm serve` from Python."),
    "policies": ("Policies", "[Which policy?](../which-policy.md) says when to use which."),
    "attacks": ("Attacks", "[Attacks](../attacks.md) says whom each of them hurts."),
    "bandits": ("Bandits", "Arms and the laws of their clean rewards."),
    "certificates": ("Certificates", "What theory guarantees for your arms and your rho."),
    "errors": ("Errors and warnings", "All errors are kinds of `IronarmError`."),
}
"""The pages of what is public, except for authors: file, title and first sentence."""

LISTS: dict[str, ModuleType] = {
    "policies": policies,
    "attacks": attacks,
    "bandits": bandits,
    "errors": errors,
}
"""Pages on which all names of a module stand, also those that are not in `ironarm`."""

MODULES = {
    "ironarm.simulation": "simulations",
    "ironarm.draw_file": "simulations",
    "ironarm.agent": "agents",
    "ironarm.service": "clients",
    "ironarm.theory": "certificates",
    "ironarm.radio": "bandits",
}
"""Where a name goes that is in none of the lists: by the module that defines it."""

WITH_STEPS = {"Policy", "Attack", "Bandit", "Estimator"}
"""The contracts: their methods are shown too. Those of a policy are its own."""


def page_of(name: str) -> str:
    """Return the page on which a public name stands.

    >>> page_of("MedEUCB"), page_of("simulate"), page_of("UnknownArm")
    ('policies', 'simulations', 'errors')
    """
    for page, room in LISTS.items():
        if name in room.__all__:
            return page
    thing = getattr(ia, name)
    if isinstance(thing, type) and issubclass(thing, BaseException):
        return "errors"
    for module, page in MODULES.items():
        if thing.__module__ == module or thing.__module__.startswith(module + "."):
            return page
    raise LookupError(
        f"ia.{name} comes from {thing.__module__}, which has no page of the reference; "
        "add it to MODULES in docs/make/reference.py."
    )


def write_reference(folder: Path) -> None:
    """Write all pages of the reference into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, list[str]] = {page: [] for page in PAGES}
    for name in ia.__all__:
        if name != "__version__":
            names[page_of(name)].append(name)
    for page, (title, first) in PAGES.items():
        shown = "".join(directive("ironarm", ia, name) for name in sorted(names[page], key=key))
        if page in LISTS:
            room = LISTS[page]
            more = sorted(own_names(room), key=key)
            if more:
                short = room.__name__.replace("ironarm", "ia")
                shown += f"## Only in {short}\n\nWrite `{short}.{more[0]}`, and so on.\n\n"
            shown += "".join(directive(room.__name__, room, name) for name in more)
        text = f"# {title}\n\n{first}\n\nIn Python, `import ironarm as ia`.\n\n{shown}"
        (folder / f"{page}.md").write_text(text)
    (folder / "extend.md").write_text(
        f"# ironarm.extend\n\n{inspect.getdoc(extend)}\n\n"
        + "".join(
            directive("ironarm.extend", extend, name)
            for name in sorted(own_names(extend), key=key)
            if name not in errors.__all__
        )
    )
    (folder / "testing.md").write_text(
        f"# ironarm.testing\n\n{inspect.getdoc(testing)}\n\n"
        + "".join(
            f"::: ironarm.testing.{name}\n    options:\n      heading_level: 2\n\n"
            for name in testing.__all__
        )
        + "## What check_policy looks at\n\n"
        + checks()
    )
    (folder / "commands.md").write_text(commands())


def key(name: str) -> tuple[bool, str]:
    """Return what names are sorted by: functions first."""
    return name[0].isupper(), name.lower()


def own_names(module: Any) -> list[str]:
    """Return the names that a module has and `ironarm` has not."""
    return [name for name in module.__all__ if name not in ia.__all__]


def directive(path: str, module: ModuleType, name: str) -> str:
    """Return what makes mkdocstrings show a name."""
    thing = getattr(module, name)
    members = sorted(shown_members(thing)) if isinstance(thing, type) else []
    return (
        f"::: {path}.{name}\n    options:\n      heading_level: 2\n"
        f"      members: {members or 'false'}\n      inherited_members: {members or 'false'}\n\n"
    )


def shown_members(kind: type) -> Iterator[str]:
    """Yield the methods and properties of a class that a reader needs."""
    is_plugin = issubclass(
        kind, (ia.extend.Policy, ia.extend.Attack, ia.extend.Bandit, extend.Estimator)
    )
    own = dict(vars(kind))
    if not is_plugin:  # a client has the calls of its base, which is no public name
        for base in kind.__mro__[1:]:
            if base.__module__.startswith("ironarm.") and base.__name__ not in ia.__all__:
                own = {**vars(base), **own}
    for name, value in own.items():
        if name.startswith("_"):
            continue
        # a call of a client is not a function, but makes one
        made = isinstance(value, (classmethod, property)) or inspect.isroutine(getattr(kind, name))
        if is_plugin and kind.__name__ not in WITH_STEPS:
            made = isinstance(value, classmethod)  # other ways to make one, as `for_rho`
        if made and inspect.getdoc(getattr(kind, name)):
            yield name


def checks() -> str:
    """Return the list of what `check_policy` looks at."""
    lines = []
    for check in testing.policy.CHECKS:
        first = (inspect.getdoc(check) or "").splitlines()[0]
        words = check.__name__.replace("_", " ").replace("python", "Python")
        lines.append(f"- **{words[0].upper()}{words[1:]}.** {first}\n")
    return "".join(lines)


def commands() -> str:
    """Return the page of all commands, from what `--help` prints."""
    os.environ["COLUMNS"] = "80"
    parser = cli._parser({verb: cli._module(verb) for verb in cli.VERBS})
    parts = [
        "# Commands\n\nWhat `ironarm --help` and `ironarm VERB --help` print. "
        "`python -m ironarm` is the same command.\n",
        block("ironarm", parser),
    ]
    for words, verb in verbs_of(parser, ("ironarm",)):
        parts.append(f"{'#' * len(words)} {' '.join(words)}\n\n{block(' '.join(words), verb)}")
    return "\n".join(parts)


def block(title: str, parser: argparse.ArgumentParser) -> str:
    """Return a parser's help as a block."""
    return f'```text title="{title} --help"\n{parser.format_help().rstrip()}\n```\n'


def verbs_of(
    parser: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Yield all commands under a parser, with their words."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            choices: Iterable[tuple[str, argparse.ArgumentParser]] = action.choices.items()
            for name, verb in choices:
                yield (*words, name), verb
                yield from verbs_of(verb, (*words, name))
