"""The page in a real browser: what a stranger reads, on a phone, in the dark, live."""

import re
import time

import pytest

from ironarm.service.keys import make_key
from ironarm.service.location import StoreLocation

from .played import LIARS, Played
from .running import ask, running

playwright = pytest.importorskip(
    "playwright.sync_api",
    reason="PLAYWRIGHT IS MISSING: the page was NOT opened in a browser. Install `playwright`.",
)

from ..browser import CHROMIUM  # noqa: E402

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="CHROMIUM IS MISSING: the page was NOT opened in a browser. Install `chromium`.",
)
HOSTILE = "<img src=x onerror=alert(1)>"

TOO_WIDE = """() => {
  const wide = [];
  for (const each of document.querySelectorAll("body *")) {
    const box = each.getBoundingClientRect();
    if (box.width > 0 && box.right > innerWidth + 1) wide.push(each.tagName + "." + each.className);
  }
  return wide;
}"""
# the ratio of brightness between a text and what is behind it, as WCAG defines it
CONTRAST = """(where) => {
  const light = (colour) => {
    const part = colour.match(/[\\d.]+/g).map(Number).slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const behind = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const back = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$|transparent/.test(back)) return back;
    }
    return "rgb(255, 255, 255)";
  };
  let least = 99;
  for (const each of document.querySelectorAll(where)) {
    if (!each.textContent.trim() || each.getBoundingClientRect().width === 0) continue;
    const [a, b] = [light(getComputedStyle(each).color), light(behind(each))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
}"""
# how much of a chart's canvas is painted
PAINTED = """(name) => {
  const canvas = document.querySelector(`[data-chart="${name}"] canvas`);
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let painted = 0;
  for (let i = 3; i < data.length; i += 4) painted += data[i] > 0;
  return painted / (data.length / 4);
}"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A service without keys, with an agent that was played and one with bad names."""
    place = StoreLocation(tmp_path_factory.mktemp("shown"))
    Played().into(place, "ads")
    arms = {HOSTILE: 1.0, "b" * 150: 3.0, "\u202egnp.exe": 2.0, "👍": 0.0}
    Played(arms=arms, rounds=300, named=HOSTILE + "{}", policy="UCB").into(place, "hostile")
    with running(place) as node:
        yield f"http://127.0.0.1:{node.port}"


@pytest.fixture
def visit(browser):
    """Open an address; nothing may be written on the console."""
    opened, said = [], []

    def open_page(url, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
        page.goto(url)
        if "/agents/" in url:
            page.wait_for_selector("#charts[data-drawn]")
        return page

    yield open_page
    for context in opened:
        context.close()
    assert said == []


def test_a_stranger_reads_the_answers_at_the_top(visit, address):
    """Within the first screen: the best arm, corruption, who sends it."""
    page = visit(f"{address}/agents/ads")
    best, corruption, senders = page.locator(".answer").all()
    assert re.match(r"Best arm\s+south\s+Sure: 9[5-9]", best.inner_text())
    found = re.search(
        r"(\d+) % seem corrupt\s+These arms can take about (\d+) %", corruption.inner_text()
    )
    assert 10 <= int(found[1]) <= 14 < int(found[2])
    assert all(liar in senders.inner_text() for liar in LIARS)
    for answer in (best, corruption, senders):
        box = answer.bounding_box()
        assert box["y"] + box["height"] < 900
    titles = page.locator("h2").all_inner_texts()
    assert titles == [
        "Which arm is best",
        "Which arms it chooses",
        "What the arms pay",
        "Rewards as they arrived",
        "How much is corrupt, and how much may be",
        "Who sends the rewards",
        "Open and missing rewards",
        "The end of the log",
    ]


@pytest.mark.parametrize("name", ["ads", "hostile"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (360, "light")])
def test_the_page_fits_every_window(visit, address, name, width, scheme):
    """Nothing is wider than a phone, all charts are drawn, all text can be read."""
    page = visit(f"{address}/agents/{name}", width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TOO_WIDE) == []
    for chart in ("shares", "estimates", "rewards"):
        assert page.evaluate(PAINTED, chart) > 0.005, chart
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", dark)[:3])) < 150) == (scheme == "dark")
    for where in ("p", "td, tbody th", ".answer span, .answer strong", "a", ".alarm", ".chip"):
        assert page.evaluate(CONTRAST, where) >= 4.5, where


def test_names_are_shown_and_not_run(visit, address):
    """An image with a handler is text, in tables and legends."""
    page = visit(f"{address}/agents/hostile")
    assert page.locator("img").count() == 0
    legend = page.locator("[data-legend='estimates']").inner_text()
    assert HOSTILE in legend
    assert "\\u202egnp.exe" in legend
    assert HOSTILE + "1" in page.locator("#part-sources").inner_text()


def test_the_page_follows_the_agent(visit, address):
    """A decision and its reward appear without a reload, and so does the new curve."""
    page = visit(f"{address}/agents/hostile")
    port = int(address.rsplit(":", 1)[1])
    before = int(page.locator("#poll").get_attribute("data-entries"))
    status, made = ask(port, "POST", "/v1/agents/hostile/decisions")
    assert status == 201
    body = {"value": 12345.5, "source": "news"}
    assert ask(port, "PUT", f"/v1/decisions/{made['id']}/reward", body)[0] == 200
    page.wait_for_function("() => /news/.test(document.querySelector('#part-log').innerText)")
    assert "12,346" in page.locator("#part-log").inner_text().replace("12,345", "12,346")
    page.wait_for_function(f"() => Number(charts.dataset.drawn) >= {before + 2}")
    assert page.locator("#live").inner_text() == "live"


def test_the_list_leads_to_an_agent(visit, address):
    """On a phone too."""
    page = visit(address, 390)
    assert page.evaluate(TOO_WIDE) == []
    assert "2 sources differ" in page.locator("tr", has_text="ads").inner_text()
    page.click("text=ads")
    page.wait_for_selector("#charts[data-drawn]")
    assert page.url.endswith("/agents/ads")


def test_a_key_logs_in_and_out(visit, tmp_path):
    """By the form, under the page's own content security policy; a revoked key is sent
    back to it.
    """
    place = StoreLocation(tmp_path)
    Played(rounds=30).into(place, "ads")
    store = place.open()
    text = make_key(store, "me", ["read"])
    with running(place) as node:
        page = visit(f"http://127.0.0.1:{node.port}/", 390)
        assert page.url.endswith("/login?next=/")
        page.fill("#key", text)
        page.click("text=Log in >> nth=-1")
        page.click("text=ads")
        page.wait_for_selector("#charts[data-drawn]")
        page.click("text=Log out")
        assert page.url.endswith("/login")
        page.fill("#key", text)
        page.press("#key", "Enter")
        page.wait_for_selector("table.list")
        store.revoke_key(text.split("_")[1], time.time())
        deadline = time.monotonic() + 60
        while "/login" not in page.url and time.monotonic() < deadline:
            page.reload()
        assert "/login" in page.url
    store.close()
