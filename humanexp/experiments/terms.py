"""The `[recruitment]` table of a study file: what a launch starts from, refused with the study, not at the launch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.errors import InvalidInput

#: Longest texts, as recruiters take them.
_TEXTS = {"title": 128, "description": 2_000, "keywords": 1_000, "contact": 200}
#: Least and most whole numbers.
_NUMBERS = {"estimated_minutes": (1, 600), "reward_cents": (0, 1_000_000), "assignments": (1, 100_000)}
#: Graded by the recruiter, who knows its form.
_QUIZ = "quiz"


def check_terms(values: Mapping[str, Any]) -> dict[str, Any]:
    """The terms, if every one of them can be used; names the setting that cannot."""
    known = sorted({*_TEXTS, *_NUMBERS, _QUIZ})
    for name, value in values.items():
        if name not in known:
            raise InvalidInput(f"[recruitment] has no setting {name!r}; it has: {', '.join(known)}.")
        if name in _TEXTS and (not isinstance(value, str) or len(value) > _TEXTS[name]):
            raise InvalidInput(f"recruitment.{name} must be text of at most {_TEXTS[name]} characters.")
        if name in _NUMBERS:
            low, high = _NUMBERS[name]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise InvalidInput(f"recruitment.{name} must be a whole number from {low} to {high}, not {value!r}.")
        if name == _QUIZ and not isinstance(value, Mapping):
            raise InvalidInput("[recruitment.quiz] must be a table.")
    return dict(values)


def check_storable(value: Any, where: str = "") -> None:
    """Refuse what TOML can say and no database stores: dates, infinite numbers, the null character."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            check_storable(name, where)
            check_storable(inner, f"{where}.{name}" if where else str(name))
    elif isinstance(value, str):
        if "\x00" in value:
            raise InvalidInput(f"{where or 'a name'} holds the null character, which no database stores.")
    elif isinstance(value, Sequence):
        for inner in value:
            check_storable(inner, where)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{where} must be a finite number, not {value!r}.")
    elif value is not None and not isinstance(value, bool | int):
        raise InvalidInput(f"{where} must be text, a number, a list or a table, not {value!r}.")
