"""Documents can be read and compared line by line: no line of prose is longer than a screen is wide."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_CHARACTERS = 120
#: Written by programs: a whole page (`python -m benchmarks.claims`), and parts of one (`python -m analysis.study`).
GENERATED = {"docs/claims.md"}
GENERATED_PART = re.compile(r"^<!-- (?:settings|kinds).*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))


def too_long(text: str) -> list[str]:
    """Lines of prose over the limit. Tables, code blocks and lines that no space can break are left out."""
    found = []
    in_block = False
    for line in GENERATED_PART.sub("", text).splitlines():
        if line.lstrip().startswith("```"):
            in_block = not in_block
        breakable = " " in line.strip().removeprefix("- ").removeprefix("![")
        if len(line) > MOST_CHARACTERS and breakable and not in_block and not line.startswith("|"):
            found.append(line)
    return found


def test_lines_of_prose_fit_a_screen() -> None:
    pages = [page for page in DOCUMENTS if page not in GENERATED]
    found = {page: too_long((ROOT / page).read_text(encoding="utf-8")) for page in pages}
    assert {page: lines for page, lines in found.items() if lines} == {}


def test_only_prose_is_held_to_the_limit() -> None:
    long = "word " * 30
    assert too_long(f"{long}\n\n- {long}") == [long, f"- {long}"]
    assert too_long(f"```\n{long}\n```\n| {long} |\n{'x' * 130}") == []


def test_the_documents_are_found() -> None:
    assert {"README.md", "docs/results.md", "docs/decisions/014-one-distribution.md"} <= set(DOCUMENTS)
