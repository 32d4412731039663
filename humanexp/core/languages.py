"""In which language a participant reads: the address says it, then the study, then the browser, never a cookie.

Catalogues of further languages are TOML files in LOCALE_FOLDER. A text's key is its English original, as in the shipped
catalogue; translators need no other tool. A catalogue may lack texts: those are read in English.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from gettext import NullTranslations, c2py
from pathlib import Path
from typing import Any, Self, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import trans_real
from django.utils.translation.template import templatize
from django.utils.translation.trans_real import parse_accept_lang_header

from analysis.errors import InvalidInput
from analysis.study.study import LANGUAGE_TAG
from analysis.study.toml import read_toml
from humanexp.core.errors import InputRefused
from humanexp.core.middleware import Middleware
from humanexp.places import shipped

#: The text of consent as single sentences; the shipped languages have files of their own.
CONSENT = "recruitment/take/consent/house-5.by-sentence.html"
#: Pages of participants, in the order in which they are met.
_PAGES = (
    "recruitment/take/base.html",
    "recruitment/take/entry.html",
    CONSENT,
    "recruitment/take/consent/*.by-sentence.html",
    "recruitment/take/*.html",
    "participation/run/_start.html",
    "participation/run/_setup*.html",
    "participation/run/_instructions*.html",
    "participation/run/*.html",
    "_languages.html",
)
#: Pages of one task, and of researchers.
_OF_TASK = re.compile(r"_instructions_(\w+)|_(judge)|(preview)")
#: Most characters of a catalogue.
LONGEST = 1_000_000
#: Refused in a text: it goes into pages as it is, between tags and into attributes.
_MARKUP = '<>&"'
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%%|%|\{\w+\}|[{}]")
_PLURAL = re.compile(r"nplurals=([1-6]); ?plural=([^;]{1,200});?")
_TEXT = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL = re.compile(rf"\b(?:n?gettext|_)\(\s*{_TEXT}(?:\s*,\s*{_TEXT})?")
#: Keys that a refusal names at most; it counts the others.
_NAMED = 3
_HEAD = {
    "language": 'a language tag, such as "fa", "pt-BR" or "zh-Hant"',
    "name": "the name of the language in that language, of 1 to 40 characters",
    "direction": '"ltr" (left to right) or "rtl" (right to left)',
    "plural": 'a rule as gettext has it, such as "nplurals=2; plural=(n != 1);"',
}


class Catalogue(NullTranslations):
    """A language as Django asks for it: texts by key, one or one for each plural form; English where there is none."""

    def __init__(self, *, tag: str, name: str, direction: str, plural: str, texts: Mapping[str, tuple[str, ...]]):
        super().__init__()
        self.tag, self.name, self.direction, self.texts = tag, name, direction, texts
        #: how Django and the calls of a page name it: tags have what is private behind "x"
        self.code = f"{tag.lower()}-x-folder"
        self._form_of: Any = c2py(cast(re.Match[str], _PLURAL.fullmatch(plural))[2])
        said = [tag, name, direction, plural, {key: list(forms) for key, forms in texts.items()}]
        #: SHA-256 of all that a reader sees of it
        self.digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    @classmethod
    def read(cls, text: str, *, source: str) -> Self:
        """Of a file; refused as a whole, with the key and what to do about it."""
        if len(text) > LONGEST:
            raise InputRefused(f"{source} is longer than {LONGEST:,} characters: no catalogue is.")
        try:
            values = read_toml(text, source=source)
        except InvalidInput as error:
            raise InputRefused(str(error)) from error
        unknown = sorted(values.keys() - {*_HEAD, "texts"})
        if unknown:
            raise InputRefused(f"{source} has no use for {unknown[0]!r}: take it out.")
        for name, remedy in _HEAD.items():
            said = values.get(name)
            if not isinstance(said, str) or not _is_usable(name, said):
                raise InputRefused(f"{source}: {name} must be {remedy}, not {said!r}.")
        head = {name: str(values[name]) for name in _HEAD}
        if head["language"] in dict(settings.LANGUAGES):
            raise InputRefused(f"{source}: HumanExp has {head['language']!r} itself. Translate into another language.")
        texts = values.get("texts")
        if not isinstance(texts, Mapping):
            raise InputRefused(f"{source} has no table [texts]. Start from the template: {TEMPLATE_COMMAND}.")
        forms = int(cast(re.Match[str], _PLURAL.fullmatch(head["plural"]))[1])
        return cls(tag=head.pop("language"), texts=_checked(texts, forms, source), **head)

    def gettext(self, message: str) -> str:
        return self.texts.get(message, (message,))[0]

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        forms = self.texts.get(singular)
        return forms[self._form_of(n)] if forms else super().ngettext(singular, plural, n)

    def language(self) -> str:
        return self.code

    def to_language(self) -> str:
        return self.code


def catalogues() -> dict[str, Catalogue]:
    """Those in LOCALE_FOLDER, by tag; read once, and refused if one of them is at fault."""
    return _read(str(settings.LOCALE_FOLDER)) if settings.LOCALE_FOLDER else {}


def digest_of(tag: str) -> str:
    """Of the catalogue with this language; empty for a language that is shipped."""
    found = catalogues().get(tag)
    return found.digest if found else ""


@lru_cache(maxsize=1)
def _read(folder: str) -> dict[str, Catalogue]:
    if not Path(folder).is_dir():
        raise InputRefused(f"LOCALE_FOLDER is {folder}, and there is no such folder.")
    found: dict[str, Catalogue] = {}
    for path in sorted(Path(folder).glob("*.toml")):
        catalogue = read_catalogue(path)
        if catalogue.tag in found:
            raise InputRefused(f"{path} is a second catalogue for {catalogue.tag!r}: keep one of them.")
        found[catalogue.tag] = catalogue
        # Django looks languages up here before it looks for files: the one place where a language can be added while
        # it runs. `activate`, `override` and every template then know it by its code.
        trans_real._translations[catalogue.code] = catalogue  # type: ignore[attr-defined]
    return found


def read_catalogue(path: Path) -> Catalogue:
    """
    Raises
    ------
    InputRefused
        If it cannot be read, or is at fault.
    """
    try:
        return Catalogue.read(path.read_text(encoding="utf-8"), source=path.name)
    except OSError as error:
        raise InputRefused(f"{path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputRefused(f"{path} is not UTF-8: save it as UTF-8.") from error


TEMPLATE_COMMAND = "python manage.py catalogue"


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
    checked: dict[str, tuple[str, ...]] = {}
    for key, plural in keys.items():
        if not _said(given := texts.get(key)):
            continue
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
    for path in _pages():
        if path.match("*.by-sentence.html"):
            for key, plural in _marked(path):
                found.setdefault(key, plural)
    return found


def texts_of(tasks: Collection[str] = ()) -> dict[str, str]:
    """The keys of all pages, or of those of a study with these tasks, in the order of the pages; answers come last."""
    known, found, others = catalogue_keys(), {}, set()
    for path in _pages():
        marked = [key for key, _plural in _marked(path) if key in known]
        task = _OF_TASK.match(path.stem)
        if not tasks or not task or (task[1] or "validation") in tasks:
            found.update({key: known[key] for key in marked})
        others.update(marked)
    return found | {key: plural for key, plural in known.items() if key not in others}


def _pages() -> list[Path]:
    root = shipped("templates")
    return list(dict.fromkeys(path for pattern in _PAGES for path in sorted(root.glob(pattern))))


def _marked(path: Path) -> Iterator[tuple[str, str]]:
    """Texts of a template, with their plurals."""
    for match in _CALL.finditer(templatize(path.read_text(encoding="utf-8"), origin=path.name)):
        yield ast.literal_eval(match[1]), ast.literal_eval(match[2]) if match[2] else ""


def _compiled(path: Path) -> Iterator[tuple[str, str]]:
    """The keys of a compiled catalogue: gettext itself forgets the plurals."""
    content = path.read_bytes()
    count, originals = struct.unpack_from("<II", content, 8)
    for number in range(count):
        length, offset = struct.unpack_from("<II", content, originals + 8 * number)
        key, _, plural = content[offset : offset + length].decode("utf-8").partition("\0")
        if key:
            yield key, plural


def catalogue_template(tasks: Collection[str] = ()) -> str:
    """A catalogue without texts, to be filled in: of all pages, or of those of a study with these tasks."""
    lines = [
        "# Texts that a participant reads. Write your translation between the quotation marks behind each key.",
        "# What you leave empty is read in English. Keep what is in {braces} and behind % as it is.",
        "# Texts with numbers have one text for each plural form.",
        'language = ""   # the tag of your language, such as "fa" or "pt-BR"',
        'name = ""       # its name in that language',
        'direction = "ltr"  # or "rtl", if it is read from right to left',
        'plural = "nplurals=2; plural=(n != 1);"',
        "",
        "[texts]",
    ]
    for key, plural in texts_of(tasks).items():
        if plural:
            lines.append(f"# plural: {plural}")
        empty = '["", ""]' if plural else '""'
        lines.append(f"{json.dumps(key, ensure_ascii=False)} = {empty}")
    return "\n".join(lines) + "\n"


#: The parameter of an address by which a reader chooses.
PARAMETER = "language"


def language_spoken() -> Catalogue | None:
    """The catalogue that is active now; None for one of the shipped languages."""
    return _by_code().get(translation.get_language() or "")


def tag_spoken() -> str:
    """The active language, as pages and addresses name it."""
    spoken = language_spoken()
    return spoken.tag if spoken else translation.get_language() or str(settings.LANGUAGE_CODE)


def languages() -> dict[str, str]:
    """Names of all languages of participants' pages, by tag: the shipped ones and those of catalogues."""
    return {**dict(settings.LANGUAGES), **{one.tag: one.name for one in catalogues().values()}}


