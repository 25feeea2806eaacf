"""Check a built site: every link in it leads somewhere, no page needs another host.

python docs/make/links.py site
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "video": "src"}
"""What a browser loads by itself, and the attribute that says from where."""
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch"}
IN_STYLES = re.compile(r"(?:url\(|@import\s+)[\s'\"]*([^)'\"\s;]+)")


@dataclass
class Page(HTMLParser):
    """What a page has (anchors) and where it leads."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag defines, links to or loads."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and LOADED_LINKS & set(given.get("rel", "").split()):
            self.loads.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loads.append(given[LOADED[tag]])
        self.loads += IN_STYLES.findall(given.get("style", ""))

    def __hash__(self) -> int:
        return hash(self.path)


def faults(site: Path) -> Iterator[str]:
    """Yield a sentence for each dead link and for each file of another host."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        here = path.relative_to(site)
        for link in page.loads:
            if not link.startswith("data:"):
                yield from _fault_of_file(site, path, f"{here} loads", link)
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # another site's page: opened on a click, not loaded
            target = path if not parts.path else _target(site, path, parts.path)
            if target is None:
                yield f"{here} links to {link}, which does not exist."
            elif parts.fragment and target in pages:
                anchor = unquote(parts.fragment)
                if anchor not in pages[target].anchors and anchor != "__skip":
                    yield f"{here} links to {link}, but there is no such heading."
    for path in sorted(site.rglob("*.css")):
        for link in IN_STYLES.findall(path.read_text()):
            if not link.startswith(("data:", "#")):
                yield from _fault_of_file(site, path, f"{path.relative_to(site)} loads", link)


def _fault_of_file(site: Path, path: Path, who: str, link: str) -> Iterator[str]:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        yield f"{who} {link}, which is on another host."
    elif parts.path and _target(site, path, parts.path) is None:
        yield f"{who} {link}, which does not exist."


def _target(site: Path, page: Path, link: str) -> Path | None:
    link = unquote(link)
    found = (site / link[1:] if link.startswith("/") else page.parent / link).resolve()
    if found.is_dir():
        found = found / "index.html"
    return found if found.is_file() and found.is_relative_to(site.resolve()) else None


def main() -> int:
    """Print the faults of a site; 0 if there are none."""
    site = Path(sys.argv[1]).resolve()
    found = list(faults(site))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
