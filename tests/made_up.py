"""A language that nobody speaks: English in Hebrew letters, read from right to left; what is filled in stays."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from humanexp.core.languages import Catalogue, catalogue_keys

TAG = "qaa-Hebr"
NAME = "אנגלית הפוכה"
_LETTERS = str.maketrans(dict(zip("abcdefghijklmnopqrstuvwxyz", "אבגדהוזחטיכלמנסעפצקרשתםןףץ", strict=True)))
_KEPT = re.compile(r"(%\(\w+\)[sd]|%%|\{\w+\}|https://\S+)")


def said(text: str) -> str:
    """The text in the made-up language."""
    parts = _KEPT.split(text)
    return "".join(part if _KEPT.fullmatch(part) else part.lower().translate(_LETTERS) for part in parts)


def catalogue_file(*, direction: str = "rtl", tag: str = TAG, changes: Mapping[str, object] | None = None) -> str:
    """As a researcher fills it in; `changes` replace texts, and None takes a key out."""
    texts: dict[str, object] = {
        key: [said(key), said(plural)] if plural else said(key) for key, plural in catalogue_keys().items()
    }
    texts |= changes or {}
    head = {"language": tag, "name": NAME, "direction": direction, "plural": "nplurals=2; plural=(n != 1);"}
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    lines += ["[texts]"]
    lines += [
        f"{json.dumps(key, ensure_ascii=False)} = {json.dumps(text, ensure_ascii=False)}"
        for key, text in texts.items()
        if text is not None
    ]
    return "\n".join(lines) + "\n"


def made_up_catalogue(**changes: str) -> Catalogue:
    return Catalogue.read(catalogue_file(**changes), source="made-up.toml")
