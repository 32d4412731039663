"""Which texts a participant may read, found in templates and modules; and the catalogue of a language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Templates of the participant's pages; scripts take their sentences from there.
TEMPLATES = ("templates/participation/run", "templates/recruitment/take")
#: Texts of consent are versioned: another language is a file of its own.
CONSENT = "templates/recruitment/take/consent"
#: What a researcher sees around the participant's page.
RESEARCHERS = ("templates/participation/run/preview.html",)
#: Modules whose marked texts reach a participant.
FILES = (
    "humanexp/studies/tasks.py",
    "humanexp/recruiters/campaigns.py",
    "humanexp/recruitment/templatetags/recruitment.py",
    "humanexp/participation/pages/views.py",
)
#: Modules whose refusals are shown on the entry page.
REFUSALS = (
    "humanexp/recruiters/prolific/kinds.py",
    "humanexp/recruiters/mturk/kinds.py",
    "humanexp/entry/identity.py",
    "humanexp/entry/arrival.py",
    "humanexp/entry/admission.py",
    "humanexp/recruiting/attendance.py",
    "humanexp/recruiters/people.py",
    "humanexp/recruiting/ways_back.py",
    "humanexp/recruiters/campaigns.py",
    "humanexp/participation/places.py",
    "humanexp/participation/openings.py",
)
#: Errors whose default message, their docstring, is shown there.
DEFAULT_MESSAGES = (
    "AlreadyBegun",
    "AlreadyTookPart",
    "TokenRefused",
    "TooManyCalls",
    "TooManyOpenings",
    "SessionClosed",
)
#: On the design page, for researchers.
_NOT_SHOWN = re.compile(r"^(label|sentinels)$")
_TEXT = r"""u?(?P<{}>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_FIRST, _SECOND = _TEXT.replace("{}", "first"), _TEXT.replace("{}", "second")
_CALL = re.compile(rf"\bn?gettext\(\s*{_FIRST}(?:\s*,\s*{_SECOND})?", re.S)
_SHORT = re.compile(rf"(?<![\w.])_\(\s*{_FIRST}\s*\)", re.S)


def participant_texts() -> dict[str, str | None]:
    """Every text, with its plural where it has one, in the order in which it is found."""
    found: dict[str, str | None] = {}
    shown = [path for folder in TEMPLATES for path in (ROOT / folder).rglob("*.html")]
    others = {ROOT / name for name in RESEARCHERS}
    shown = [path for path in shown if path.parent != ROOT / CONSENT and path not in others]
    for path in sorted([*shown, ROOT / "templates/_languages.html"]):
        for text, plural in _of_template(path):
            found.setdefault(text, plural)
    for name in FILES:
        found |= dict.fromkeys(_marked(ROOT / name))
    for name in REFUSALS:
        found |= dict.fromkeys(_raised(ROOT / name))
    return found | dict.fromkeys(_defaults())


def _of_template(path: Path) -> Iterator[tuple[str, str | None]]:
    from django.utils.translation.template import templatize

    source = templatize(path.read_text(encoding="utf-8"), origin=str(path))
    for match in _CALL.finditer(source):
        second = match["second"]
        yield ast.literal_eval(match["first"]), ast.literal_eval(second) if second else None
    for match in _SHORT.finditer(source):
        yield ast.literal_eval(match["first"]), None


def _marked(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {
        id(node)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Task"
        for keyword in call.keywords
        if _NOT_SHOWN.match(keyword.arg or "")
        for node in ast.walk(keyword.value)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or id(node) in hidden:
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "_":
            yield ast.literal_eval(node.args[0])


def _raised(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        # Missing keys keep a researcher from launching; no one comes by then.
        if node.exc.args and getattr(node.exc.func, "id", "") != "KeysRefused":
            first = node.exc.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _defaults() -> Iterator[str]:
    from humanexp.core import errors
    from humanexp.entry.admission import NotEligible, NotOpen, PlacesTaken, TooYoung
    from humanexp.recruiters.presets import TicketRefused

    for name in DEFAULT_MESSAGES:
        yield getattr(errors, name)().message
    for refusal in (PlacesTaken, NotOpen, NotEligible, TooYoung, TicketRefused):
        yield refusal().message


def catalogue(path: Path) -> dict[str, list[str]]:
    """A .po file: translations by text; one entry, or one for each plural form."""
    entries: dict[str, list[str]] = {}
    field = ""
    parts: dict[str, str] = {}

    def close() -> None:
        if "msgid" in parts:
            forms = [parts[name] for name in sorted(parts) if name.startswith("msgstr")]
            entries[parts["msgid"]] = forms

    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith('"'):
            parts[field] += ast.literal_eval(line)
        elif match := re.match(r'(msgid|msgid_plural|msgstr(?:\[\d\])?) (".*")$', line):
            field = match[1]
            if field == "msgid":
                close()
                parts = {}
            parts[field] = ast.literal_eval(match[2])
    close()
    entries.pop("", None)
    return entries
