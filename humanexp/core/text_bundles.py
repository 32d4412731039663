"""Text bundles: every text of a participant in a language that a study brings, checked as a whole before it is kept.

A text's key is its English original, as in the catalogue. The file is TOML: who translates needs no other tool.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from gettext import c2py
from pathlib import Path
from typing import Any, Self, cast

from django.conf import settings
from django.utils.translation.template import templatize

from analysis.errors import InvalidInput
from analysis.study.study import LANGUAGE_TAG
from analysis.study.toml import read_toml
from humanexp.core.errors import InputRefused
from humanexp.places import shipped

#: The text of consent as single sentences; the shipped languages have files of their own.
CONSENT = "recruitment/take/consent/house-5.by-sentence.html"
#: Parts of it: for people whom a site has sent, and for those who come from the public page.
CONSENT_PARTS = (
    "recruitment/take/consent/site.by-sentence.html",
    "recruitment/take/consent/volunteer.by-sentence.html",
)
#: Most characters of a bundle.
LONGEST = 1_000_000
#: Refused in a text: it goes into pages as it is, between tags and into attributes.
_MARKUP = '<>&"'
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%%|%|\{\w+\}|[{}]")
_PLURAL = re.compile(r"nplurals=([1-6]); ?plural=([^;]{1,200});?")
_TEXT = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL = re.compile(rf"\b(?:n?gettext|_)\(\s*{_TEXT}(?:\s*,\s*{_TEXT})?")
#: Keys that a refusal names at most; it counts the others.
_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class TextBundle:
    """A language with its texts, by key: one, or one for each plural form."""

    tag: str
    name: str
    direction: str
    plural: str
    texts: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, text: str, *, source: str) -> Self:
        """Of a file; refused as a whole, with the key and what to do about it."""
        if len(text) > LONGEST:
            raise InputRefused(f"{source} is longer than {LONGEST:,} characters: no bundle is.")
        try:
            values = read_toml(text, source=source)
        except InvalidInput as error:
            raise InputRefused(str(error)) from error
        return cls._of(values, source)

    @classmethod
    def _of(cls, values: Mapping[str, object], source: str) -> Self:
        unknown = sorted(values.keys() - {"language", "name", "direction", "plural", "texts"})
        if unknown:
            raise InputRefused(f"{source} has no use for {unknown[0]!r}: take it out.")
        head = {name: values.get(name) for name in ("language", "name", "direction", "plural")}
        for name, remedy in _HEAD.items():
            said = head[name]
            if not isinstance(said, str) or not _is_usable(name, said):
                raise InputRefused(f"{source}: {name} must be {remedy}, not {said!r}.")
        if head["language"] in dict(settings.LANGUAGES):
            raise InputRefused(f"{source}: HumanExp has {head['language']!r} itself. Bring another language.")
        texts = values.get("texts")
        if not isinstance(texts, Mapping):
            raise InputRefused(f"{source} has no table [texts]. Start from the template: {TEMPLATE_COMMAND}.")
        forms = int(cast(re.Match[str], _PLURAL.fullmatch(str(head["plural"])))[1])
        return cls(
            tag=str(head["language"]),
            name=str(head["name"]),
            direction=str(head["direction"]),
            plural=str(head["plural"]),
            texts=_checked(texts, forms, source),
        )

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> Self:
        """Of what `to_dict` gave: it was checked then."""
        return cls(**{**values, "texts": {key: tuple(forms) for key, forms in values["texts"].items()}})

    def to_dict(self) -> dict[str, Any]:
        texts = {key: list(forms) for key, forms in self.texts.items()}
        return {
            "tag": self.tag,
            "name": self.name,
            "direction": self.direction,
            "plural": self.plural,
            "texts": texts,
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that a reader sees of it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    @cached_property
    def form_of(self) -> Any:
        """The number of the plural form for a count."""
        return c2py(cast(re.Match[str], _PLURAL.fullmatch(self.plural))[2])


TEMPLATE_COMMAND = "python manage.py text_bundle"
_HEAD = {
    "language": 'a language tag, such as "fa", "pt-BR" or "zh-Hant"',
    "name": "the name of the language in that language, of 1 to 40 characters",
    "direction": '"ltr" (left to right) or "rtl" (right to left)',
    "plural": 'a rule as gettext has it, such as "nplurals=2; plural=(n != 1);"',
}


def _is_usable(name: str, said: str) -> bool:
    match name:
        case "language":
            return re.fullmatch(LANGUAGE_TAG, said) is not None
        case "name":
            return bool(said.strip()) and len(said) <= 40
        case "direction":
            return said in ("ltr", "rtl")
    found = _PLURAL.fullmatch(said)
    if found is None:
        return False
    try:
        form_of = c2py(found[2])
        return all(0 <= form_of(n) < int(found[1]) for n in range(1000))
    except (ValueError, ZeroDivisionError, OverflowError, RecursionError):
        return False


def _checked(texts: Mapping[str, object], forms: int, source: str) -> dict[str, tuple[str, ...]]:
    keys = catalogue_keys()
    unknown = [key for key in texts if key not in keys]
    if unknown:
        raise InputRefused(
            f"{source} has {_some('a key', 'keys', unknown)} that no page has. Take it out, or compare with the "
            f"template: {TEMPLATE_COMMAND}."
        )
    missing = [key for key in keys if not _said(texts.get(key))]
    if missing:
        raise InputRefused(f"{source} has no text for {_some('the key', 'keys', missing)}. Add it under [texts].")
    checked: dict[str, tuple[str, ...]] = {}
    for key, plural in keys.items():
        given = texts[key]
        all_said: list[object] = given if isinstance(given, list) else [given]
        said = [one for one in all_said if isinstance(one, str)]
        is_whole = len(said) == len(all_said) == (forms if plural else 1)
        if not is_whole or isinstance(given, list) != bool(plural):
            wanted = f"a list of {forms} texts, one for each plural form" if plural else "one text"
            raise InputRefused(f"{source}: the key {key!r} takes {wanted}.")
        for one in said:
            _check_text(key, one, source)
        checked[key] = tuple(said)
    return checked


def _said(value: object) -> bool:
    texts = value if isinstance(value, list) else [value]
    return bool(texts) and all(not isinstance(one, str) or one.strip() for one in texts) and value is not None


def _check_text(key: str, text: str, source: str) -> None:
    for sign in _MARKUP:
        if sign in text:
            raise InputRefused(
                f"{source}: the text of {key!r} holds {sign!r}. Texts are plain: write “ ” for quotation marks, "
                "and words for the other signs."
            )
    wanted, found = placeholders(key), placeholders(text)
    if wanted != found:
        wrong = sorted(wanted ^ found)[0]
        where = "lacks" if wrong in wanted else "has, and its key has not,"
        raise InputRefused(
            f"{source}: the text of {key!r} {where} {wrong!r}. Keep what stands in braces and behind % as it is: a "
            "page fills it in."
        )
    if key.startswith("https://") and not text.startswith("https://"):
        raise InputRefused(f"{source}: the text of {key!r} must be an address that begins with https://.")


def _some(one: str, more: str, keys: list[str]) -> str:
    which = one if len(keys) == 1 else f"the {len(keys)} {more}"
    named = ", ".join(repr(key) for key in keys[:_NAMED])
    rest = len(keys) - _NAMED
    return f"{which} {named} and {rest} others" if rest > 0 else f"{which} {named}"


def placeholders(text: str) -> set[str]:
    """What is filled in, and signs that would be taken for it."""
    return set(_PLACEHOLDER.findall(text))


@lru_cache(maxsize=1)
def catalogue_keys() -> dict[str, str]:
    """Every text of a participant: its key, and its plural, or ""."""
    found = dict(_compiled(settings.LOCALE_PATHS[0] / "de" / "LC_MESSAGES" / "django.mo"))
    for name in (CONSENT, *CONSENT_PARTS):
        template = shipped("templates") / name
        for match in _CALL.finditer(templatize(template.read_text(encoding="utf-8"), origin=name)):
            found.setdefault(ast.literal_eval(match[1]), ast.literal_eval(match[2]) if match[2] else "")
    return found


def _compiled(path: Path) -> Iterator[tuple[str, str]]:
    """The keys of a compiled catalogue: gettext itself forgets the plurals."""
    content = path.read_bytes()
    count, originals = struct.unpack_from("<II", content, 8)
    for number in range(count):
        length, offset = struct.unpack_from("<II", content, originals + 8 * number)
        key, _, plural = content[offset : offset + length].decode("utf-8").partition("\0")
        if key:
            yield key, plural


def bundle_template() -> str:
    """A bundle without texts, to be filled in."""
    lines = [
        "# Every text that a participant reads. Write your translation between the quotation marks behind each key.",
        "# Keep what stands in {braces} and behind % as it is. Texts with numbers have one text for each plural form.",
        'language = ""   # the tag of your language, such as "fa" or "pt-BR"',
        'name = ""       # its name in that language',
        'direction = "ltr"  # or "rtl", where one reads from right to left',
        'plural = "nplurals=2; plural=(n != 1);"',
        "",
        "[texts]",
    ]
    for key, plural in catalogue_keys().items():
        if plural:
            lines.append(f"# plural: {plural}")
        empty = '["", ""]' if plural else '""'
        lines.append(f"{json.dumps(key, ensure_ascii=False)} = {empty}")
    return "\n".join(lines) + "\n"
