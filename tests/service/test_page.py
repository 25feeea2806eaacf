"""The page without a browser: what it says, to whom, and what it refuses."""

import asyncio
import hmac
import html
import json
import re
import time
from contextlib import asynccontextmanager

import httpx
import pytest

from ironarm.service.app import App
from ironarm.service.keys import make_key
from ironarm.service.location import StoreLocation
from ironarm.service.node import Node
from ironarm.service.page import routes, session, static
from ironarm.theory.limits import thresholds

from .played import LIARS, Played

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}",
    "\u202egnp.exe",
    "</title><svg/onload=alert(1)>",
)


@asynccontextmanager
async def page(folder, scheme="http"):
    """A node in this process with its page, and a browser without scripts."""
    node = Node(StoreLocation(folder))
    await node.start()
    try:
        while not node.ready:
            await asyncio.sleep(0.01)
        transport = httpx.ASGITransport(App(node, routes(node)), raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url=f"{scheme}://localhost"
        ) as client:
            client.node = node
            yield client
    finally:
        await node.stop()


def on_page(work):
    """Turn a coroutine that takes a client into a test on an empty folder."""

    def test(tmp_path):
        async def run():
            async with page(tmp_path) as client:
                await work(client)

        asyncio.run(run())

    test.__doc__, test.__name__ = work.__doc__, work.__name__
    return test


def visit(folder, work):
    async def run():
        async with page(folder) as client:
            return await work(client)

    return asyncio.run(run())


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    Played().into(StoreLocation(folder), "ads")
    Played(rounds=60, sources=1, named="only", liars=(), outliers=0.0).into(
        StoreLocation(folder), "young"
    )
    return folder


def key(folder, scopes=("read",), agents=None, name="reader", rate=None):
    store = StoreLocation(folder).open(create=True)
    try:
        return make_key(store, name, scopes, agents, rate)
    finally:
        store.close()


