"""Which function does which kind of job. Apps register in AppConfig.ready() by importing their handlers module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from humanexp.core.errors import JobError


class Progress(Protocol):
    """What a handler is given to say how far it is, and to hear that it should stop."""

    def __call__(self, done: int, total: int, message: str = "") -> None:
        """Store progress (at most once a second); raises JobCancelled when someone asked to cancel."""


Handler = Callable[..., dict[str, Any] | None]


@dataclass(frozen=True)
class Registered:
    kind: str
    run: Handler
    #: when set, run_jobs keeps one such job scheduled at this interval
    every_s: float | None
    #: what it does, for people who wait for it
    title: str = ""
    #: short, and somebody waits for it: it never stands behind long work
    is_prompt: bool = False


HANDLERS: dict[str, Registered] = {}


def handler(
    kind: str, *, title: str = "", every_s: float | None = None, is_prompt: bool = False
) -> Callable[[Handler], Handler]:
    """Register `run(progress, **parameters) -> result or None` for jobs of this kind."""

    def register(run: Handler) -> Handler:
        HANDLERS[kind] = Registered(kind, run, every_s, title, is_prompt)
        return run

    return register


def kinds_in_lane(*, is_prompt: bool) -> list[str]:
    """Kinds that one of the runner's two lanes takes: short work has one of its own."""
    return [known.kind for known in HANDLERS.values() if known.is_prompt == is_prompt]


def registered(kind: str) -> Registered:
    try:
        return HANDLERS[kind]
    except KeyError:
        raise JobError(f"No handler is registered for jobs of kind {kind!r}.") from None
