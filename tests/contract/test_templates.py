"""Templates can be read and compared line by line: no line is longer than a screen is wide."""

from __future__ import annotations

import re
from pathlib import Path

from tests.contract.test_documents import MOST_CHARACTERS

ROOT = Path(__file__).resolve().parents[2]
#: What has to stay on one line: Django's tags, and values in quotes (addresses, labels, lists of classes).
_UNBREAKABLE = re.compile(r"""\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|(?<==)"(?:\{%.*?%\}|\{\{.*?\}\}|[^"])*\"""")
TEMPLATES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*(ROOT / "templates").rglob("*.html"), *(ROOT / "humanexp/sites").rglob("templates/**/*.html")]
)


def too_long(text: str) -> list[str]:
    """Lines over the limit that have a space outside of tags and quoted values, so that they can be broken there."""
    return [
        line for line in text.splitlines() if len(line) > MOST_CHARACTERS and " " in _UNBREAKABLE.sub("", line.strip())
    ]


def test_lines_fit_a_screen() -> None:
    found = {template: too_long((ROOT / template).read_text(encoding="utf-8")) for template in TEMPLATES}
    assert {template: lines for template, lines in found.items() if lines} == {}


def test_only_lines_that_can_be_broken_are_held_to_the_limit() -> None:
    long = "word " * 30
    assert too_long(f"<p>{long}</p>\n<p class='a' title=\"{long}\">") == [
        f"<p>{long}</p>",
        f"<p class='a' title=\"{long}\">",
    ]
    assert too_long(f'{{% translate "{long}" %}}\n  title="{long}"\n{{% if {long} %}}<b>{{{{ x }}}}</b>') == []


def test_the_templates_are_found() -> None:
    assert {"templates/base.html", "humanexp/sites/marketplace/templates/marketplace/base.html"} <= set(TEMPLATES)
