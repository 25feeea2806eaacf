"""Build the site: `make docs`, or `python docs/make/website.py [FOLDER]`.

The pages of docs/ and what is generated are put together in build/docs; Zensical makes
the site of them. A warning is an error, and every link is followed.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from links import faults
from notebooks import write_tutorials
from policy_tables import with_tables
from reference import write_reference

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
STAGE = ROOT / "build" / "docs"
OF_ROOT = {name: f"{name.lower()}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")}
"""Files of the root that are pages of the site, and their names there."""
KINDS = ("png", "svg", "toml", "py", "ipynb", "css")
"""Files beside pages that go into the site as they are."""

PICTURE = re.compile(
    r'<picture><source [^>]* srcset="[^"]*"><img alt="([^"]*)" src="([^"]*)-light.svg"></picture>'
)
CELL = re.compile(r"<td((?: style=\"[^\"]*\")?)>(.*?)</td>", re.DOTALL)
INLINE = re.compile(r"(?<!<pre>)(?<!</span>)<code>[^<]*</code>")
HYPHENS = re.compile(r"(?<![\w-])(?:--?[a-z][\w-]*|\w+(?:-\w+)+)")
TAG = re.compile(r"<[^>]*>")
SIZES = ((16, "short"), (30, "medium"), (120, "long"))
"""Up to how many characters a cell of a table is how long, for site.css."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")

CONFIG = """\
[project]
site_name = "ironarm"
site_description = "Choose the best of several options from feedback that an attacker can corrupt"
copyright = "Apache-2.0"
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
extra_css = ["site.css"]
nav = {nav}

[project.extra]
generator = false

[project.theme]
language = "en"
font = false
logo = "logo.svg"
favicon = "logo.svg"
features = ["navigation.tabs", "navigation.tabs.sticky", "navigation.sections", "navigation.top",
            "navigation.footer", "content.code.copy", "search.highlight", "toc.follow"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to light"

# not the usual ones, which make (c) a copyright sign, 1/2 one letter and ^ a superscript
[project.markdown_extensions]
admonition = {{}}
attr_list = {{}}
def_list = {{}}
footnotes = {{}}
md_in_html = {{}}
toc = {{permalink = true}}

[project.markdown_extensions.pymdownx]
betterem = {{}}
details = {{}}
highlight = {{anchor_linenums = true, line_spans = "__span", pygments_lang_class = true}}
inlinehilite = {{}}
magiclink = {{}}
superfences = {{}}

[project.plugins.mkdocstrings.handlers.python]
paths = [{source}]

[project.plugins.mkdocstrings.handlers.python.options]
docstring_style = "numpy"
docstring_section_style = "list"
extensions = [{extension}]
show_source = false
show_bases = false
show_root_heading = true
show_root_full_path = false
show_root_toc_entry = true
show_signature_annotations = true
separate_signature = true
signature_crossrefs = false
merge_init_into_class = true
members_order = "source"
"""