def words(text):
    """The text of a page, without tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


async def log_in(client, text, next="/"):
    form = await client.get("/login", params={"next": next})
    token = re.search(r'name="form" value="([\w-]{43})"', form.text)[1]
    return await client.post("/login", data={"key": text, "form": token, "next": next})


# what it says


def test_a_stranger_finds_the_answers(played):
    """Which arm is best and how sure, how much is corrupt and can be, who sends it."""

    async def work(client):
        text = words((await client.get("/agents/ads")).text)
        return text, words((await client.get("/")).text)

    text, listed = visit(played, work)
    assert re.search(r"Best arm south Sure: 9\d(\.\d)? % confidence", text)
    assert re.search(r"south is best : the median of its rewards, (3\.9|4\.0)\d*, is above", text)
    assert re.search(
        r"Corruption 1[12] % seem corrupt These arms can take about [12]\d %, but that is not",
        text,
    )
    assert re.search(r"Sent by sensor-(7|13) , sensor-(7|13) They differ from the other 18", text)
    assert "More rewards of harbour are missing than of the other arms" in text
    assert re.search(r"ads south sure , 9\d(\.\d)? % 4,000 3,\d{3} 2 sources differ", listed)


def test_what_is_not_known_is_not_said(played):
    """A young agent is not sure of anything."""

    async def work(client):
        return words((await client.get("/agents/young")).text)

    text = visit(played, work)
    assert "Not sure yet." in text
    assert "nobody stands out 1 source, no clear differences" in text


@on_page
async def test_an_agent_without_rewards_has_a_page(client):
    """And so has the list without an agent."""
    assert "There is no agent yet" in words((await client.get("/")).text)
    await client.put("/v1/agents/new", json={"arms": ["a", 1], "policy": "UCB"})
    text = words((await client.get("/agents/new")).text)
    assert "There are no rewards yet, so nothing can be said." in text
    curves = (await client.get("/agents/new/curves")).json()
    assert (curves["arms"], curves["shares"]["times"]) == (["a", "1"], [])
    await client.delete("/v1/agents/new")
    client.node.insights._kept.clear()  # it may be two seconds old
    assert "archived" in (await client.get("/agents/new")).text


@on_page
async def test_failures_are_shown(client):
    """As such in the log, and without a value among the curves."""
    await client.put("/v1/agents/f", json={"arms": ["a", "b"], "policy": "CoherentIMED"})
    for _ in range(30):
        made = (await client.post("/v1/agents/f/decisions")).json()
        body = {"failed": True} if made["arm"] == "a" else {"value": 1e300}
        assert (await client.put(f"/v1/decisions/{made['id']}/reward", json=body)).is_success
    client.node.insights._kept.clear()  # it may be two seconds old
    text = (await client.get("/agents/f")).text
    assert "failed" in text
    rewards = (await client.get("/agents/f/curves")).json()["rewards"]
    assert set(rewards["values"]) == {None, 1e300}
    assert 3 in rewards["marks"]


def test_only_what_has_changed_is_sent(played):
    """Who has seen the latest gets nothing; others get all parts, to swap."""

    async def work(client):
        text = (await client.get("/agents/ads")).text
        seen = re.search(r'hx-get="(/agents/ads/parts\?seen=[^"]+)"', text)[1]
        again = await client.get(html.unescape(seen))
        parts = await client.get("/agents/ads/parts")
        return again, parts

    again, parts = visit(played, work)
    assert (again.status_code, again.content) == (204, b"")
    assert parts.text.count('hx-swap-oob="true"') == 8
    assert "<html" not in parts.text


def test_a_summary_tells_shares_and_corruption(played):
    """For programs: from the same look at the log as the page."""

    async def work(client):
        return (await client.get("/v1/agents/ads")).json()

    found = visit(played, work)
    shares = {arm["arm"]: arm["share"] for arm in found["arms"]}
    assert shares["south"] > 0.9
    assert sum(shares.values()) == pytest.approx(1)
    assert 0.1 < found["corrupt_share"] < 0.14
    told = [found[f"can_take{what}"] for what in ("", "_about", "_at_most")]
    assert told == sorted(told)
    assert told[0] < thresholds(0.7).coin < told[2]
    assert found["warning"] is None


@on_page
async def test_a_policy_that_does_not_suit_the_rewards_is_named(client):
    """As an agent in a process warns: in the summary, on the page, in the list."""
    await client.put("/v1/agents/clicks", json={"arms": ["a", "b"], "seed": 1})
    for i in range(80):
        id = (await client.post("/v1/agents/clicks/decisions")).json()["id"]
        await client.put(f"/v1/decisions/{id}/reward", json={"value": int(i % 3 == 0)})
    await client.node.insights.of(int(id.split(".")[0]), "clicks", within=0)
    found = (await client.get("/v1/agents/clicks")).json()["warning"]
    assert found.startswith("all rewards so far are 0 or 1, and CoherentIMED compares")
    assert "Use KLUCB()" in (await client.get("/agents/clicks")).text
    assert "the policy does not suit the rewards" in (await client.get("/")).text


def test_the_list_has_pages(tmp_path):
    """Fifty agents on each."""
    place = StoreLocation(tmp_path)
    Played(rounds=3).into(place, "first")
    store = place.open()
    with store.transaction():
        for number in range(60):
            store.add_agent(f"named-{number:02}")  # named, but never made
    store.close()

    async def work(client):
        return [(await client.get("/", params={"page": k})).text for k in ("1", "2", "99", "x")]

    first, second, beyond, odd = visit(tmp_path, work)
    assert first.count("<tr>") == 51
    assert second.count("<tr>") == 12
    assert beyond == second
    assert odd == first
    assert "there is no agent &#39;named-00&#39;" in first


# what it lets nobody do


def test_every_answer_has_the_headers(played):
    """No foreign script, no frame, no sniffing, nothing stored."""

    async def work(client):
        paths = ["/", "/login", "/agents/ads", "/agents/ads/curves", "/agents/no"]
        paths += ["/agents/ads/parts", "/static/page.js", "/static/nothing"]
        return [await client.get(path) for path in paths]

    for answer in visit(played, work):
        policy = answer.headers["content-security-policy"]
        assert policy == (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"


def test_the_page_obeys_its_own_policy(played):
    """No inline script or style, no event attribute, nothing from another host."""

    async def work(client):
        return [(await client.get(path)).text for path in ("/", "/agents/ads")]

    for text in visit(played, work):
        assert not re.search(r"<script(?![^>]*\ssrc=)", text)
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text, re.IGNORECASE)
        for address in re.findall(r'(?:src|href|action|hx-get)="([^"]*)"', text):
            assert address.startswith(("/", "#")), address
            assert not address.startswith("//")


@pytest.mark.parametrize(
    "path",
    [
        "../__init__.py",
        "..%2f__init__.py",
        "%2e%2e/__init__.py",
        "vendor/../../__init__.py",
        "vendor",
        "vendor/",
        "",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "page.js%00",
        "page.js/",
        "PAGE.JS",
        "..\\__init__.py",
        "vendor/README.md",
    ],
)
def test_only_known_files_are_sent(tmp_path_factory, path):
    """Whatever tricks the address has."""

    async def work():
        node = Node(StoreLocation(tmp_path_factory.getbasetemp() / "files"))
        transport = httpx.ASGITransport(App(node, routes(node)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(f"/static/{path}")

    answer = asyncio.run(work())
    assert answer.status_code == 404
    assert b"import" not in answer.content


@on_page
async def test_all_files_of_the_page_are_there(client):
    """With their types, and the licences of what others wrote."""
    for name, kind in static.KNOWN.items():
        answer = await client.get(f"/static/{name}")
        assert (answer.status_code, len(answer.content) > 100) == (200, True), name
        assert answer.headers["content-type"].startswith(kind)
    vendored = {name for name in static.KNOWN if name.startswith("vendor/")}
    for script in ("htmx", "uplot"):
        assert f"vendor/{script}.LICENSE.txt" in vendored


@on_page
async def test_browsers_keep_the_files_of_the_page(client):
    """Under the address that pages name, which changes with the file; else never."""
    text = (await client.get("/")).text
    named = re.findall(r'(?:src|href)="(/static/[^"]+)"', text)
    assert len(named) == 6
    for address in named:
        answer = await client.get(address)
        assert answer.headers.get_list("cache-control") == ["public, max-age=31536000, immutable"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        other = await client.get(address.partition("?")[0], params={"v": "0" * 16})
        assert other.headers.get_list("cache-control") == ["no-store"]
        assert other.content == answer.content


def test_two_services_on_one_host_have_cookies_of_their_own(tmp_path):
    """Browsers send cookies to every port: the second login keeps the first."""
    keys = [key(tmp_path / name) for name in ("one", "two")]

    async def run():
        async with page(tmp_path / "one") as first, page(tmp_path / "two") as second:
            for client, text in zip((first, second), keys, strict=True):
                assert (await log_in(client, text)).status_code == 303
            both = {**first.cookies, **second.cookies}
            for client in (first, second):
                client.cookies.clear()
                client.cookies.update(both)
                assert (await client.get("/")).status_code == 200

    asyncio.run(run())


def test_names_are_text_wherever_they_stand(tmp_path):
    """Script, quotes, template marks and direction marks in arms and sources."""
    arms = {name: float(k) for k, name in enumerate(HOSTILE)}
    Played(
        arms=arms,
        rounds=400,
        sources=3,
        named='<script>source("{}")</script>\u202e',
        liars=(),
        held_back=(HOSTILE[1],),
        policy="UCB",
    ).into(StoreLocation(tmp_path), "hostile")

    async def work(client):
        paths = ("/", "/agents/hostile", "/agents/hostile/parts", "/agents/hostile/curves")
        return [await client.get(path) for path in paths]

    *pages, curves = visit(tmp_path, work)
    allowed = re.compile(
        r'<script src="/static/(vendor/)?(htmx\.min|uplot\.min|page)\.js\?v=[0-9a-f]{16}" '
        "defer></script>"
    )
    for answer in pages:
        text = answer.text
        assert not re.search(r"<(script|img|svg/)", allowed.sub("", text))
        assert not re.search(r"<[^>]*\son[a-z]+=", text)
        assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages[1].text
    assert "{{ 7 * 7 }}" in pages[1].text
    assert "\\u202egnp.exe" in pages[1].text
    assert curves.headers["content-type"] == "application/json"
    assert not re.search(r"[<>&]|\u202e", curves.text)
    assert "<script>alert(1)</script>" in curves.json()["arms"]


def test_a_problem_shows_what_was_asked_as_text(played):
    """The name of an agent that does not exist may be anything."""

    async def work(client):
        return await client.get("/agents/<script>alert(1)<%2fscript>")

    answer = visit(played, work)
    assert answer.status_code == 404
    assert "<script>alert" not in answer.text


# who may look


def test_with_keys_the_page_asks_for_one(tmp_path):
    """And nothing is told before."""
    Played(rounds=30).into(StoreLocation(tmp_path), "ads")
    key(tmp_path)

    async def work(client):
        for path in ("/", "/agents/ads", "/agents/unknown"):
            answer = await client.get(path)
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/login?next=")
            assert b"south" not in answer.content
        for path in ("/agents/ads/curves", "/agents/ads/parts"):
            answer = await client.get(path, headers={"hx-request": "true"})
            assert (answer.status_code, answer.content) == (401, b"")
            assert answer.headers["hx-redirect"] == "/login"

    visit(tmp_path, work)


def test_a_key_opens_the_page_until_it_is_revoked(tmp_path):
    """The cookie holds no key, and is checked at each request."""
    Played(rounds=30).into(StoreLocation(tmp_path), "ads")
    text = key(tmp_path, name="<b>me</b>")

    async def work(client):
        answer = await log_in(client, f" {text} ", "/agents/ads")
        assert (answer.status_code, answer.headers["location"]) == (303, "/agents/ads")
        cookie = next(
            c for c in answer.headers.get_list("set-cookie") if c.startswith("ironarm_session")
        )
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert "Path=/" in cookie
        assert "Secure" not in cookie
        assert text not in cookie
        assert text.split("_", 2)[2] not in cookie
        shown = await client.get("/agents/ads")
        assert shown.status_code == 200
        assert "&lt;b&gt;me&lt;/b&gt;" in shown.text
        assert (await client.get("/login")).status_code == 303
        await client.node.read(lambda store: store.revoke_key(text.split("_")[1], time.time()))
        await client.node.look()
        assert (await client.get("/agents/ads")).status_code == 303

    visit(tmp_path, work)


@pytest.mark.parametrize(
    ("scheme", "headers"), [("https", {}), ("http", {"x-forwarded-proto": "https"})]
)
def test_a_cookie_over_tls_is_secure(tmp_path, scheme, headers):
    """Also if a proxy ends TLS."""
    text = key(tmp_path)

    async def run():
        async with page(tmp_path, scheme) as client:
            client.headers.update(headers)
            form = await client.get("/login")
            token = re.search(r'name="form" value="([\w-]{43})"', form.text)[1]
            cookie = form.headers["set-cookie"].partition(";")[0]
            return await client.post(
                "/login",
                data={"key": text, "form": token},
                headers={"cookie": cookie},
            )

    answer = asyncio.run(run())
    assert answer.status_code == 303
    assert "Secure" in answer.headers["set-cookie"]


def test_wrong_keys_are_refused(tmp_path):
    """Unknown ones, others' scopes, and nonsense."""
    good = key(tmp_path)
    rewards = key(tmp_path, ["reward"])

    async def work(client):
        for text, status in (
            (good[:-1] + ("y" if good[-1] == "x" else "x"), 401),
            ("", 401),
            ("ia_x", 401),
            (rewards, 403),
        ):
            answer = await log_in(client, text)
            assert answer.status_code == status, text
            assert session.cookie_name(client.node, "session") not in client.cookies
            assert 'role="alert"' in answer.text
            assert not text or text not in answer.text
        assert (await log_in(client, good)).status_code == 303

    visit(tmp_path, work)


