"""Sets of labels as files: TOML that people write, beside its icons, and the sets that the product ships."""

from __future__ import annotations

import os
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from analysis.errors import InvalidInput, UnknownName
from analysis.file_names import slug_of
from analysis.labels.icons import cleaned_icon
from analysis.labels.imagenet import classes_in, imagenet1000
from analysis.labels.space import Label, LabelSpace

_SHIPPED = Path(__file__).parent / "spaces"
#: Environment variable for the tests of the analysis: name, or path of a file, of the labels of whatever names none.
DEFAULT_VARIABLE = "DEFAULT_LABELS"
_FIELDS = ("name", "negatives", "grid", "partitions", "labels")
_LABEL_FIELDS = ("words", "synonyms", "definition", "page", "icon", "classes")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
_LARGEST_FILE = 2_000_000


def shipped_names() -> tuple[str, ...]:
    """Names of the sets of labels that the product ships."""
    return (*sorted(path.stem for path in _SHIPPED.glob("*.toml")), "imagenet1000")


@cache
def shipped(name: str) -> LabelSpace:
    """The set of labels that the product ships under this name.

    Raises
    ------
    UnknownName
        Naming those there are.
    """
    if name == "imagenet1000":
        return imagenet1000()
    if name not in shipped_names():
        raise UnknownName(f"There are no labels called {name!r}; there are: {', '.join(shipped_names())}.")
    return read_labels_file(_SHIPPED / f"{name}.toml")


@cache
def product_icons() -> frozenset[str]:
    """Names of the drawings that the product ships: own labels may name them, too."""
    spaces = (read_labels_file(path) for path in _SHIPPED.glob("*.toml"))
    return frozenset(label.icon for space in spaces for label in space.labels if label.icon)


@cache
def default_labels() -> LabelSpace:
    """The labels of sets of pictures, studies and tables that name none: the 16 entry-level categories."""
    named = os.environ.get(DEFAULT_VARIABLE, "entry16")
    return read_labels_file(Path(named)) if named.endswith(".toml") else shipped(named)


def read_labels_file(path: Path) -> LabelSpace:
    """Read labels from a TOML file and the icons beside it.

    Raises
    ------
    InvalidInput
        Naming file, field and remedy.
    """
    if path.stat().st_size > _LARGEST_FILE:
        raise InvalidInput(f"{path.name} has {path.stat().st_size:,} bytes; labels take at most {_LARGEST_FILE:,}.")
    # A file of the product names drawings of the product.
    is_shipped = path.parent == _SHIPPED

    def icon(name: str) -> str:
        if is_shipped:
            return ""
        beside = (path.parent / name).resolve()
        if not beside.is_relative_to(path.parent.resolve()) or not beside.is_file():
            if name in product_icons():
                return ""
            raise InvalidInput(f"{path.name}: there is no icon {name!r} beside the file.")
        return beside.read_text(encoding="utf-8")

    try:
        return parse_labels(path.read_text(encoding="utf-8-sig"), icon)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path.name} is not written in UTF-8: save it as UTF-8.") from error
    except InvalidInput as error:
        raise InvalidInput(f"{path.name}: {error}") from error


def parse_labels(text: str, icon: Callable[[str], str] | None = None) -> LabelSpace:
    """Labels from the text of a TOML file.

    Parameters
    ----------
    text : str
    icon : callable, optional
        Gives the SVG of an icon by its name; an empty text for one that the product ships.

    Raises
    ------
    InvalidInput
        Naming field and remedy.
    """
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"This is no TOML ({error}).") from error
    _only(told, _FIELDS, "the file")
    labels = told.get("labels", {})
    if isinstance(labels, list) and len(told) <= 2:
        return labels_of_words(_text(told.get("name", ""), "name") or "own", _texts(labels, "labels"))
    drawings: dict[str, str] = {}
    found = [_label(one, fields, icon, drawings) for one, fields in _table(labels, "labels").items()]
    partitions = {
        name: {group: _texts(ids, f"partitions.{name}.{group}") for group, ids in _table(groups, name).items()}
        for name, groups in _table(told.get("partitions", {}), "partitions").items()
    }
    return LabelSpace(
        name=_text(told.get("name", ""), "name") or "own",
        labels=tuple(found),
        partitions=partitions,
        negatives=_text(told.get("negatives", ""), "negatives"),
        grid=tuple(_texts(row, "grid") for row in _list(told.get("grid", []), "grid")),
        drawings=drawings,
    )


