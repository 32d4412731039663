"""Firefox over WebDriver BiDi: the few commands that a participant's way takes, with real pointer and key events."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

FIREFOX = shutil.which("firefox-esr")
PATIENCE_S = 30
#: Signs under which WebDriver knows keys that write nothing.
KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Space": " ", "ArrowDown": "\ue015", "ArrowRight": "\ue014"}
_LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class NotThereError(AssertionError):
    """What was to be pressed has gone, or has not come."""


class Firefox:
    """A browser without a screen, and the session with it."""

    def __init__(self, socket: WebSocketClientConnection, loop: asyncio.AbstractEventLoop) -> None:
        self._socket, self._loop, self._number = socket, loop, 0
        #: errors of scripts and of the console
        self.complaints: list[str] = []
        self.capabilities = self.sends("session.new", capabilities={})["capabilities"]
        self.sends("session.subscribe", events=["log.entryAdded"])

    def sends(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        self._waits(self._said({"id": self._number, "method": method, "params": parameters}))
        while True:
            said = self._waits(self._heard())
            if said.get("type") == "event":
                entry = said["params"]
                if entry.get("level") == "error":
                    self.complaints.append(str(entry.get("text")))
            elif said.get("id") == self._number:
                assert said["type"] == "success", said
                return dict(said["result"])

    def _waits(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _said(self, message: dict[str, Any]) -> None:
        await self._socket.write_message(json.dumps(message))

    async def _heard(self) -> dict[str, Any]:
        message = await self._socket.read_message()
        assert message is not None, "Firefox has hung up"
        return dict(json.loads(message))

    def opens(self, width: int, height: int) -> Tab:
        tab = Tab(self, self.sends("browsingContext.create", type="window")["context"])
        tab.sized(width, height)
        return tab


class Tab:
    def __init__(self, firefox: Firefox, context: str) -> None:
        self.firefox, self.context = firefox, context

    def sized(self, width: int, height: int) -> None:
        viewport = {"width": width, "height": height}
        self.firefox.sends("browsingContext.setViewport", context=self.context, viewport=viewport)

    def goes_to(self, url: str) -> None:
        self.firefox.sends("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def asks(self, expression: str) -> Any:
        """The value of an expression, as JSON has it."""
        reply = self._evaluated(f"JSON.stringify(({expression}) ?? null)")
        return json.loads(reply["value"])

    def _evaluated(self, expression: str) -> dict[str, Any]:
        reply = self.firefox.sends(
            "script.evaluate",
            expression=expression,
            target={"context": self.context},
            awaitPromise=True,
            # as if somebody had pressed: windows and full screen are opened by presses alone
            userActivation=False,
        )
        assert reply["type"] == "success", reply
        return dict(reply["result"])

    def waits_for(self, expression: str, what: str = "") -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not self.asks(f"Boolean({expression})"):
            assert time.monotonic() < deadline, what or expression
            time.sleep(0.02)

    def sees(self, selector: str) -> bool:
        return bool(self.asks(f"document.querySelector({json.dumps(selector)})?.checkVisibility()"))

    def clicks(self, selector: str) -> None:
        """With a real pointer, in the middle of what is seen."""
        quoted = json.dumps(selector)
        self.asks(f"document.querySelector({quoted})?.scrollIntoView({{ block: 'center' }})")
        node = self._evaluated(f"(one => one?.checkVisibility() ? one : null)(document.querySelector({quoted}))")
        if "sharedId" not in node:
            raise NotThereError(selector)
        origin = {"type": "element", "element": {"sharedId": node["sharedId"]}}
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._acts({"type": "pointer", "id": "mouse", "actions": steps})

    def presses(self, key: str) -> None:
        value = KEYS.get(key, key)
        steps = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._acts({"type": "key", "id": "keyboard", "actions": steps})

    def _acts(self, source: dict[str, Any]) -> None:
        try:
            self.firefox.sends("input.performActions", context=self.context, actions=[source])
        except AssertionError as error:
            raise NotThereError(str(error)) from error


@contextmanager
def running() -> Iterator[Firefox]:
    """Firefox with a profile of its own, ended with all that it has started."""
    profile = tempfile.mkdtemp(prefix="humanexp-firefox-")
    command = [str(FIREFOX), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
    with (Path(profile) / "stderr.log").open("w+") as log:
        process = subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL)
        # In a thread: playwright's loop may be running in this one.
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            connecting = asyncio.run_coroutine_threadsafe(_connected(f"{_address(Path(log.name))}/session"), loop)
            socket = connecting.result(PATIENCE_S)
            yield Firefox(socket, loop)
            loop.call_soon_threadsafe(socket.close)
        finally:
            process.terminate()
            process.wait(20)
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0.2), loop).result(5)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(5)
            loop.close()
            shutil.rmtree(profile, ignore_errors=True)


async def _connected(address: str) -> WebSocketClientConnection:
    return await websocket_connect(address, max_message_size=50_000_000)


def _address(log: Path) -> str:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := _LISTENING.search(log.read_text()):
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"Firefox has not begun to listen: {log.read_text()[-500:]}")
