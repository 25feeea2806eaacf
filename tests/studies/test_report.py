"""The report stands alone, and opens in a browser at a desk and on a phone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ironarm.cli import main

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)

# the page in a frame of a phone's or a desk's width; the copy inside tells its errors
# and its width
FRAME = (
    '<!doctype html><body style="margin:0"><pre id="heard"></pre><iframe src="inside.html" '
    'style="border:0;width:{width}px;height:900px"></iframe><script>{script}</script>'
)
LISTEN = (
    'addEventListener("message", (e) => { document.getElementById("heard").textContent += e.data '
    '+ "\\n"; });'
)
TELL = """<script>
const tell = (text) => parent.postMessage(text, "*");
addEventListener("error", (e) => tell("error " + e.message));
for (const kind of ["error", "warn"]) {
  const old = console[kind];
  console[kind] = (...all) => { tell("console " + all.join(" ")); old(...all); };
}
const all = (where) => Array.from(document.querySelectorAll(where));
addEventListener("load", () => {
  const page = document.documentElement;
  tell("width " + page.scrollWidth + " of " + page.clientWidth);
  const heights = all("figure svg text").map((text) => text.getBoundingClientRect().height);
  tell("smallest " + Math.min(...heights));
  tell("hints " + all(".hint").filter((hint) => hint.offsetHeight > 0).length);
  tell("figures " + all("figure svg").length);
  tell("claims " + all(".claim").length);
});
</script>"""


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


def test_names_in_the_page_are_unique(out):
    """Figures share one page."""
    names = re.findall(r'\bid="([^"]+)"', (out / "report.html").read_text())
    assert len(names) == len(set(names))


def test_the_page_says_how_it_was_made(out):
    """Command, seed, time, versions."""
    page = (out / "report.html").read_text()
    for words in ("command", "seed", "time taken", "numba", "cells"):
        assert words in page


@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_opens_in_a_browser(out, tmp_path, width):
    """Nothing on the console, nothing wider than the screen, no text too small to read.

    Every figure and claim is there.
    """
    if CHROMIUM is None:
        pytest.skip(
            "CHROMIUM IS MISSING: the report was NOT opened in a browser. Install the package "
            "`chromium`."
        )
    page = (out / "report.html").read_text()
    (tmp_path / "inside.html").write_text(page.replace("<head>", "<head>" + TELL, 1))
    (tmp_path / "frame.html").write_text(FRAME.format(width=width, script=LISTEN))
    command = [
        CHROMIUM,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    command += [
        "--window-size=1400,1000",
        "--virtual-time-budget=5000",
        "--dump-dom",
        (tmp_path / "frame.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    heard = re.search(r'<pre id="heard">([^<]*)</pre>', done.stdout)
    assert heard, done.stderr[-2000:]
    lines = dict(line.split(" ", 1) for line in heard[1].strip().splitlines())
    assert not {"error", "console"} & lines.keys(), lines
    assert "CONSOLE" not in done.stderr
    scroll, client = (int(number) for number in lines["width"].split(" of "))
    assert width - 20 <= client <= width  # a scroll bar may take its share
    assert scroll <= client
    assert float(lines["smallest"]) >= 7
    assert int(lines["claims"]) == page.count('<section class="claim')
    assert (int(lines["claims"]) > 0) == ('id="claims"' in page)
    assert (int(lines["hints"]) > 0) == (width < 400)  # that pictures and tables can be scrolled
    assert int(lines["figures"]) == page.count('role="img"') > 0