def code_of(tag: str) -> str:
    """How Django names a language: one of a catalogue has a code of its own."""
    found = catalogues().get(tag)
    return found.code if found else tag


def _by_code() -> dict[str, Catalogue]:
    return {one.code: one for one in catalogues().values()}


class Language(Middleware):
    """Participants' addresses are answered in the reader's language, all others in the console's."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_participants = request.path.startswith(settings.PARTICIPANT_PATHS)
        language = language_of(request) if is_participants else settings.LANGUAGE_CODE
        with translation.override(language):
            response = self.get_response(request)
            spoken = tag_spoken()
        response.headers.setdefault("Content-Language", spoken)
        if is_participants:
            patch_vary_headers(response, ["Accept-Language"])
        return response


def begin_in(request: HttpRequest, language: str) -> None:
    """Answer this request in the language that a study has, unless its address asks for another."""
    translation.activate(language_of(request, study=language))


def language_of(request: HttpRequest, *, study: str = "") -> str:
    """The one that was asked for, else the study's, else the first of the browser's that there is, else the house's."""
    known = languages()
    for tag in (request.GET.get(PARAMETER, ""), study):
        if tag in known:
            return code_of(tag)
    for wanted, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()):
        if wanted in _by_code():
            return wanted
        if (code := wanted.partition("-")[0]) in known:
            return code_of(code)
    return str(settings.LANGUAGE_CODE)


def other_languages(request: HttpRequest) -> list[dict[str, str]]:
    """For a switch: every other language under its own name, with this page's address in it."""
    now, links = tag_spoken(), []
    for code, name in languages().items():
        if code != now:
            query = request.GET.copy()
            query[PARAMETER] = code
            links.append({"code": code, "name": name, "href": f"?{query.urlencode()}"})
    return links
