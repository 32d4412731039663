"""Drawings from strangers: shapes stay, everything else goes or is refused."""

from __future__ import annotations

import pytest

from analysis.errors import InvalidInput
from analysis.labels.icons import cleaned_icon

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">{}</svg>'


def test_shapes_and_gradients_stay() -> None:
    drawn = '<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs><path d="M0 0h5" fill="url(#g)"/>'
    cleaned = cleaned_icon(SVG.format(drawn), "a.svg")
    for kept in ('viewBox="0 0 10 10"', 'd="M0 0h5"', 'fill="url(#g)"', "linearGradient"):
        assert kept in cleaned


@pytest.mark.parametrize(
    "added",
    [
        "<script>alert(1)</script>",
        '<a href="javascript:alert(1)"><path d="M1 1"/></a>',
        '<image href="https://example.org/me.png"/>',
        '<use href="https://example.org/x.svg#a"/>',
        "<style>*{background:url(https://example.org)}</style>",
        "<foreignObject><body/></foreignObject>",
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<circle r="1" onload="alert(1)"/>',
        '<circle r="1" style="background:url(https://example.org)"/>',
        '<circle r="1" fill="url(https://example.org#a)"/>',
        '<circle r="1" fill="URL( //example.org#a)"/>',
    ],
)
def test_what_acts_or_reaches_out_is_gone(added: str) -> None:
    cleaned = cleaned_icon(SVG.format('<path d="M0 0h5"/>' + added), "a.svg")
    assert 'd="M0 0h5"' in cleaned
    for foreign in ("alert", "example.org", "script", "href", "style", "foreignObject", "animate", "onload"):
        assert foreign not in cleaned.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<html/>", "no SVG: its root is 'html'"),
        ("<svg", "is no SVG"),
        (SVG.format("<text>cat</text>"), "draws nothing with shapes"),
        ('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>', "has no viewBox"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format("<path/>"), "declares a document type"),
        (SVG.format(f'<path d="{"M0 0 " * 20000}"/>'), "larger than 64 kB"),
    ],
)
def test_what_is_no_icon_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        cleaned_icon(text, "a.svg")
