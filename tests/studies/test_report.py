"""The report stands alone, and opens in a browser at a desk and on a phone."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ironarm.cli import main

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)

WIDTHS = (360, 390, 600, 768, 1024, 1280, 1920)
FONTS = ("system-ui", "DejaVu Sans", "serif", "monospace")

# the page in frames of the widths of phones and desks; the copy inside tells what it
# sees
FRAME = (
    '<!doctype html><body style="margin:0"><pre id="heard"></pre>{frames}<script>'
    'addEventListener("message", (e) => {{ document.getElementById("heard").textContent += e.data '
    '+ "\\n"; }});</script>'
)
INSIDE = '<iframe src="inside.html" style="border:0;width:{width}px;height:900px"></iframe>'
TELL = """<script>
const tell = (text) => parent.postMessage(innerWidth + " " + text, "*");
addEventListener("error", (e) => tell("error " + e.message));
for (const kind of ["error", "warn"]) {
  const old = console[kind];
  console[kind] = (...all) => { tell("console " + all.join(" ")); old(...all); };
}
const all = (where) => Array.from(document.querySelectorAll(where));
const shown = (what) => what.getBoundingClientRect().width > 0;
addEventListener("load", () => {
  const page = document.documentElement;
  const heights = all("figure svg text").map((text) => text.getBoundingClientRect().height);
  tell("smallest " + Math.min(...heights));
  tell("hints " + all(".hint").filter((hint) => hint.offsetHeight > 0).length);
  tell("figures " + all("figure svg").length);
  tell("claims " + all(".claim").length);
  all("details").forEach((part) => { part.open = true; });
  let cut = 0;
  for (const font of FONTS) {
    document.body.style.fontFamily = font;
    cut += page.scrollWidth > page.clientWidth;
    for (const table of all("table")) {
      const box = table.parentElement.getBoundingClientRect();
      cut += table.scrollWidth > table.parentElement.clientWidth + 1;
      for (const cell of table.querySelectorAll("th, td"))
        cut += shown(cell) && cell.getBoundingClientRect().right > box.right + 1;
      for (const row of table.querySelectorAll("tbody tr"))
        for (const cell of row.cells)
          cut += cell.textContent.trim() !== "" && !shown(cell);
    }
  }
  tell("tables " + all("table").length);
  tell("cut " + cut);
});
</script>""".replace("FONTS", json.dumps(FONTS))


@pytest.fixture(scope="module", params=["small", "small_radio", "synthetic", "arena"])
def out(request, tmp_path_factory):
    """Reports of a small study, a small radio study, the paper's, and a small arena.

    The paper's has very few trials.
    """
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "arena":
        assert (
            main(
                [
                    "arena",
                    str(Path(__file__).parents[1] / "arena" / "small_arena.toml"),
                    "--quick",
                    "--out",
                    str(folder),
                ]
            )
            == 0
        )
        return folder
    study = (
        "synthetic" if request.param == "synthetic" else str(Path(__file__).parent / request.param)
    )
    trials = {"small": ["--quick"], "small_radio": [], "synthetic": ["--quick", "--trials", "2"]}[
        request.param
    ]
    assert main(["reproduce", "--study", study, *trials, "--out", str(folder)]) == 0
    return folder


def test_the_page_needs_nothing_else(out):
    """No address of anything elsewhere, no file to be loaded.

    Links go to the files beside it and to itself.
    """
    page = (out / "report.html").read_text()
    assert not re.findall(r'(?:src|srcset|data)="', page)
    assert "@import" not in page
    assert "<link" not in page
    links = set(re.findall(r'<a href="([^"]+)"', page))
    assert links
    for link in links:
        assert f'id="{link[1:]}"' in page if link.startswith("#") else (out / link).is_file()
    assert set(re.findall(r"https?://[^\s\"'<>]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_the_paper_and_our_questions_are_exported_apart(out):
    """The counts of each are those of its claims."""
    found = json.loads((out / "report.json").read_text())
    if "claims" not in found:
        return  # an arena
    for who, counts in found["counts"].items():
        mine = [claim for claim in found["claims"] if claim["ours"] == (who == "ours")]
        for verdict, count in counts.items():
            assert count == sum(claim["verdict"] == verdict for claim in mine)
        assert sum(counts.values()) == len(mine)


def test_tuned_policies_are_tuned(out):
    """The best value lies inside what was tried, or the table says that it does not."""
    page = (out / "report.html").read_text()
    rows = json.loads((out / "report.json").read_text()).get("tables", {})
    grids = [row for name in ("tuning", "grids") for row in rows.get(name, [])]
    assert ("at the edge of what was tried" in page) == any(row["at_edge"] for row in grids)
    for row in grids:
        values = list(row["mean_regret"])
        inside = values.index(row["chosen"]) not in (0, len(values) - 1)
        assert inside or row["at_edge"]


def test_names_in_the_page_are_unique(out):
    """Figures share one page."""
    names = re.findall(r'\bid="([^"]+)"', (out / "report.html").read_text())
    assert len(names) == len(set(names))


def test_the_page_says_how_it_was_made(out):
    """Command, seed, time, versions."""
    page = (out / "report.html").read_text()
    for words in ("command", "seed", "time taken", "numba", "cells"):
        assert words in page


def test_the_page_opens_in_a_browser(out, tmp_path):
    """From a phone to a large screen, in four fonts.

    Nothing on the console, no text too small to read, every figure and claim there. No
    page is wider than its window, no table wider than its box, no cell cut or hidden.
    """
    if CHROMIUM is None:
        pytest.skip(
            "CHROMIUM IS MISSING: the report was NOT opened in a browser. Install the package "
            "`chromium`."
        )
    page = (out / "report.html").read_text()
    (tmp_path / "inside.html").write_text(page.replace("<head>", "<head>" + TELL, 1))
    frames = "".join(INSIDE.format(width=width) for width in WIDTHS)
    (tmp_path / "frame.html").write_text(FRAME.format(frames=frames))
    command = [
        CHROMIUM,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=2000,1000",
        "--virtual-time-budget=20000",
        "--dump-dom",
        (tmp_path / "frame.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    heard = re.search(r'<pre id="heard">([^<]*)</pre>', done.stdout)
    assert heard, done.stderr[-2000:]
    told = [line.split(" ", 2) for line in heard[1].strip().splitlines()]
    assert not [line for line in told if line[1] in ("error", "console")], told
    assert "CONSOLE" not in done.stderr
    for width in WIDTHS:
        lines = {what: value for at, what, value in told if int(at) == width}
        assert float(lines["smallest"]) >= 7
        assert int(lines["claims"]) == page.count('<tbody class="claim')
        assert (int(lines["claims"]) > 0) == ('id="claims"' in page)
        assert (int(lines["hints"]) > 0) == (width < 700)  # that pictures can be scrolled
        assert int(lines["figures"]) == page.count('<div role="img"') > 0
        assert (width, lines["tables"], lines["cut"]) == (width, str(page.count("<table")), "0")
