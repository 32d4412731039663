"""Calls that no page makes: bodies, tokens, leases, methods, types and addresses with something wrong in each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

HUGE = 10**400
DEEP = 20_000

#: What JSON can hold and no field means.
JUNK: tuple[Any, ...] = (
    *(
        None,
        True,
        [],
        {},
        [[]],
        [None],
        {"": None},
        -1,
        2**31,
        2**63,
        -(2**63),
        2**64,
        HUGE,
        1e308,
        -1e308,
        0.5,
        "",
        " ",
    ),
    *("\x00", "a\x00b", "\ud800", "\udfff\ud800", "\u202e", "😀" * 50, "x" * 401, "' OR 1=1 --", "../../etc/passwd"),
    *("<script>alert(1)</script>", "%00", "{{7*7}}", "${jndi:ldap://x}", "NaN", "-Infinity", "1e999", "0x10", "１２"),
    *({"$ne": 1}, {"__proto__": {"admin": 1}}, [1, [2, [3, [4]]]], {"a": {"b": {"c": {}}}}),
)
#: Bodies that are no JSON, or no object.
BODIES: tuple[bytes, ...] = (
    *(
        b"",
        b"{",
        b"}",
        b"nul",
        b'{"a":}',
        b"{'a': 1}",
        b'{"a": 1,}',
        b"\xff\xfe\xfd",
        b'{"lease": "\xff\xff\xff\xff\xff"}',
    ),
    *(b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16"), '{"a": 1}'.encode("utf-32"), b"\x00" * 100, b"null", b"true"),
    *(b"17", b'"text"', b"[]", b"[{}]", b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1" * 5000, b"-" + b"9" * 20_000),
    *(b"[" * DEEP, b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP, b'{"a":' * 500 + b"1" + b"}" * 500),
    *(b'"' + b"x" * 3_000_000 + b'"', b'{"code": "' + b"x" * 300_000 + b'"}', b"[" + b"1," * 200_000 + b"1]"),
    *(b'{"position": NaN}', b'{"position": Infinity}', b'{"position": 1e999}', b'{"rt_ms": -Infinity}'),
    *(b'{"a": "\\ud800"}', b'{"\\u0000": 1}', b"a=1&b=2", b"<xml/>", b"\x1f\x8b\x08\x00broken", b"PK\x03\x04"),
)
TYPES = (
    *("application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=x", "text/plain", ""),
    *("application/xml", "application/jsonp", "application/jsonlines", "application/ld+json", "text/html", "image/png"),
    *("application/octet-stream", "*/*", "nonsense", "application\x00/json", "a/" + "b" * 5000),
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "BREW", "get", "X" * 300)
LEASES = ("", "x", "tab-00000001x", "\x00", "é" * 20, "a" * 10_000, "null", "[]", "' OR 1=1 --", "tab-00000001,")
POSITIONS = (
    *("-1", "-0", "99999", str(2**31), str(2**63), str(HUGE), "1e3", "0x1", "+1", "1.0", "٣", "１", "NaN", "null", ""),
    *("%00", "%ff", "%2e%2e", "..", "0%2f..%2f1", "0/../1", "0;x=1", "0%20", "%F0%9F%98%80", "*", "0%0d%0aX:1", "[0]"),
)
SHOWINGS = ("2", "9", "-1", str(2**63), str(HUGE), "x", "%00", "..", "0/..", "")


@dataclass(frozen=True)
class Call:
    """One call; `mayread` when it reads what its token may read, with something odd about it that does no harm."""

    endpoint: str
    method: str
    path: str
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    mayread: bool = False

    def __str__(self) -> str:
        sent = f"{self.content_type[:40]!r} {self.body[:120]!r} {dict(self.headers)!r:.200}"
        return f"{self.method[:12]} {self.path[:120]} {sent}"


@dataclass(frozen=True)
class Endpoint:
    """An address that a page calls: the body it sends, and which of its fields may be left out or odd without harm."""

    name: str
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    #: by field, values that are wrong for sure
    wrong: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    has_token: bool = True
    has_lease: bool = False
    #: a call with a token and a lease that are good reads, and changes nothing
    reads: bool = False


class Hostile:
    """A seeded stream of calls to one endpoint."""

    def __init__(self, endpoint: Endpoint, *, token: str, lease: str, tokens: Mapping[str, str], seed: int) -> None:
        self.endpoint, self.token, self.lease, self.tokens = endpoint, token, lease, tokens
        self.rng = random.Random(f"{endpoint.name}-{seed}")  # noqa: S311 - no secret

    def calls(self, count: int) -> Iterator[Call]:
        kinds: list[Callable[[], Call]] = [self.other_method, self.other_address]
        if self.endpoint.has_token:
            kinds += [self.other_token, self.other_token]
        if self.endpoint.has_lease:
            kinds.append(self.other_lease)
        if self.endpoint.body is not None:
            kinds += [self.other_type, self.no_object, self.no_object]
        if self.endpoint.wrong:
            kinds += [self.wrong_field] * 4
        if self.endpoint.reads:
            kinds.append(self.odd_but_harmless)
        for number in range(count):
            yield kinds[number % len(kinds)]()

    def _call(self, **changes: Any) -> Call:
        body = json.dumps(self.endpoint.body).encode() if self.endpoint.body is not None else b""
        settings = {
            "method": self.endpoint.method,
            "path": self.endpoint.path,
            "body": body,
            "headers": self._headers(),
        }
        return Call(endpoint=self.endpoint.name, **{**settings, **changes})

    def _headers(self, **changes: str) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {self.token}"} if self.endpoint.has_token else {}
        return {**headers, **({"X-Lease": self.lease} if self.endpoint.has_lease else {}), **changes}

    def _junk(self, depth: int = 0) -> Any:
        if depth < 3 and self.rng.random() < 0.3:
            inner = [self._junk(depth + 1) for _ in range(self.rng.randrange(4))]
            return inner if self.rng.random() < 0.5 else {f"k{number}": value for number, value in enumerate(inner)}
        return self.rng.choice(JUNK)

    def wrong_field(self) -> Call:
        """A body as the page sends it, with one field wrong, missing where it is needed, and some that nobody knows."""
        name = self.rng.choice(sorted(self.endpoint.wrong))
        value = self.rng.choice(self.endpoint.wrong[name])
        body = {**(self.endpoint.body or {}), name: value}
        if value is MISSING:
            del body[name]
        for number in range(self.rng.randrange(3)):
            body[f"unknown{number}"] = self._junk()
        text = json.dumps(body)
        if self.rng.random() < 0.2:
            text = (
                text[:-1] + f', "{name}": {json.dumps(None if value is MISSING else value)}}}'
            )  # twice; the last counts
        return self._call(body=text.encode())

    def no_object(self) -> Call:
        body = self.rng.choice(BODIES)
        if self.rng.random() < 0.2:
            body = self.rng.randbytes(self.rng.randrange(1, 3000))
        return self._call(body=body)

    def other_type(self) -> Call:
        return self._call(content_type=self.rng.choice(TYPES[: 6 if self.rng.random() < 0.5 else len(TYPES)]))

    def other_method(self) -> Call:
        method = self.rng.choice([known for known in METHODS if known.upper() != self.endpoint.method])
        return self._call(method=method)

    def other_token(self) -> Call:
        kind = self.rng.choice(sorted(self.tokens))
        return self._call(headers=self._headers(Authorization=self.tokens[kind]))

    def other_lease(self) -> Call:
        return self._call(headers=self._headers(**{"X-Lease": self.rng.choice(LEASES)}))

    def other_address(self) -> Call:
        path = self.endpoint.path
        if "/trials/" in path:
            head, tail = path.split("/trials/")
            parts = tail.split("/")
            if "/pictures/" in path:
                ends = [self.rng.choice((*POSITIONS, "0", "9")) for _ in range(2)]
                return self._call(path=f"{head}/trials/{'-'.join(ends)}/pictures/")
            places = [0, 2] if "/stimulus/" in path else [0]
            place = self.rng.choice(places)
            parts[place] = self.rng.choice(POSITIONS if place == 0 else SHOWINGS)
            return self._call(path=f"{head}/trials/{'/'.join(parts)}")
        tricks = (
            path.rstrip("/"), f"{path}..", f"{path}%00", f"{path}x/", path.upper(), "/" + path[1:].replace("/", "//"),
            path.replace("/", "/./", 2), f"{path}%2e%2e%2f", path.replace("run", "%72un%ff"), f"{path};a=b",
            f"{path}\\", f"{path}{'a/' * 500}", path.replace("v1", "v2"), "/%2Fevil.example" + path,
        )  # fmt: skip
        return self._call(path=self.rng.choice([trick for trick in tricks if trick != path]))

    def odd_but_harmless(self) -> Call:
        odd = self.rng.choice(("?position=99&x=%00", "?" + "a=1&" * 300, "?%ff", "", ""))
        headers = {"Accept": "text/html", "Accept-Language": "xx;q=9,\xff", "Cookie": "humanexp_session=%00; =; a"}
        lengths = {"Content-Length": self.rng.choice(("-1", "abc", "99999999999"))} if self.rng.random() < 0.3 else {}
        body = self.rng.choice(BODIES[:20])
        # What is sent is UTF-8 whatever is said of it.
        content_type = self.rng.choice(("application/json; charset=utf-7", "application/json; charset=nonsense", "x"))
        return self._call(
            path=self.endpoint.path + odd,
            headers=self._headers(**headers, **lengths),
            body=body,
            content_type=content_type,
            mayread=True,
        )


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING: Any = _Missing()