def test_a_key_for_some_agents_sees_these(tmp_path):
    """The list has no others, and asking for one tells nothing of it."""
    place = StoreLocation(tmp_path)
    Played(rounds=30).into(place, "mine")
    Played(rounds=30).into(place, "theirs")
    text = key(tmp_path, agents=["mine", "gone"])

    async def work(client):
        await log_in(client, text)
        listed = (await client.get("/")).text
        assert "mine" in listed
        assert "theirs" not in listed
        assert (await client.get("/agents/mine")).status_code == 200
        theirs, unknown = [await client.get(f"/agents/{name}") for name in ("theirs", "unknown")]
        assert (theirs.status_code, unknown.status_code) == (403, 403)
        assert theirs.text.replace("theirs", "unknown") == unknown.text
        assert (await client.get("/agents/theirs/curves")).status_code == 403
        assert (await client.get("/agents/gone")).status_code == 404

    visit(tmp_path, work)


def test_forged_cookies_open_nothing(tmp_path, monkeypatch):
    """Another key's id, a later time, a cut or strange signature, an old session."""
    Played(rounds=30).into(StoreLocation(tmp_path), "ads")
    text, other = key(tmp_path), key(tmp_path, ["reward"])

    async def work(client):
        await log_in(client, text)
        name = session.cookie_name(client.node, "session")
        good = client.cookies[name]
        client.cookies.clear()
        id, until, signed = good.split(".")
        forged = [
            f"{other.split('_')[1]}.{until}.{signed}",
            f"{id}.{int(until) + 1}.{signed}",
            f"{id}.{until}.{signed[:-1]}",
            f"{id}.{until}.{'0' * 43}",
            f"{id}.{until}.",
            f"{id}.{until}",
            f"{id}.x.{session.signature(client.node, 'form', f'{id}.x')}",
            "..",
            "...",
            "é" * 10,
            "",
        ]
        # signed, but for another purpose, or for a key that may not read
        front = f"{other.split('_')[1]}.{until}"
        forged.append(f"{front}.{session.signature(client.node, 'session', front)}")
        forged.append(f"{id}.{until}.{session.signature(client.node, 'login', f'{id}.{until}')}")
        # signed with the secret itself, not with what is derived from it
        message = f"ironarm page session\n{id}.{until}".encode()
        bare = hmac.new(client.node.secret, message, "sha256").hexdigest()
        forged.append(f"{id}.{until}.{bare}")
        for value in forged:
            headers = {"cookie": f"{name}={value}".encode()}
            answer = await client.get("/agents/ads", headers=headers)
            assert answer.status_code == 303, value
        headers = {"cookie": f"{name}={good}"}
        assert (await client.get("/agents/ads", headers=headers)).status_code == 200
        # the clock of another node may be behind
        for now, status in ((-60, 200), (session.LASTS - 60, 200), (session.LASTS + 1, 303)):
            monkeypatch.setattr(session, "time", lambda now=now: time.time() + now)
            assert (await client.get("/agents/ads", headers=headers)).status_code == status
        # everybody can sign for a node that has no secret yet
        monkeypatch.undo()
        monkeypatch.setattr(client.node, "secret", b"")
        name = session.cookie_name(client.node, "session")
        value = session.signer(client.node, "session").sign(f"{id}.{until}").decode()
        answer = await client.get("/agents/ads", headers={"cookie": f"{name}={value}"})
        assert answer.status_code == 303

    visit(tmp_path, work)


