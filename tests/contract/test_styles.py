"""Style sheets: short enough to be read, classes named in one way, and no class that no page has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 400
#: What pages are made of.
FOLDERS = [ROOT / name for name in ("humanexp", "static", "templates")]
SHEETS = sorted(path for top in FOLDERS for path in top.rglob("*.css") if "vendor" not in path.parts)
#: Set by libraries.
THEIRS = {"htmx-request", "js-plotly-plot", "main-svg", "svg-container"}
_WORDS = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_NAME = re.compile(rf"is-{_WORDS}|{_WORDS}(?:__{_WORDS})?(?:--{_WORDS})?")


def selectors(sheet: Path) -> list[str]:
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [part.strip() for found in re.findall(r"([^{};]+)\{", text) for part in found.split(",")]


def classes(selector: str) -> list[str]:
    return re.findall(r"\.([a-zA-Z][\w-]*)", selector)


def sources() -> str:
    found = (path for kind in ("html", "js", "py") for top in FOLDERS for path in top.rglob(f"*.{kind}"))
    return "\n".join(path.read_text(encoding="utf-8") for path in found if "vendor" not in path.parts)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_a_sheet_can_be_read(sheet: Path) -> None:
    assert len(sheet.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_classes_are_named_by_the_convention(sheet: Path) -> None:
    named = {name for selector in selectors(sheet) for name in classes(selector)}
    assert [name for name in sorted(named) if not _NAME.fullmatch(name)] == []


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_a_second_class_of_an_element_is_a_state_or_a_variant(sheet: Path) -> None:
    found = []
    for selector in selectors(sheet):
        for first, second in re.findall(r"\.([a-zA-Z][\w-]*)\.([a-zA-Z][\w-]*)", selector):
            variant = first.split("--")[0] == second.split("--")[0]
            if not (variant or second.startswith("is-") or second in THEIRS):
                found.append(selector)
    assert found == []


def test_every_class_is_on_a_page() -> None:
    text = sources()
    words = set(re.findall(r"[\w-]+", text))
    #: The first part of a name that a value completes: `tag--{{ state }}`, `is-${shown}`.
    completed = set(re.findall(r"([\w-]*[-_])(?:\{\{|\$\{)", text))
    named = {name for sheet in SHEETS for selector in selectors(sheet) for name in classes(selector)} - THEIRS
    unused = [
        name for name in sorted(named) if name not in words and not any(name.startswith(part) for part in completed)
    ]
    assert unused == []
