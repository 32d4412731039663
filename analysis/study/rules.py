"""Rule sets: named, versioned lists of rules by which sessions are accepted, and what each kind can be set to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, SerializeAsAny, Strict, ValidationInfo, field_validator, model_validator

from analysis.errors import InvalidInput, UnknownName
from analysis.study.base import Context, Must, Number, Sparse, Spec, refusal
from analysis.study.toml import from_toml

#: gate = a session that fails it does not count; flag = a person looks.
Severity = Literal["gate", "flag"]
_Kind = TypeVar("_Kind", bound="RuleSettings")
_Role = Annotated[str, Field(min_length=1, description="which trials: `gold`, `negative`")]
_Task = Annotated[str | None, Field(description="of one task; left out: of all")]
_Share = Annotated[float, Field(ge=0, description="share of the trials"), Number]
_Minimum = Annotated[float, Field(ge=0, description="with fewer trials the rule says nothing"), Number]


class RuleSettings(Sparse):
    """Thresholds of one kind of rule, stored as they were stated."""


def _check_pass_of(values: Mapping[str, int]) -> None:
    if not values or not all(k.isdecimal() and 0 < m <= int(k) for k, m in values.items()):
        raise refusal("{place} maps how many trials to how many of them must be right, as { 5 = 4, 8 = 6 }.")


class _Passing(RuleSettings):
    pass_of: Annotated[
        dict[str, int],
        Field(
            description="how many of how many must be right, as `{ 5 = 4, 8 = 6 }`; between two entries the share of "
            "the smaller one, below the smallest the rule says nothing"
        ),
        Must("a table such as { 5 = 4, 8 = 6 }"),
    ]

    @field_validator("pass_of")
    @classmethod
    def _possible(cls, values: dict[str, int]) -> dict[str, int]:
        _check_pass_of(values)
        return values


class QualificationSettings(_Passing):
    """Clean pictures before anything else; any try that is passed is enough."""

    tries: Annotated[int, Field(ge=1, le=5, description="rounds, each with pictures of its own")]


class SentinelSettings(_Passing):
    """Trials with a known answer."""

    role: _Role
    task: _Task = None
    pool_under: Annotated[
        float,
        Field(
            ge=0,
            description="sessions with fewer trials (golds, practice and qualification aside) have too few sentinels: "
            "those of all such sessions of a person in the study family count together, and pass or fail together",
        ),
        Number,
    ] = 0
    withdraw_under: Annotated[
        float | None,
        Field(
            gt=0,
            le=1,
            description="golds: one is withdrawn that a smaller share of otherwise accepted people name, and clearly "
            "fewer than name the other golds",
        ),
    ] = None
    withdraw_after: Annotated[
        float | None, Field(ge=0, description="golds: fewer presentations do not decide"), Number
    ] = None

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.withdraw_under is None) != (self.withdraw_after is None):
            raise refusal("A rule that withdraws golds needs both 'withdraw_under' (a share) and 'withdraw_after'.")
        return self


class AllowedSettings(RuleSettings):
    """So many trials may fail."""

    allowed: Annotated[float, Field(ge=0, description="how many may fail"), Number]
    minimum: _Minimum


class ShareSettings(RuleSettings):
    """At most this share of the trials."""

    most: _Share
    minimum: _Minimum


class EntropySettings(RuleSettings):
    """How varied the answers have to be."""

    least_bits: Annotated[
        float, Field(ge=0, description="entropy of the answers in bits; 16 equally frequent: 4"), Number
    ]
    minimum: _Minimum


class RunSettings(RuleSettings):
    """How often one answer may follow itself."""

    longest: Annotated[float, Field(ge=0, description="longest run of one answer"), Number]
    minimum: _Minimum


class FastSettings(ShareSettings):
    """Which answers are too fast."""

    under_ms: Annotated[float, Field(ge=0, description="faster than this nobody sees and decides"), Number]
    task: _Task = None


#: Kind of rule -> its settings. The functions that apply them: `analysis.acceptance.rules`.
KINDS: Mapping[str, type[RuleSettings]] = {
    "qualification": QualificationSettings,
    "sentinels": SentinelSettings,
    "consistency": AllowedSettings,
    "other_group": AllowedSettings,
    "timing": ShareSettings,
    "timing_unknown": ShareSettings,
    "unfetched": ShareSettings,
    "one_key": ShareSettings,
    "entropy": EntropySettings,
    "run": RunSettings,
    "fast": FastSettings,
    "misses": ShareSettings,
}
#: Kinds that are evidence for a person, and never exclude anybody by themselves.
FLAGS_ONLY = frozenset({"unfetched"})


class Rule(Spec):
    """One rule: a kind with its thresholds, and what it catches, in words."""

    kind: Annotated[str, Field(description="what is measured")]
    severity: Annotated[
        Severity, Field(description="`gate`: a session that fails does not count; `flag`: a person looks")
    ]
    reason: Annotated[str, Field(description="what is said of a session that fails")]
    reads: Annotated[str, Field(description="which trials it reads")]
    honest: Annotated[str, Field(description="what share of honest people it catches")]
    careless: Annotated[str, Field(description="what share of careless people it catches")]
    settings: Annotated[SerializeAsAny[RuleSettings], Field(description="thresholds")]

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind not in KINDS:
            raise refusal(f"There is no kind of rule {kind!r}; there are: {', '.join(sorted(KINDS))}.")
        return kind

    @field_validator("settings", mode="before")
    @classmethod
    def _of_its_kind(cls, values: object, info: ValidationInfo[Context]) -> RuleSettings:
        kind = KINDS.get(str(info.data.get("kind")))
        if kind is None:
            raise refusal("{place} cannot be read without a kind of rule that there is.")
        unknown = sorted(set(values) - set(kind.model_fields)) if isinstance(values, Mapping) else []
        if unknown:
            known = ", ".join(sorted(kind.model_fields))
            raise refusal(f"A rule of this kind has no setting {unknown[0]!r}; it has: {known}.", unknown[0])
        return kind.model_validate(values)

    @model_validator(mode="after")
    def _excludes_nobody_alone(self) -> Self:
        if self.kind in FLAGS_ONLY and self.severity != "flag":
            raise refusal(f"A rule of kind {self.kind!r} is a flag: a person looks at its sessions.", "severity")
        return self


class RuleSet(Spec):
    """Rules with a name and a version; a changed threshold is a new version."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    name: Annotated[str, Field(min_length=1, description="name of the rule set")]
    version: Annotated[str, Field(min_length=1, description="a changed threshold is a new one")]
    description: Annotated[str, Field(min_length=1, description="what the rules are for")]
    rules: Annotated[tuple[Rule, ...], Strict(False), Field(alias="rule", description="the rules")] = ()

    @classmethod
    def called(cls) -> str:
        return "A rule set"

    def settings_of(self, kind: type[_Kind]) -> list[_Kind]:
        """The settings of every rule of this sort."""
        return [rule.settings for rule in self.rules if isinstance(rule.settings, kind)]

    @property
    def qualification(self) -> QualificationSettings | None:
        """Settings of the gate that is passed before anything else; None where there is none."""
        gates = (rule.settings for rule in self.rules if rule.severity == "gate")
        return next((one for one in gates if isinstance(one, QualificationSettings)), None)

    @property
    def tries(self) -> int:
        """Rounds of qualification; one where nothing is said."""
        return 1 if self.qualification is None else self.qualification.tries


_FOLDER = Path(__file__).resolve().parent.parent / "rule_sets"
#: Names of the shipped rule sets.
RULE_SETS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_rule_set(name: str) -> RuleSet:
    """A shipped rule set by its name; a path is no name, whatever lies there.

    Raises
    ------
    UnknownName
        If there is no such rule set.
    """
    if name not in RULE_SETS:
        sentence = f"There is no rule set {name!r}; there are: {', '.join(RULE_SETS)}."
        raise UnknownName(sentence, fields={"rules": sentence})
    return read_rule_set(_FOLDER / f"{name}.toml")


def read_rule_set(path: Path) -> RuleSet:
    """A rule set of the lab's own, from its TOML file.

    Raises
    ------
    UnknownName
        If there is no such file.
    InvalidInput
        If the file is no rule set; with file and line.
    """
    if path.suffix != ".toml" or not path.is_file():
        raise UnknownName(f"There is no file {path} with a rule set; its name must end in .toml.")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path.name} is no valid TOML: {error}.") from error
    return from_toml(RuleSet.from_dict, text, source=path.name)
