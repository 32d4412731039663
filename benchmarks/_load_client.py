"""Participants' browsers for `benchmarks.load`: one event loop, kept connections, nothing parsed without need."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: As the page fetches pictures: so many calls at once, each for so many trials.
PARALLEL, AT_ONCE = 2, 4
#: A reply that takes longer is a fault.
PATIENCE_S = 60.0


@dataclass
class Measured:
    """What all participants saw: (start, milliseconds) by kind of call, faults, and acknowledged answers."""

    calls: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    server_errors: int = 0
    #: refusals and lost connections, by what they were
    faults: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    #: (token's session, position) -> the response that the server said it has
    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict)


class Connection(asyncio.Protocol):
    """One kept HTTP/1.1 connection, one request at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._needed: int | None = None
        self._status = 0
        self._body_at = 0
        self._reply: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(ConnectionResetError("cut off"))

    def data_received(self, content: bytes) -> None:
        self._received += content
        if self._needed is None:
            end = self._received.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self._received[:end]).lower()
            self._status = int(head[9:12])
            at = head.find(b"\r\ncontent-length:")
            length = int(head[at + 17 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            self._body_at, self._needed = end + 4, end + 4 + length
        if len(self._received) >= self._needed and self._reply is not None and not self._reply.done():
            self._reply.set_result((self._status, bytes(self._received[self._body_at : self._needed])))

    def send(self, request: bytes) -> asyncio.Future[tuple[int, bytes]]:
        if self.transport is None:
            raise ConnectionResetError("closed")
        self._received.clear()
        self._needed = None
        self._reply = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._reply


class Browser:
    """The connections of one participant; a call on a connection that was closed is sent again, as browsers do."""

    def __init__(self, host: str, port: int, measured: Measured) -> None:
        self._host, self._port, self._measured = host, port, measured
        self._idle: list[Connection] = []
        self.headers: dict[str, str] = {}

    async def call(self, kind: str, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}:{self._port}", "Accept: application/json, image/png"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if content:
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        request = "\r\n".join(lines).encode() + b"\r\n\r\n" + content
        started = time.perf_counter()
        status, reply = 0, b""
        for attempt in range(4):
            try:
                status, reply = await self._exchange(request)
                break
            except (OSError, TimeoutError) as error:
                self._measured.faults[f"{kind}: {type(error).__name__}"] += bool(attempt)
        self._measured.calls[kind].append((started, 1000 * (time.perf_counter() - started)))
        if status >= 500:
            self._measured.server_errors += 1
        if not 200 <= status < 300:
            self._measured.faults[f"{kind}: {status} {reply[:80]!r}"] += 1
        return status, reply

    async def _exchange(self, request: bytes) -> tuple[int, bytes]:
        connection = self._idle.pop() if self._idle else None
        if connection is None or connection.transport is None:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(Connection, self._host, self._port)
        reply = await asyncio.wait_for(connection.send(request), PATIENCE_S)
        self._idle.append(connection)
        return reply


@dataclass
class Plan:
    """When things happen, on the clock of time.perf_counter()."""

    cycle_s: float
    #: every participant begins at a moment of their own before this one
    ramp_ends: float
    ends: float


class Participant:
    """Opens a session as the frame does, then takes part as the page does: a block's pictures, then its answers."""

    def __init__(self, number: int, entry: str, browser: Browser, measured: Measured, rng: random.Random) -> None:
        self.number, self._entry, self._browser, self._measured, self._rng = number, entry, browser, measured, rng
        self.session = ""
        # Everybody calls from home: behind one address they would be a class.
        home = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        browser.headers = {"X-Forwarded-For": home}

    async def open(self) -> None:
        """A refusal is counted, and this participant stays at home."""
        body = {"consent": True, "workerId": f"load-{self.number}"}
        status, reply = await self._browser.call("open", "POST", f"{self._entry}open/", body)
        if status == 201:
            token = json.loads(reply)["token"]
            self.session = token.split(":")[0]
            self._browser.headers["Authorization"] = f"Bearer {token}"

    async def _enter(self) -> bool:
        """Into the study's window. The first code is older than a minute by then: the frame asks for a fresh one."""
        browser, api = self._browser, "/api/v1/run/"
        if not self.session:
            return False
        status, reply = await browser.call("fresh code", "POST", f"{self._entry}handoff/")
        if status != 200:
            return False
        status, reply = await browser.call("handoff", "POST", f"{api}handoff/", {"code": json.loads(reply)["handoff"]})
        if status != 200:
            return False
        browser.headers["Authorization"] = f"Bearer {json.loads(reply)['token']}"
        browser.headers["X-Lease"] = f"tab-{self.number:08d}"
        return True

    async def take_part(self, plan: Plan) -> None:
        browser, api = self._browser, "/api/v1/run/"
        await asyncio.sleep(self._rng.uniform(0, max(0.0, plan.ramp_ends - time.perf_counter())))
        if not await self._enter():
            return
        await browser.call("lease", "POST", f"{api}lease/", {"lease": browser.headers["X-Lease"]})
        status, reply = await browser.call("session", "GET", f"{api}session/")
        if status != 200:
            return
        for block in json.loads(reply)["blocks"]:
            positions = range(block["first"], block["last"] + 1)
            await self._prefetch(positions)
            for position in positions:
                await asyncio.sleep(plan.cycle_s * self._rng.uniform(0.8, 1.2))
                if time.perf_counter() > plan.ends:
                    return
                await self._answer(position)
        await browser.call("complete", "POST", f"{api}complete/", {"environment": {"screen_px": [1920, 1080]}})

    async def _prefetch(self, positions: range) -> None:
        waiting = iter(range(positions.start, positions.stop, AT_ONCE))

        async def work() -> None:
            for first in waiting:
                last = min(first + AT_ONCE, positions.stop) - 1
                await self._browser.call("pictures", "GET", f"/api/v1/run/trials/{first}-{last}/pictures/")

        await asyncio.gather(*(work() for _ in range(PARALLEL)))

    async def _answer(self, position: int) -> None:
        response = self._rng.choice(("dog", "cat", "car", "oven"))
        status, _ = await self._browser.call(
            "response", "POST", "/api/v1/run/responses/", {**ANSWER, "position": position, "response": response}
        )
        if status in (200, 201):
            self._measured.acknowledged[self.session, position] = response


#: What the page sends with an answer, all of its timing record included.
ANSWER: Mapping[str, Any] = {
    "rt_ms": 812.4000000003725,
    "clicks": [{"choice": "dog", "t_ms": 812.4000000003725, "input": "pointer"}],
    "timing": {
        "t_refresh_median_ms": 16.666,
        "t_refresh_mad_ms": 0.021,
        "frames_target": 12,
        "frames_shown": 12,
        "dur_stim_ms": 200.004,
        "dur_stim_taken_ms": 200.1,
        "dur_mask_ms": 200.003,
        "dur_fix_ms": 300.01,
        "isi_frames": 0,
        "ts_fix_on": 123456.789,
        "ts_stim_on": 123756.799,
        "ts_mask_on": 123956.803,
        "ts_grid_on": 124156.806,
        "max_frame_gap_ms": 16.7,
        "n_long_frames": 0,
        "callback_lag_max_ms": 0.4,
        "visible_whole_trial": True,
        "focused_whole_trial": True,
        "fullscreen": True,
        "resized": False,
        "dpr": 1.0,
        "css_px": 224,
        "canvas_px": 224,
        "decode_ok": True,
        "n_clicks": 1,
        "rt_from_stim_ms": 1212.41,
        "engine_version": "2.0",
    },
    "simulated": False,
}


async def opened(participants: list[Participant]) -> None:
    """All sessions, four at a time: people do not agree in the same millisecond."""
    waiting = iter(participants)

    async def work() -> None:
        for participant in waiting:
            await participant.open()

    await asyncio.gather(*(work() for _ in range(PARALLEL)))


async def lag(samples: list[float]) -> None:
    """How late this event loop runs: what is measured cannot be finer than that."""
    while True:
        due = time.perf_counter() + 0.05
        await asyncio.sleep(0.05)
        samples.append(1000 * (time.perf_counter() - due))