def test_forms_of_others_change_nothing(tmp_path):
    """A login or logout needs the token of this browser, and comes from this page."""
    text = key(tmp_path)

    async def work(client):
        form = await client.get("/login")
        token = re.search(r'name="form" value="([\w-]{43})"', form.text)[1]
        sent = {"key": text, "form": token}
        for headers in (
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ):
            answer = await client.post("/login", data=sent, headers=headers)
            assert answer.status_code == 403, headers
        # a token without its cookie, as on the attacker's own computer
        kept = dict(client.cookies)
        client.cookies.clear()
        assert (await client.post("/login", data=sent)).status_code == 403
        assert session.cookie_name(client.node, "session") not in client.cookies
        client.cookies.update(kept)
        assert (await client.post("/login", data={"key": text})).status_code == 403
        client.cookies.update(kept)
        assert (await client.post("/login", data=sent)).status_code == 303
        shown = (await client.get("/")).text
        mine = re.search(r'name="token" value="([\w-]{43})"', shown)[1]
        for data in (
            {"x": ""},
            {"token": ""},
            {"token": "0" * 43},
            {"token": token},
            {"token": "é"},
        ):
            assert (await client.post("/logout", data=data)).status_code == 403
        assert (await client.get("/logout")).status_code == 405
        assert (await client.get("/")).status_code == 200
        answer = await client.post("/logout", data={"token": mine})
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
        assert session.cookie_name(client.node, "session") not in client.cookies
        assert (await client.get("/")).status_code == 303

    visit(tmp_path, work)


