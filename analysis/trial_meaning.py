"""Whether the columns of published trials mean what their names say: units of times, roles, spelling of conditions.

Nothing in a file says it; each is read from the values themselves, and ends in a sentence or a refusal.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from analysis.errors import TableRefused

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["human", "classifier"]
Unit = Literal["s", "ms"]
PER_SECOND: Mapping[Unit, int] = {"s": 1, "ms": 1000}
#: Seconds between which half of a person's answers to pictures come: nobody decides faster, nobody sits longer.
_FASTEST_MEDIAN_S, _SLOWEST_MEDIAN_S = 0.05, 60.0
#: How programs write that there is nothing.
_NOTHING = frozenset({"", "nan", "none", "null", "n/a", "#n/a", "<na>", "-"})


def is_nothing(cell: str) -> bool:
    """Whether a cell says that there is no value, in the spelling of some program."""
    return cell.lower() in _NOTHING


def kinds_of(times: Mapping[str, bool], humans: str, classifiers: str) -> tuple[dict[str, Kind], list[str]]:
    """Who is a person and who a classifier, and a sentence where the reaction times decided it.

    Parameters
    ----------
    times : mapping of str to bool
        Whether an observer has any reaction time: networks have none.
    humans, classifiers : str
        Patterns as of file names; `classifiers` goes before everything else.

    Raises
    ------
    TableRefused
        If a pattern fits nobody.
    """
    for option, pattern in (("--humans", humans), ("--classifiers", classifiers)):
        if pattern and not any(fnmatchcase(name, pattern) for name in times):
            raise TableRefused(f"{option} {pattern}: no observer is called so. There are: {_listed(list(times))}.")
    kinds: dict[str, Kind] = {}
    by_times = []
    for name, has_times in times.items():
        named = name.lower().startswith("subject") or (bool(humans) and fnmatchcase(name, humans))
        if classifiers and fnmatchcase(name, classifiers):
            kinds[name] = "classifier"
            continue
        kinds[name] = "human" if named or has_times else "classifier"
        if has_times and not named:
            by_times.append(name)
    notes = []
    if by_times:
        notes.append(
            f"Taken for people, because they have reaction times: {_listed(by_times)}. --humans names people by a "
            "pattern, --classifiers says who is none."
        )
    return kinds, notes


def check_times(source: str, sessions: pd.Series[str], seconds: pd.Series[float], unit: Unit) -> None:
    """Refuse reaction times of people that were written in another unit.

    Raises
    ------
    TableRefused
        Naming the session, what half of its times are beyond, and the unit that would make sense.
    """
    for name, median in seconds.groupby(sessions.to_numpy()).median().dropna().items():
        if _FASTEST_MEDIAN_S <= median <= _SLOWEST_MEDIAN_S:
            continue
        other: Unit = "ms" if unit == "s" else "s"
        written = median * PER_SECOND[unit]
        side = "over" if median > 1 else "under"
        said = f"{source}, column 'rt': half of the times of session {name} are {side} {written:g} {unit}"
        fits = _FASTEST_MEDIAN_S <= written / PER_SECOND[other] <= _SLOWEST_MEDIAN_S
        remedy = (
            f"If they are in {_WORDS[other]}, say so: --times-in {other}"
            if fits
            else (f"Write {_WORDS[unit]}, and leave the cell empty where no time was measured")
        )
        raise TableRefused(f"{said}, and nobody answers at that pace. {remedy}.")


_WORDS: Mapping[Unit, str] = {"s": "seconds", "ms": "milliseconds"}


def spelling_of(conditions: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """One spelling for each condition, and a sentence for each number that was written in several.

    0.10 and 0.1 are one condition, as published files of people and of networks write it; the shortest stays.

    Raises
    ------
    TableRefused
        If two texts are twins (`refuse_twins`).
    """
    by_value: dict[Decimal, list[str]] = {}
    words = []
    for text in sorted(set(conditions)):
        number = number_in(text)
        if number is None:
            words.append(text)
        else:
            by_value.setdefault(number, []).append(text)
    refuse_twins("condition", words)
    spelling = {text: min(texts, key=lambda one: (len(one), one)) for texts in by_value.values() for text in texts}
    notes = [
        f"{' and '.join(texts)} are one condition: {spelling[texts[0]]}."
        for texts in by_value.values()
        if len(texts) > 1
    ]
    return spelling, notes


def refuse_twins(column: str, names: Sequence[str]) -> None:
    """Refuse two names that differ by capitals, blanks or the form of an accent alone.

    Raises
    ------
    TableRefused
        Whether they name one thing, only their author knows.
    """
    seen: dict[str, str] = {}
    for name in names:
        key = "".join(unicodedata.normalize("NFKC", name).split()).casefold()
        other = seen.setdefault(key, name)
        if other != name:
            raise TableRefused(
                f"column {column!r}: {other!r} and {name!r} differ by capitals, blanks or the form of an accent alone. "
                "Write one name in one way, and two in ways that differ."
            )


def number_in(text: str) -> Decimal | None:
    """The number that a whole text is, in one form; None where it is none."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value.normalize() + 0 if value.is_finite() else None


def _listed(names: Sequence[str]) -> str:
    most = 5
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
