"""A participant to whom everything happens that happens to browsers: reloads, lost replies, double clicks, tunnels.

What went wrong is drawn from a seed; what came of it is written down, so that it can be held against the database.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin, urlsplit

import numpy as np
import requests

from humanexp.simulation.participant import OpenSession, ParticipationFailed, PatientConnection, ScriptedParticipant

_TAKEN_OVER = 409
#: How often one person's session may be taken over by a request of theirs that arrives late.
_MOST_STARTS = 200
_OFFLINE_S = 0.02


@dataclass(frozen=True, kw_only=True)
class Weather:
    """What goes wrong how often.

    Parameters
    ----------
    lost_reply, hung_up, unsent : float
        A request: its reply is thrown away; its connection is closed before the reply; it never leaves the house.
    reload, reopened, second_tab, offline, double_click, other_answer : float
        A trial: the page is loaded again; its window was closed and is opened anew with a one-time code; another tab
        takes over and the old one still sends; several trials are answered before any is sent; an answer is sent
        several times at once; an answer that is stored is sent again as another one.
    leave : float
        A person: goes away for good in the middle.
    """

    lost_reply: float = 0.03
    hung_up: float = 0.03
    unsent: float = 0.03
    reload: float = 0.06
    reopened: float = 0.03
    second_tab: float = 0.05
    offline: float = 0.06
    double_click: float = 0.08
    other_answer: float = 0.05
    leave: float = 0.1


class UnreliableSession(requests.Session):
    """A browser profile on a bad line. To the caller every fault looks the same: no reply."""

    def __init__(self, weather: Weather, rng: np.random.Generator, faults: Counter[str]) -> None:
        super().__init__()
        self.weather = weather
        self.faults = faults
        self._rng = rng

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **arguments: Any) -> requests.Response:
        draw = self._rng.random()
        weather = self.weather
        if draw < weather.unsent:
            self.faults["unsent"] += 1
            raise requests.ConnectionError("the line is down")
        if draw < weather.unsent + weather.hung_up:
            self.faults["hung_up"] += 1
            known = {name: arguments[name] for name in ("json", "headers") if name in arguments}
            _send_and_hang_up(self.prepare_request(requests.Request(str(method), str(url), **known)))
            raise requests.ConnectionError("hung up before the reply")
        reply = super().request(method, url, *args, **arguments)
        if draw < weather.unsent + weather.hung_up + weather.lost_reply:
            self.faults["lost_reply"] += 1
            raise requests.ConnectionError("the reply was lost")
        return reply


def _send_and_hang_up(prepared: requests.PreparedRequest) -> None:
    parts = urlsplit(str(prepared.url))
    body = prepared.body or b""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"{prepared.method} {prepared.path_url} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in prepared.headers.items() if name.lower() != "host"]
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=5) as line:
            line.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    except OSError as error:
        raise requests.ConnectionError(str(error)) from error


@dataclass(kw_only=True)
class Story:
    """What one person remembers."""

    name: str
    token: str = ""
    #: answers of which the server has said that it has them, by position
    acknowledged: dict[int, str] = field(default_factory=dict)
    #: the one answer that was given at each position
    sent: dict[int, str] = field(default_factory=dict)
    #: answers that must not be stored: sent by a tab that had lost the session, or after another one was stored
    in_vain: list[tuple[int, str]] = field(default_factory=list)
    happened: Counter[str] = field(default_factory=Counter)
    has_left: bool = False
    completion: Mapping[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True)
class ChaoticParticipant:
    """Takes part by a plain link, whatever happens, unless they leave."""

    person: ScriptedParticipant
    weather: Weather
    rng: np.random.Generator
    #: leaves for good, or stays however bad it gets
    may_leave: bool = True
    story: Story = field(init=False)

    def __post_init__(self) -> None:
        self.story = Story(name=self.person.name)
        self.person.connection = PatientConnection(UnreliableSession(self.weather, self.rng, self.story.happened))

    def take_part(self, entry_url: str) -> Story:
        """From the entry page to the end, or to the trial at which this person leaves.

        Raises
        ------
        ParticipationFailed
            If the server refuses what it should take, or takes what it should refuse.
        """
        session = self.person.open_session(entry_url)
        self.story.token = session.token
        left = self.may_leave and self.rng.random() < self.weather.leave
        leaves_at: int | None = None
        unsent: list[dict[str, Any]] = []  # what the page keeps of answers that are not acknowledged
        for _ in range(_MOST_STARTS):
            try:
                state = session.start()
                if left and leaves_at is None:
                    leaves_at = int(self.rng.integers(state["total"]))
                for position in range(self._flush(session, unsent, state["cursor"]), state["total"]):
                    if leaves_at is not None and position >= leaves_at:
                        self.story.has_left = True
                        return self.story
                    session, goes_on = self._trial(session, position, state, unsent)
                    if not goes_on:
                        break
                else:
                    self.story.completion = session.complete()
                    session.finish_link()
                    return self.story
            except ParticipationFailed as error:
                # A request of an older tab that was thought lost may arrive late: the page offers to go on here.
                if "lease-lost" not in str(error):
                    raise
                self.story.happened["taken over"] += 1
            session = replace(session, lease=secrets.token_hex(8))
        raise ParticipationFailed(f"{self.story.name}: started {_MOST_STARTS} times and did not finish")

    def _trial(
        self, session: OpenSession, position: int, state: Mapping[str, Any], unsent: list[dict[str, Any]]
    ) -> tuple[OpenSession, bool]:
        """One trial, or several; the tab that goes on, and whether it knows where it is."""
        event = self._event()
        if event:
            self.story.happened[event] += 1
        if event == "reload":
            return replace(session, lease=secrets.token_hex(8)), False
        if event == "reopened":
            return self._reopened(session), False
        if event == "offline":
            return self._offline(session, position, state, unsent), False
        response = self._response_to(session, position, state)
        if event == "second_tab":
            return self._second_tab(session, response), False
        if event == "double_click":
            self._double_click(session, response)
        else:
            session.send(response)
        self._heard(response)
        if event == "other_answer":
            session.send(self._otherwise(response))
        return session, True

    def _event(self) -> str:
        draw = self.rng.random()
        for name in ("reload", "reopened", "second_tab", "offline", "double_click", "other_answer"):
            draw -= getattr(self.weather, name)
            if draw < 0:
                return name
        return ""

    def _response_to(self, session: OpenSession, position: int, state: Mapping[str, Any]) -> dict[str, Any]:
        response = session.response_to(position, state)
        self.story.sent[position] = response["response"]
        return response

    def _heard(self, response: Mapping[str, Any]) -> None:
        self.story.acknowledged[response["position"]] = response["response"]

    def _otherwise(self, response: Mapping[str, Any]) -> dict[str, Any]:
        """Another answer to the same trial, which must not be stored."""
        other = "dog" if response["response"] != "dog" else "cat"
        self.story.in_vain.append((response["position"], other))
        return {**response, "response": other}

    def _flush(self, session: OpenSession, unsent: list[dict[str, Any]], cursor: int) -> int:
        """Send what was kept, in order; where the session stands then."""
        while unsent:
            cursor = int(session.send(unsent[0])["cursor"])
            self._heard(unsent.pop(0))
        return cursor

    def _offline(
        self, session: OpenSession, position: int, state: Mapping[str, Any], unsent: list[dict[str, Any]]
    ) -> OpenSession:
        """Goes on in the block with pictures that are there already; the page sends later, in order, or is reloaded."""
        last = next(block["last"] for block in state["blocks"] if block["first"] <= position <= block["last"])
        ahead = range(position, min(last, position + int(self.rng.integers(1, 5))) + 1)
        unsent += [self._response_to(session, each, state) for each in ahead]
        time.sleep(_OFFLINE_S)
        if self.rng.random() < 0.3:  # what was sent is acknowledged, and the page does not hear it
            session.send(unsent[0])
        return replace(session, lease=secrets.token_hex(8))

    def _second_tab(self, session: OpenSession, response: Mapping[str, Any]) -> OpenSession:
        """The session is opened in another tab; the first one sends an answer all the same."""
        second = replace(session, lease=secrets.token_hex(8))
        second.start()
        other = self._otherwise(response)
        url = urljoin(session.api, "responses/")
        reply = self.person.connection.request("POST", url, json=other, headers=session.headers)
        if reply.ok:
            # The first tab's own request for the session, thought lost, came after the second one's: it owns it again.
            self.story.in_vain.pop()
            self.story.sent[other["position"]] = other["response"]
            self._heard(other)
            self.story.happened["old tab owned it"] += 1
        elif reply.status_code != _TAKEN_OVER:
            raise ParticipationFailed(f"a tab that had lost its session was answered {reply.status_code}")
        return second

    def _double_click(self, session: OpenSession, response: Mapping[str, Any]) -> None:
        """The same answer several times at once, over connections of their own."""

        def send(_: int) -> int:
            connection = PatientConnection()
            body, headers = dict(response), session.headers
            return connection.post(urljoin(session.api, "responses/"), json=body, headers=headers).status_code

        copies = int(self.rng.integers(2, 4))
        with ThreadPoolExecutor(copies) as pool:
            statuses: Sequence[int] = list(pool.map(send, range(copies)))
        stored = statuses.count(201)
        if stored > 1:
            raise ParticipationFailed(f"trial {response['position']}: one answer was stored {stored} times")

    def _reopened(self, session: OpenSession) -> OpenSession:
        """A new window, opened with a one-time code; a code whose exchange was not heard of is used up."""
        for _ in range(20):
            connection = self.person.connection
            code = connection.post(urljoin(session.entry, "handoff/"), headers=session.headers).json()["handoff"]
            reply = connection.request("POST", urljoin(session.api, "handoff/"), json={"code": code})
            if reply.ok:
                return replace(session, token=reply.json()["token"], lease=secrets.token_hex(8))
        raise ParticipationFailed("no one-time code opened the session")
