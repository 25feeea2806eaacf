"""Run the tutorials as notebooks: `python docs/make/notebooks.py [NAME...]`.

A tutorial is Markdown whose `python` blocks are the cells, which is Jupytext's Markdown
format too. It is run in a fresh kernel; the page of the site shows what the cells gave,
and the notebook can be downloaded. What was run is kept in build/notebooks, by a hash
of the tutorial and of ironarm's code.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parent.parent.parent
TUTORIALS = ROOT / "docs" / "tutorials"
KEPT = ROOT / "build" / "notebooks"
CELL = re.compile(r"^```python\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
LOCAL_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
SET_UP = "%config InlineBackend.figure_formats = ['svg']"
"""Run before the first cell, and not shown: figures that are sharp on every screen."""
LONGEST = 300
"""Seconds that a cell may take, on a busy machine with nothing compiled."""


def notebook(text: str) -> NotebookNode:
    """Return a tutorial as a notebook that has not been run.

    >>> [
    ...     cell.cell_type
    ...     for cell in notebook("Say\\n```python\\n1 + 1\\n```\\nso").cells
    ... ]
    ['markdown', 'code', 'markdown']
    """
    cells = []
    for number, part in enumerate(CELL.split(text)):
        if number % 2:
            cells.append(new_code_cell(part))
        elif part.strip():
            cells.append(new_markdown_cell(part.strip()))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # they are random otherwise
    name = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": name})


def after_run(path: Path) -> NotebookNode:
    """Return a tutorial as a notebook with its outputs, run now or kept from before."""
    text = path.read_text()
    kept = KEPT / f"{path.stem}-{_digest(text)}.ipynb"
    if kept.exists():
        return nbformat.read(kept, as_version=4)
    made = notebook(text)
    made.cells.insert(0, new_code_cell(SET_UP))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ironarm-tutorial-") as folder:
        # the kernel is a process of its own: it needs the code, and no other back end
        paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        changed = {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }
        client = NotebookClient(made, timeout=LONGEST, resources={"metadata": {"path": folder}})
        kernel = client.create_kernel_manager()
        # reached by files in our folder, not by ports that others may reach too
        kernel.transport, kernel.ip = "ipc", os.path.join(folder, "kernel")
        client.execute(env={**os.environ, **changed})
    del made.cells[0]
    for cell in made.cells:
        cell.metadata.pop("execution", None)  # when it was run
        if cell.cell_type == "code":
            cell.outputs = _lasting(cell.outputs)
    print(f"ran the tutorial {path.stem}, {time.monotonic() - started:.0f} s", flush=True)
    KEPT.mkdir(parents=True, exist_ok=True)
    nbformat.write(made, kept)
    return made


def _lasting(outputs: list[Any]) -> list[Any]:
    """Return a cell's outputs without what ironarm says only when it compiles."""
    errors = [each for each in outputs if each.get("name") == "stderr"]
    lines = "".join(each.text for each in errors).splitlines()
    said = "ironarm: compil", "ironarm: still compil"
    only_that = all(line.startswith(said) for line in lines)
    return [each for each in outputs if each not in errors] if only_that else outputs


def _digest(text: str) -> str:
    found = hashlib.sha256(text.encode())
    for path in (Path(__file__), *sorted((ROOT / "src").rglob("*.py"))):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def page(made: NotebookNode, name: str, folder: Path) -> str:
    """Return a notebook that was run as a page; its figures are written to a folder."""
    parts = []
    for number, cell in enumerate(made.cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for place, output in enumerate(cell.outputs):
            parts.append(_shown(output, f"{name}-{number}-{place}.svg", folder))
    download = f"[Download this page as a notebook]({name}.ipynb)."
    return "\n\n".join([*filter(None, parts), download]) + "\n"


def without_links(text: str) -> str:
    """Return Markdown whose links to pages are words: a download stands alone.

    >>> without_links("see [Attacks](../attacks.md), [river](https://riverml.xyz)")
    'see Attacks, [river](https://riverml.xyz)'
    """
    return LOCAL_LINK.sub(r"\1", text)


def _shown(output: Any, name: str, folder: Path) -> str:
    if output.output_type == "error":
        raise RuntimeError("\n".join(output.traceback))
    if output.output_type == "stream":
        if output.name == "stderr":
            raise RuntimeError(f"a tutorial writes to stderr: {output.text}")
        return f'```text title="output"\n{output.text.rstrip()}\n```'
    if "image/svg+xml" in output.data:
        (folder / name).write_text(output.data["image/svg+xml"])
        return f"![What the code draws]({name}){{ .drawn }}"
    return f'```text title="output"\n{output.data["text/plain"].rstrip()}\n```'


def write_tutorials(folder: Path) -> None:
    """Write the page and the notebook of each tutorial into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(TUTORIALS.glob("*.md")):
        made = after_run(path)
        (folder / path.name).write_text(page(made, path.stem, folder))
        for cell in made.cells:
            if cell.cell_type == "markdown":
                cell.source = without_links(cell.source)
        nbformat.write(made, folder / f"{path.stem}.ipynb")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or sorted(path.stem for path in TUTORIALS.glob("*.md")):
        after_run(TUTORIALS / f"{chosen}.md")
