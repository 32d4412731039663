"""Rule sets: named, versioned lists of rules, read from TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from analysis.acceptance.rules import FLAGS_ONLY, check_settings
from analysis.errors import InvalidInput, UnknownName

#: gate = a session that fails it does not count; flag = a person looks.
Severity = Literal["gate", "flag"]
_FOLDER = Path(__file__).resolve().parent.parent / "rule_sets"
#: Names of the shipped rule sets.
RULE_SETS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
_RULE_FIELDS = frozenset({"kind", "severity", "reason", "reads", "honest", "careless", "settings"})


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    Parameters
    ----------
    kind : str
        Registered in ``analysis.acceptance.rules.KINDS``.
    severity : {"gate", "flag"}
    reason : str
        What is said of a session that fails.
    reads : str
        Which trials it reads.
    honest, careless : str
        What share of honest and of careless people it catches.
    settings : mapping
        Thresholds.
    """

    kind: str
    severity: Severity
    reason: str
    reads: str
    honest: str
    careless: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class RuleSet:
    """Rules with a name and a version; a changed threshold is a new version."""

    name: str
    version: str
    description: str
    rules: tuple[Rule, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "rule": [{**vars(rule), "settings": dict(rule.settings)} for rule in self.rules],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RuleSet:
        """Inverse of `to_dict`, and the content of a TOML file.

        Raises
        ------
        InvalidInput
            Naming the rule and the field.
        """
        for field in ("name", "version", "description"):
            if not isinstance(values.get(field), str) or not values[field]:
                raise InvalidInput(f"A rule set needs the text {field!r}.")
        return cls(
            name=values["name"],
            version=values["version"],
            description=values["description"],
            rules=tuple(_rule(entry, number) for number, entry in enumerate(values.get("rule", ()), start=1)),
        )


def _rule(entry: Mapping[str, Any], number: int) -> Rule:
    missing, unknown = sorted(_RULE_FIELDS - set(entry)), sorted(set(entry) - _RULE_FIELDS)
    if missing or unknown:
        raise InvalidInput(
            f"Rule {number} {'lacks' if missing else 'has the unknown field'} {(missing or unknown)[0]!r}."
        )
    if entry["severity"] not in get_args(Severity):
        raise InvalidInput(f"Rule {number}: severity is gate or flag, not {entry['severity']!r}.")
    check_settings(entry["kind"], entry["settings"])
    if entry["kind"] in FLAGS_ONLY and entry["severity"] != "flag":
        raise InvalidInput(
            f"Rule {number}: a rule of kind {entry['kind']!r} is a flag: a person looks at its sessions."
        )
    return Rule(**{**entry, "settings": dict(entry["settings"])})


def load_rule_set(name: str) -> RuleSet:
    """A shipped rule set by its name; a path is no name, whatever lies there.

    Raises
    ------
    UnknownName
        If there is no such rule set.
    """
    if name not in RULE_SETS:
        raise UnknownName(f"There is no rule set {name!r}; there are: {', '.join(RULE_SETS)}.")
    return read_rule_set(_FOLDER / f"{name}.toml")


def read_rule_set(path: Path) -> RuleSet:
    """A rule set of the lab's own, from its TOML file.

    Raises
    ------
    UnknownName
        If there is no such file.
    InvalidInput
        If the file is no rule set.
    """
    if path.suffix != ".toml" or not path.is_file():
        raise UnknownName(f"There is no file {path} with a rule set; its name must end in .toml.")
    try:
        return RuleSet.from_dict(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path.name} is no valid TOML: {error}.") from error
    except InvalidInput as error:
        raise InvalidInput(f"{path.name}: {error}") from error
