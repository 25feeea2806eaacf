"""A page in a browser, from a phone to a large screen and in several fonts."""

import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
# phones and desks; just below and above the widths at which tables become cards
WIDTHS = (360, 390, 600, 660, 680, 768, 860, 870, 1024, 1050, 1060, 1280, 1920)
FONTS = ("system-ui", "DejaVu Sans", "serif", "monospace")

# the page in frames of the widths of phones and desks; the copy inside tells what it
# sees, so the listener must be there before the frames
FRAME = (
    '<!doctype html><body style="margin:0"><pre id="heard"></pre><script>'
    'addEventListener("message", (e) => {{ document.getElementById("heard").textContent += e.data '
    '+ "\\n"; }});</script>{frames}'
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
  // a panel's title is wholly in sight, wherever its picture is scrolled to
  let titles = 0;
  for (const title of all(".panels h4")) {
    const box = title.closest(".panels");
    titles += [0, box.scrollWidth].every((left) => {
      box.scrollLeft = left;
      const place = title.getBoundingClientRect();
      return shown(title) && place.left >= 0 && place.right <= innerWidth;
    });
  }
  tell("titles " + titles);
  all("details").forEach((part) => { part.open = true; });
  let cut = 0, broken = 0;
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
      for (const cell of table.querySelectorAll("thead th, tbody th"))
        broken += shown(cell) && splitWords(cell);
    }
  }
  tell("tables " + all("table").length);
  tell("cut " + cut);
  tell("broken " + broken);
});
// how many words of a heading go on in the next line
function splitWords(cell) {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = new Range();
  let split = 0;
  while (texts.nextNode())
    for (const word of texts.currentNode.data.matchAll(/[A-Za-z]+/g)) {
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      split += new Set(Array.from(range.getClientRects(), (place) => place.top)).size > 1;
    }
  return split;
}
</script>""".replace("FONTS", json.dumps(FONTS))


def opened(page, folder):
    """Open a page at all widths; return what it tells there, {width: {what: value}}.

    Nothing may be written on the console.
    """
    if CHROMIUM is None:
        pytest.skip(
            "CHROMIUM IS MISSING: the report was NOT opened in a browser. Install the package "
            "`chromium`."
        )
    (folder / "inside.html").write_text(page.replace("<head>", "<head>" + TELL, 1))
    frames = "".join(INSIDE.format(width=width) for width in WIDTHS)
    (folder / "frame.html").write_text(FRAME.format(frames=frames))
    command = [
        CHROMIUM,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        f"--user-data-dir={folder / 'profile'}",
        "--window-size=2000,1000",
        "--virtual-time-budget=20000",
        "--dump-dom",
        (folder / "frame.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    heard = re.search(r'<pre id="heard">([^<]*)</pre>', done.stdout)
    assert heard, done.stderr[-2000:]
    told = [line.split(" ", 2) for line in heard[1].strip().splitlines()]
    assert not [line for line in told if line[1] in ("error", "console")], told
    assert "CONSOLE" not in done.stderr
    return {
        width: {what: value for at, what, value in told if int(at) == width} for width in WIDTHS
    }
