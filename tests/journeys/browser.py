"""A participant's browser without a screen: it fetches what the pages fetch, and keeps everything that it is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import requests

#: What a page, a style sheet or a module fetches by itself.
_LINKS = re.compile(
    r"""(?:src|href)="([^"#]+)"|url\("?([^")]+)"?\)|(?:from|import)\s*\(?\s*"(\.[^"]+)"|"(/static/[^"]+)\""""
)


@dataclass(frozen=True)
class Reply:
    """Something that was sent to the browser, and what the server knew by then."""

    method: str
    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    #: positions whose answers the server had acknowledged before
    answered: frozenset[int]
    #: what the request carried
    asked: Mapping[str, Any]

    @property
    def path(self) -> str:
        return urlsplit(self.url).path

    @property
    def kind(self) -> str:
        return self.headers.get("Content-Type", "").partition(";")[0]

    @property
    def is_picture(self) -> bool:
        return self.kind == "application/octet-stream"

    @property
    def pictures(self) -> list[bytes]:
        """The pictures that came one after another."""
        ends = list(accumulate(int(length) for length in self.headers["Picture-Lengths"].split(",")))
        assert ends[-1] == len(self.body)
        return [self.body[start:end] for start, end in pairwise([0, *ends])]

    @property
    def is_static(self) -> bool:
        return self.path.startswith("/static/")

    @property
    def text(self) -> str:
        """Everything in it that can be read: address, headers, body."""
        body = "" if self.is_picture else self.body.decode()
        return "\n".join([self.url, *(f"{name}: {value}" for name, value in self.headers.items()), body])


@dataclass
class Browser:
    http: requests.Session = field(default_factory=requests.Session)
    received: list[Reply] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)

    def fetch(self, method: str, url: str, **arguments: Any) -> Reply:
        # Each redirect is a reply, too.
        response = self.http.request(method, url, timeout=30, **arguments)
        for hop in [*response.history, response]:
            self.received.append(
                Reply(
                    method=str(hop.request.method),
                    url=hop.url,
                    status=hop.status_code,
                    headers=dict(hop.headers),
                    body=hop.content,
                    answered=frozenset(self.answered),
                    asked=arguments.get("json") or {},
                )
            )
        return self.received[-1]

    def get(self, url: str, **arguments: Any) -> Reply:
        return self.fetch("GET", url, **arguments)

    def post(self, url: str, **arguments: Any) -> Reply:
        return self.fetch("POST", url, **arguments)

    def page(self, url: str, **arguments: Any) -> Reply:
        """A page, with every file that it links to on its own site."""
        page = self.get(url, **arguments)
        self._fetch_parts(page)
        return page

    def _fetch_parts(self, reply: Reply) -> None:
        for found in _LINKS.finditer(reply.body.decode()):
            link = next(filter(None, found.groups()))
            url = urldefrag(urljoin(reply.url, link.replace("&amp;", "&"))).url
            is_own = urlsplit(url).netloc == urlsplit(reply.url).netloc
            if is_own and "/static/" in url and url not in {known.url for known in self.received}:
                part = self.get(url)
                assert part.status == 200, url
                if part.kind in ("text/css", "text/javascript", "application/javascript"):
                    self._fetch_parts(part)