def test_after_the_login_one_stays_here(tmp_path):
    """An address elsewhere is not followed."""
    text = key(tmp_path)

    async def work(client):
        for next in ("//evil.example", "https://evil.example", "/\\evil", "/agents/../x", "/v1/x"):
            client.cookies.clear()
            answer = await log_in(client, text, next)
            assert answer.headers["location"] == "/", next
            assert "evil" not in (await client.get("/login", params={"next": next})).text

    visit(tmp_path, work)


@on_page
async def test_bad_forms_are_refused(client):
    """Too large, of another type, not text."""
    for content, kind, status in (
        (b"key=" + b"x" * 5000, "application/x-www-form-urlencoded", 413),
        (b'{"key": 1}', "application/json", 415),
        (b"\xff\xfe", "application/x-www-form-urlencoded", 422),
        (b"&".join(b"a=1" for _ in range(50)), "application/x-www-form-urlencoded", 422),
    ):
        answer = await client.post("/login", content=content, headers={"content-type": kind})
        assert answer.status_code == status, kind


def test_a_key_that_reads_too_fast_waits(tmp_path):
    """Its rate holds for the page too."""
    Played(rounds=30).into(StoreLocation(tmp_path), "ads")
    text = key(tmp_path, rate=2.0)

    async def work(client):
        await log_in(client, text)
        return [(await client.get("/agents/ads/curves")).status_code for _ in range(12)]

    assert 429 in visit(tmp_path, work)


def test_curves_are_consistent(played):
    """Shares add up, bands hold their middles, times rise, outliers are all there."""

    async def work(client):
        return (await client.get("/agents/ads/curves")).json()

    data = visit(played, work)
    for part in ("shares", "estimates", "rewards"):
        times = data[part]["times"]
        assert times == sorted(set(times))
    assert all(
        sum(column) == pytest.approx(1, abs=1e-3)
        for column in zip(*data["shares"]["shares"], strict=True)
    )
    for arm in data["estimates"]["arms"]:
        for low, middle, high in zip(arm["low"], arm["middle"], arm["high"], strict=True):
            assert low is None or low <= middle <= high
    values = [v for v in data["rewards"]["values"] if v is not None]
    assert max(values) > 1e5
    assert min(values) < -1e5
    assert len(values) <= 2500
    assert json.dumps(data["rewards"]["values"])  # finite all of them


def test_liars_are_marked(played):
    """So many rewards as they sent."""

    async def work(client):
        return (await client.get("/agents/ads/curves")).json(), await client.node.insights.of(
            1, "ads"
        )

    curves, insight = visit(played, work)
    assert {source.source for source in insight.liars} == set(LIARS)
    assert curves["rewards"]["marks"].count(2) == insight.corruption.by_liars