def main() -> int:
    """Build the site into a folder; 0 if there was nothing to complain about."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site").resolve()
    shutil.rmtree(STAGE, ignore_errors=True)
    pages = STAGE / "pages"
    print("putting the pages together", flush=True)
    stage(pages)
    nav = navigation(pages)
    config = CONFIG.format(
        nav=toml(nav),
        source=json.dumps(str(ROOT / "src")),
        extension=json.dumps(str(Path(__file__).with_name("plain_parameters.py"))),
    )
    (STAGE / "zensical.toml").write_text(config)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    built = subprocess.run(
        [*command, "--config-file", str(STAGE / "zensical.toml")],
        cwd=STAGE,
        capture_output=True,
        text=True,
    )
    said, complaints = (COLOURS.sub("", text).strip() for text in (built.stdout, built.stderr))
    print(said)
    if built.returncode or complaints not in ("", "No issues found"):
        print(complaints.partition("Traceback")[0])
        return 1
    for path in (STAGE / "site").rglob("*.html"):
        path.write_text(for_narrow(path.read_text()))
    found = list(faults(STAGE / "site"))
    print("\n".join(found), end="\n" if found else "")
    if found:
        return 1
    shutil.rmtree(site, ignore_errors=True)
    shutil.move(STAGE / "site", site)
    print(f"every link leads somewhere; the site is {site / 'index.html'}")
    return 0


def stage(pages: Path) -> None:
    """Copy the pages, change what only the site needs, and write the reference."""
    write_reference(pages / "reference")
    write_tutorials(pages / "tutorials")
    for name, page in OF_ROOT.items():
        (pages / page).write_text(for_site((ROOT / f"{name}.md").read_text(), of_root=True))
    for path in sorted(DOCS.rglob("*")):
        inside = path.relative_to(DOCS)
        if inside.parts[0] in ("make", "tutorials") or not path.is_file():
            continue
        target = pages / inside
        if path.suffix == ".md":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(for_site(with_tables(path.read_text())))
        elif path.suffix[1:] in KINDS and inside.name != "navigation.toml":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


def for_site(text: str, of_root: bool = False) -> str:
    """Return a page as the site needs it.

    Links to pages of the root lead to the site's. Links to code, which the site does
    not hold, are only words. A link that only names a file gets the page's title.
    Pictures follow the page's switch between light and dark, not the system's. Blocks
    with prompts say so, for their colours; what only doctest reads is left out.

    >>> for_site("[a](../CHANGELOG.md) [b](../src/ironarm/files.py) [c](live.md)")
    '[a](changelog.md) b [c](live.md)'
    >>> for_site("[a](docs/live.md) [b](README.md)", of_root=True)
    '[a](live.md) [b](index.md)'
    >>> for_site("[live.md](live.md#threads)")
    '[Use an agent](live.md#threads)'
    >>> for_site("[docs/live.md](docs/live.md)", of_root=True)
    '[Use an agent](live.md)'
    """
    up = "" if of_root else r"\.\./"
    if of_root:
        text = re.sub(r"\]\(docs/", "](", text)
    for name, page in {**OF_ROOT, "README": "index.md"}.items():
        text = re.sub(rf"\]\({up}{name}\.md(#[^)]*)?\)", rf"]({page}\1)", text)
    text = re.sub(
        rf"\[([^\]]*)\]\({up}(?:src|benchmarks|tests|LICENSE|CITATION)[^)]*\)", r"\1", text
    )
    titles = {page: title for title, page in entries(listed())}

    def link(found: re.Match[str]) -> str:
        words, page, anchor = found[1], found[2], found[3] or ""
        named = words.removeprefix("docs/") == page
        return f"[{titles.get(page, words) if named else words}]({page}{anchor})"

    text = re.sub(r"\[([^\]]*)\]\(([^)#:]+\.md)(#[^)]*)?\)", link, text)
    text = re.sub(r"^ *<BLANKLINE>$", "", text, flags=re.MULTILINE)
    text = PICTURE.sub(r"![\1](\2-light.svg#only-light)\n![\1](\2-dark.svg#only-dark)", text)
    return re.sub(r"^( *)```python\n(?= *>>>)", r"\1```pycon\n", text, flags=re.MULTILINE)


def for_narrow(page: str) -> str:
    """Return a page of HTML with what site.css needs to fit it to a narrow screen.

    Cells of a table say whether their text is short or long, and in code in a line no
    word is broken behind a hyphen, as in `--rho`.

    >>> for_narrow("<td>0.125</td>")
    '<td class="short">0.125</td>'
    >>> for_narrow("<code>--rho 0.3</code>")
    '<code><span class="whole">--rho</span> 0.3</code>'
    """

    def cell(found: re.Match[str]) -> str:
        length = len(html.unescape(TAG.sub("", found[2])).strip())
        size = next((name for most, name in SIZES if length <= most), "longest")
        return f'<td{found[1]} class="{size}">{found[2]}</td>'

    def code(found: re.Match[str]) -> str:
        return HYPHENS.sub(r'<span class="whole">\g<0></span>', found[0])

    return INLINE.sub(code, CELL.sub(cell, page))


def navigation(pages: Path) -> list[dict[str, Any]]:
    """Return the navigation that docs/navigation.toml lists.

    A page that is not listed is an error: nobody would find it. So is one that is
    listed and not there.
    """
    there = {str(path.relative_to(pages)) for path in pages.rglob("*.md")}
    named = {page for _, page in entries(listed())}
    if there - named:
        raise SystemExit(
            f"docs/navigation.toml does not list {', '.join(sorted(there - named))}; "
            "add each to the kind of page it is."
        )
    if named - there:
        raise SystemExit(
            f"docs/navigation.toml lists {', '.join(sorted(named - there))}, which does not "
            "exist; write it or remove its line."
        )
    return as_list(listed())


def listed() -> dict[str, Any]:
    """Return what docs/navigation.toml lists."""
    return tomllib.loads((DOCS / "navigation.toml").read_text())


def entries(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield all pages that a navigation lists, each after its title."""
    for title, value in tree.items():
        yield from [(title, value)] if isinstance(value, str) else entries(value)


def as_list(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a navigation as Zensical wants it.

    >>> as_list({"A": "a.md", "D": {"E": "e.md"}})
    [{'A': 'a.md'}, {'D': [{'E': 'e.md'}]}]
    """
    return [
        {title: value if isinstance(value, str) else as_list(value)}
        for title, value in tree.items()
    ]


def toml(nav: list[dict[str, Any]]) -> str:
    """Return a navigation as a value of TOML.

    >>> toml([{"A": "a.md"}, {"B": [{"C": "c.md"}]}])
    '[{"A" = "a.md"}, {"B" = [{"C" = "c.md"}]}]'
    """
    entries = (
        f"{{{json.dumps(title)} = {json.dumps(value) if isinstance(value, str) else toml(value)}}}"
        for entry in nav
        for title, value in entry.items()
    )
    return f"[{', '.join(entries)}]"


if __name__ == "__main__":
    raise SystemExit(main())
