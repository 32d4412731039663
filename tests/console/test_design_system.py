"""Colours that can be read, templates that a strict content policy lets through."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOKENS = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{3,6})\b", (ROOT / "static/css/tokens.css").read_text()))
TEMPLATES = sorted([*(ROOT / "templates").rglob("*.html"), *(ROOT / "humanexp/sites").rglob("templates/**/*.html")])
STYLES = [
    ROOT / "static/css" / name
    for name in ("base.css", "frame.css", "components.css", "forms.css", "charts.css", "stimuli.css", "pictures.css")
]


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.1."""
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    channels = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_by_hand() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize(
    ("text", "ground"),
    [
        *[(text, ground) for text in ("ink", "ink-soft", "ink-faint", "accent") for ground in ("paper", "ground")],
        ("ink-soft", "sunken"),
        ("on-accent", "accent"),
        ("on-accent", "accent-strong"),
        ("on-accent", "bad"),
        *[(tone, f"{tone}-soft") for tone in ("accent", "good", "warn", "bad")],
        *[(tone, "paper") for tone in ("good", "warn", "bad")],
        *[("ink", f"{tone}-soft") for tone in ("good", "warn", "bad")],
    ],
)
def test_text_reaches_the_contrast_of_wcag_aa(text: str, ground: str) -> None:
    assert contrast(TOKENS[text], TOKENS[ground]) >= 4.5


@pytest.mark.parametrize(
    ("edge", "ground"),
    [
        *[("edge", "paper"), ("accent", "ground"), ("accent", "line")],
        *[(f"map-{kind}", "paper") for kind in ("full", "fuller", "fullest", "thin")],
    ],
)
def test_edges_of_controls_and_focus_rings_reach_3_to_1(edge: str, ground: str) -> None:
    assert contrast(TOKENS[edge], TOKENS[ground]) >= 3


def in_templates(pattern: str) -> list[tuple[str, str]]:
    """What matches outside of comments, with the template's path."""
    texts = {path: re.sub(r"{#.*?#}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL) for path in TEMPLATES}
    return [(str(path.relative_to(ROOT)), found) for path, text in texts.items() for found in re.findall(pattern, text)]


def test_templates_have_no_inline_style_script_or_handler() -> None:
    assert in_templates(r"<style|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|javascript:|hx-on") == []
    assert in_templates(r"<script\b(?![^>]*src=)[^>]*>") == []


def test_templates_load_nothing_from_other_sites() -> None:
    assert in_templates(r"(?:src|href)=[\"'](?:https?:)?//[^\"']+\.(?:js|css|woff2?|png|svg)") == []


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_colours_come_from_the_tokens(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b", text) == []
    named = set(re.findall(r"var\(--([\w-]+)", text))
    every = set(re.findall(r"--([\w-]+):", (ROOT / "static/css/tokens.css").read_text()))
    assert named <= every