def labels_from_toml(document: str, drawings: Mapping[str, str]) -> LabelSpace:
    """What `labels_to_toml` wrote, with its drawings by name; other icons are the product's."""
    return parse_labels(document, lambda name: drawings.get(name, ""))


@lru_cache(maxsize=16)
def read_space(document: str) -> LabelSpace | None:
    """Labels without their drawings from a text of `labels_to_toml`, one object a process; None for an empty text."""
    return labels_from_toml(document, {}) if document else None


def labels_of_words(name: str, words: Iterable[str], language: str = "en") -> LabelSpace:
    """Labels from words alone, one a label; ids follow from the words.

    Raises
    ------
    InvalidInput
        If a word is there twice, there are too few or too many, or the language is none.
    """
    if not _LANGUAGE.fullmatch(language):
        raise InvalidInput(f"{language!r} is no tag of a language; write en, de, zh-Hant or pt-BR.")
    named = [_text(" ".join(word.split()), "a label") for word in words if word.strip()]
    return LabelSpace(
        name=name,
        labels=tuple(
            Label(id=slug_of(word) or f"label-{number}", words={language: word})
            for number, word in enumerate(named, start=1)
        ),
    )


def labels_to_toml(space: LabelSpace) -> str:
    """The file that `parse_labels` reads back as the same labels; icons lie beside it under their names."""
    import tomli_w  # needed for writing alone

    told: dict[str, Any] = {"name": space.name}
    if space.negatives:
        told["negatives"] = space.negatives
    if space.grid:
        told["grid"] = [list(row) for row in space.grid]
    if space.partitions:
        told["partitions"] = {
            name: {group: list(ids) for group, ids in groups.items()} for name, groups in space.partitions.items()
        }
    told["labels"] = {label.id: _fields_of(label) for label in space.labels}
    return tomli_w.dumps(told)


def _fields_of(label: Label) -> dict[str, Any]:
    told = {
        "words": dict(label.words),
        "synonyms": {code: list(words) for code, words in label.synonyms.items()},
        "definition": label.definition,
        "page": label.page,
        "icon": label.icon,
        "classes": list(label.classes),
    }
    return {name: value for name, value in told.items() if value}


def _label(one: str, fields: object, icon: Callable[[str], str] | None, drawings: dict[str, str]) -> Label:
    told = _table(fields, f"labels.{one}")
    _only(told, _LABEL_FIELDS, f"[labels.{one}]")
    name = _text(told.get("icon", ""), f"labels.{one}.icon")
    if name.startswith("/") or "\\" in name or ".." in name.split("/"):
        raise InvalidInput(f"labels.{one}.icon: {name!r} leads outside: an icon lies beside the file or below.")
    if name and icon is not None:
        drawn = icon(name)
        if drawn:
            drawings[name] = cleaned_icon(drawn, name)
    words = _table(told.get("words", {}), f"labels.{one}.words")
    synonyms = _table(told.get("synonyms", {}), f"labels.{one}.synonyms")
    for code in (*words, *synonyms):
        if not _LANGUAGE.fullmatch(code):
            raise InvalidInput(f"labels.{one}: {code!r} is no tag of a language; write en, de, zh-Hant or pt-BR.")
    page = _text(told.get("page", ""), f"labels.{one}.page")
    if page and not re.match(r"https?://", page):
        raise InvalidInput(f"labels.{one}.page: an address begins with https://, not {page[:20]!r}.")
    classes = _texts(told.get("classes", []), f"labels.{one}.classes")
    for written in classes:
        classes_in(written)
    return Label(
        id=one,
        words={code: _text(word, f"labels.{one}.words.{code}") for code, word in words.items()},
        synonyms={code: _texts(said, f"labels.{one}.synonyms.{code}") for code, said in synonyms.items()},
        definition=_text(told.get("definition", ""), f"labels.{one}.definition"),
        page=page,
        icon=name,
        classes=classes,
    )


def _only(told: Mapping[str, object], known: Sequence[str], place: str) -> None:
    strange = next((name for name in told if name not in known), None)
    if strange is not None:
        raise InvalidInput(f"{place} has no field {strange!r}; there are: {', '.join(known)}.")


def _table(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} must be a table, not {value!r}.")
    return value


def _list(value: object, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{place} must be a list, not {value!r}.")
    return value


def _texts(value: object, place: str) -> tuple[str, ...]:
    return tuple(_text(one, place) for one in _list(value, place))


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{place} must be text in quotation marks, not {value!r}.")
    if any(unicodedata.category(sign) == "Cc" for sign in value):
        raise InvalidInput(f"{place} has a sign that cannot be shown, such as a tab or a line break.")
    return value.strip()
