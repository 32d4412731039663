"""What a failed test of pages leaves behind, in a folder of its own below GATE_EVIDENCE; without it, nothing is kept.

A screenshot and the text of every open page, and what the servers have said; the report of the failure names the files.
With GATE_TRACE=1 also Playwright's trace of every browser profile (`playwright show-trace FILE`): tracing takes half as
much processor time again, so it is for a second look.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

#: Of one screenshot: a page that does not answer is left out.
_PATIENCE_MS = 5_000
#: Profiles that were opened for the test under way.
_opened: list[Any] = []


def folder() -> Path | None:
    return Path(kept) if (kept := os.environ.get("GATE_EVIDENCE")) else None


def is_traced() -> bool:
    return os.environ.get("GATE_TRACE") == "1"


def watched(browser: Any) -> Any:
    """The browser, whose profiles are known from now on where evidence is kept."""
    if folder() is not None:
        browser.new_context = _noting(browser.new_context)
        kind = browser.browser_type
        kind.launch_persistent_context = _noting(kind.launch_persistent_context)
    return browser


def _noting(opens: Callable[..., Any]) -> Callable[..., Any]:
    def noted(*arguments: Any, **options: Any) -> Any:
        context = opens(*arguments, **options)
        _opened.append(context)
        if is_traced():
            context.tracing.start(screenshots=True, snapshots=True)
        return context

    return noted


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    kept = folder()
    if kept is not None and report.failed and item.get_closest_marker("browser"):
        place = _place(kept, item.nodeid, report.when)
        report.sections.append(("Evidence", "\n".join(str(file) for file in _keep(item, report, place))))
    if report.when == "teardown":
        _opened.clear()
    return report


def _place(kept: Path, nodeid: str, when: str) -> Path:
    """Named after the test; a second look leaves the first one's as it was."""
    name = re.sub(r"[^\w.-]+", "-", nodeid).strip("-")[-150:] + ("" if when == "call" else f"-{when}")
    number = 1
    while (place := kept / (name if number == 1 else f"{name}.{number}")).exists():
        number += 1
    place.mkdir(parents=True)
    return place


def _keep(item: pytest.Item, report: Any, place: Path) -> list[Path]:
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    (place / "failure.txt").write_text(f"{item.nodeid}\nload {load}\n\n{report.longreprtext}\n", encoding="utf-8")
    for number, context in enumerate(_opened, 1):
        # Whatever has gone by now, be it a page or the whole browser, is not what failed.
        with suppress(Exception):
            for count, page in enumerate(context.pages, 1):
                _page(page, place / f"page-{number}-{count}")
        with suppress(Exception):
            if is_traced():
                context.tracing.stop(path=place / f"trace-{number}.zip")
    for name, text in _said(item, report):
        (place / f"{name}.log").write_text(text, encoding="utf-8")
    return sorted(place.iterdir())


def _page(page: Any, file: Path) -> None:
    with suppress(Exception):
        page.screenshot(path=file.with_suffix(".png"), timeout=_PATIENCE_MS)
    with suppress(Exception):
        file.with_suffix(".html").write_text(f"<!-- {page.url} -->\n{page.content()}", encoding="utf-8")


def _said(item: pytest.Item, report: Any) -> Iterator[tuple[str, str]]:
    """By the platform within this process, and by the processes beside it."""
    captured = "\n".join(f"-- {title}\n{text}" for title, text in report.sections)
    if captured:
        yield "server", captured
    for name, one in getattr(item, "funcargs", {}).items():
        if (output := getattr(one, "output", None)) and isinstance(output, list):
            yield name, "".join(output)
        logs = Path(getattr(one, "media_root", "/nonexistent")) / "logs"
        for log in sorted(logs.glob("*.log")):
            yield f"{name}-{log.stem}", log.read_text(encoding="utf-8", errors="replace")
