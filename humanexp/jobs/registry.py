"""Which function does which kind of job: the jobs module of every app registers its own when it is imported.

That is when somebody asks for a job of that app, or for all of them: a process that runs no jobs never loads what they
need.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Protocol, get_type_hints

from django.apps import apps
from django.utils.module_loading import autodiscover_modules, module_has_submodule
from pydantic import ConfigDict, create_model

from analysis.study.base import Spec
from humanexp.core.errors import JobError


class Progress(Protocol):
    """What a handler is given to say how far it is, and to hear that it should stop."""

    def __call__(self, done: int, total: int, message: str = "") -> None:
        """Store progress (at most once a second); raises JobCancelled when someone asked to cancel."""


def silent(done: int, total: int, message: str = "") -> None:
    """The progress of work that nobody watches."""


#: Each has keywords of its own, which mypy cannot say of all of them; they are checked by `Registered.checked`.
Handler = Callable[..., Mapping[str, object] | None]  # type: ignore[explicit-any]
Keywords = Callable[..., object]  # type: ignore[explicit-any]


class Parameters(Spec):
    """What a job of some kind is given; stored as JSON with the job."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @classmethod
    def called(cls) -> str:
        return f"A job of the kind {cls.__name__}"


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
    #: the function whose keywords are the parameters, where it is another one
    takes: Keywords | None = None
    #: names that jobs of this kind had in earlier versions: some may still be waiting under them
    former: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Under which jobs of this kind are stored."""
        return (self.kind, *self.former)

    @cached_property
    def parameters(self) -> type[Parameters]:
        """The model of the parameters: the keywords of the handler, with their types and defaults."""
        taken = self.takes or self.run
        hints = get_type_hints(taken)
        keywords = (one for one in inspect.signature(taken).parameters.values() if one.kind is one.KEYWORD_ONLY)
        fields = {one.name: (hints[one.name], ... if one.default is one.empty else one.default) for one in keywords}
        return create_model(self.kind, __base__=Parameters, **fields)  # type: ignore[call-overload, no-any-return]

    def checked(self, stored: Mapping[str, object]) -> dict[str, object]:
        """What the handler is called with; raises InvalidInput where a parameter is missing, unknown or of no use."""
        parameters = self.parameters.from_dict(stored)
        return {name: getattr(parameters, name) for name in type(parameters).model_fields}


#: Those that are registered by now; `handlers` has all.
HANDLERS: dict[str, Registered] = {}
#: Modules that import each other are not imported by two threads at once.
_LOADING = threading.RLock()


def handler(
    kind: str,
    *,
    title: str = "",
    every_s: float | None = None,
    is_prompt: bool = False,
    takes: Keywords | None = None,
    former: tuple[str, ...] = (),
) -> Callable[[Handler], Handler]:
    """Register `run(progress, *, parameter: type, ...) -> result or None` for jobs of this kind.

    Its keywords are the parameters, checked when a job is submitted and when it runs; where it hands all of them on to
    another function, `takes` is that one. `former` are kinds that such jobs had before they were renamed.
    """

    def register(run: Handler) -> Handler:
        HANDLERS[kind] = Registered(kind, run, every_s, title, is_prompt, takes, former)
        return run

    return register


def handlers() -> dict[str, Registered]:
    """Every kind, of all apps."""
    _load_all()
    return HANDLERS


@cache
def _load_all() -> None:
    with _LOADING:
        autodiscover_modules("jobs")


def kinds_in_lane(*, is_prompt: bool) -> list[str]:
    """Kinds that one of the runner's two lanes takes: short work has one of its own."""
    return [name for known in handlers().values() if known.is_prompt == is_prompt for name in known.names]


def registered(kind: str) -> Registered:
    known = HANDLERS.get(kind) or _of_app(kind) or next((one for one in handlers().values() if kind in one.names), None)
    if known is None:
        raise JobError(f"No handler is registered for jobs of kind {kind!r}.")
    return known


def _of_app(kind: str) -> Registered | None:
    """Kinds are named after their app: the others stay unloaded."""
    app = apps.app_configs.get(kind.partition(".")[0])
    if app is not None and module_has_submodule(app.module, "jobs"):
        with _LOADING:
            import_module(f"{app.name}.jobs")
    return HANDLERS.get(kind)
