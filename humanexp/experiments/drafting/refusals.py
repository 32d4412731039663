"""Which setting a refusal is about, which field of the form holds it, and in which line of a study file it stands."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from analysis.design import DesignConfig, DiscriminationDesign, ValidationDesign
from analysis.protocols import ProtocolConfig
from humanexp.experiments.configuration import StudyConfiguration
from humanexp.experiments.drafting.fields import PATHS, Path


def _names(kind: type) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(kind))


_STUDY, _DESIGN, _PROTOCOL = _names(StudyConfiguration), _names(DesignConfig), _names(ProtocolConfig)
_BLOCKS = {"discrimination": _names(DiscriminationDesign), "validation": _names(ValidationDesign)}
_TABLE = {
    "A study": (), "design": ("design",), "discrimination": ("design", "discrimination"),
    "validation": ("design", "validation"), "A protocol": ("protocol",),
}  # fmt: skip
_UNKNOWN = re.compile(r"^(A study|design|discrimination|validation|A protocol) has no (?:setting|field) '([^']+)'")
#: Refusals that begin with words, and what they are about.
_SAID: tuple[tuple[str, Path], ...] = (
    (r"^The study lacks 'title'", ("title",)),
    (r"^The study lacks 'stimuli'", ("stimuli",)),
    (r"^(There is no stimulus set|The stimulus set|The stimuli of)", ("stimuli",)),
    (r"^(The main pictures|A discrimination block needs|There are too few|Too few|The pictures)", ("stimuli",)),
    (r"^(There is a study|A study '[^']*' was created)", ("slug",)),
    (r"^(There is no protocol|A protocol needs|The protocol lacks)", ("protocol",)),
    (r"^(There is no rule set|A rule set needs|Rule \d+)", ("rules",)),
    (r"^(Set max_sessions_per_worker)", ("design", "sessions_per_participant")),
    (r"^How many tries", ("design", "qualification_tries")),
    (r"^A validation study asks nothing else", ("design", "main_trials")),
    (r"^A validation session has at most", ("design", "validation", "new_pictures")),
    (r"^The gold original", ("gold_originals",)),
)
_WORD = re.compile(r"^\[?([a-z_]+(?:\.[a-z_]+)*)\b")


@dataclass(frozen=True)
class Refusal:
    """Why a draft is no study yet."""

    message: str
    #: of the setting in the study file; empty where the whole does not fit together
    path: Path = ()

    @property
    def setting(self) -> str:
        return ".".join(self.path)

    @property
    def field(self) -> str:
        """The field of the form; `more` for settings without one, empty for the whole."""
        if not self.path:
            return ""
        return next((name for name, path in PATHS.items() if path == self.path), "more")


def refusal_of(message: str) -> Refusal:
    """What a refusal's sentence is about; sentences name their setting first."""
    unknown = _UNKNOWN.match(message)
    if unknown:
        return Refusal(message, (*_TABLE[unknown[1]], unknown[2]))
    for pattern, path in _SAID:
        if re.match(pattern, message):
            return Refusal(message, path)
    word = _WORD.match(message)
    return Refusal(message, _path(word[1]) if word else ())


def _path(word: str) -> Path:
    first, *rest = word.split(".")
    if first in _BLOCKS and rest and rest[0] in _BLOCKS[first]:
        return ("design", first, rest[0])
    if first == "wanted" and rest:
        return ("wanted", *rest)
    if first in _STUDY:
        return (first,)
    if first in _DESIGN:
        return ("design", first)
    if first in _PROTOCOL:
        return ("protocol", first)
    return ()


_HEADER = re.compile(r"^\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


def line_of(text: str, path: Path) -> int | None:
    """The line, from 1, in which a study file sets `path` or opens the table that should; None where neither is."""
    table: Path = ()
    opened: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            opened = number if table == path[: len(table)] else opened
        elif (key := _KEY.match(line)) and (*table, *_parts(key[1])) == path[: len(table) + len(_parts(key[1]))]:
            return number
    return opened


def _parts(text: str) -> Path:
    return tuple(part.strip().strip("\"'") for part in text.split("."))
