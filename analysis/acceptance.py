"""Which sessions count: ``judge(record, rules) -> Verdict``, pure and versioned.

Rules read sentinels, timing and the shape of answers to easy trials. They cannot read whether an answer to a corrupted
main trial was right, because that is the outcome of the study: the record does not hold it. Payment is decided
elsewhere. A new kind of rule is one function with ``@check``; thresholds stand in TOML files in ``rule_sets``.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from analysis.categories import CATEGORIES, NO_ANSWER, superordinate
from analysis.errors import InvalidInput, UnknownName

#: A trial up to this visual change is easy: people who can see it name it.
EASY_VISUAL_CHANGE = 0.3
SENTINEL_ROLES = frozenset({"gold", "negative", "qualification", "practice"})
_RULE_SETS = Path(__file__).parent / "rule_sets"


@dataclass(frozen=True, kw_only=True)
class TrialRecord:
    """One answered trial as acceptance may see it.

    Parameters
    ----------
    correct : bool or None
        Whether the answer was right; only for sentinels, None for every other trial.
    """

    position: int
    task: str
    role: str
    #: what was shown; the two showings of a consistency sentinel share it
    stimulus: str
    category: str
    visual_change: float
    response: str
    rt_ms: float | None
    timing_ok: bool | None
    correct: bool | None = None

    def __post_init__(self) -> None:
        if self.correct is not None and self.role not in SENTINEL_ROLES:
            raise InvalidInput(f"Acceptance must not know whether the answer to a {self.role} trial was right.")

    @property
    def is_easy(self) -> bool:
        return self.role != "practice" and self.task != "discrimination" and self.visual_change <= EASY_VISUAL_CHANGE


@dataclass(frozen=True, kw_only=True)
class SessionRecord:
    """The answered trials of one session, in any order."""

    trials: tuple[TrialRecord, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", tuple(sorted(self.trials, key=lambda trial: trial.position)))

    def with_role(self, *roles: str) -> list[TrialRecord]:
        return [trial for trial in self.trials if trial.role in roles]

    @property
    def easy(self) -> list[TrialRecord]:
        return [trial for trial in self.trials if trial.is_easy]

    @property
    def easy_answers(self) -> list[str]:
        """Answers given to easy 16-way trials, in order; trials without an answer are left out."""
        return [t.response for t in self.easy if t.task == "categorisation" and t.response != NO_ANSWER]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What one rule found."""

    check: str
    reason: str
    gate: bool
    passed: bool
    #: what was measured, in the rule's own unit, and over how many trials; None when there was nothing to read
    value: float | None
    n: int
    #: the bound that the value was held against
    bound: float | None
    detail: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a session counts, and why."""

    accepted: bool
    #: reasons of failed gates
    reasons: tuple[str, ...]
    #: reasons of failed flags: a person looks
    flags: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    rule_set: str
    rule_version: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a check says."""

    passed: bool
    value: float | None
    n: int
    bound: float | None
    detail: str


Check = Callable[[SessionRecord, Mapping[str, Any]], Measured]
CHECKS: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    """Register a kind of rule."""

    def register(function: Check) -> Check:
        CHECKS[name] = function
        return function

    return register


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One line of a rule set."""

    check: str
    reason: str
    #: a failed gate excludes the session; a failed flag asks a person to look
    gate: bool
    reads: str
    #: share of honest and of careless sessions that the rule catches
    honest: float
    careless: float
    thresholds: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RuleSet:
    """Versioned rules; verdicts name both."""

    name: str
    version: str
    rules: tuple[Rule, ...]


def load_rule_set(name: str) -> RuleSet:
    """A shipped rule set by name, or a lab's own by the path of its TOML file.

    Raises
    ------
    UnknownName
        If there is none of this name.
    InvalidInput
        Naming the file, the rule and the field.
    """
    path = Path(name) if name.endswith(".toml") else _RULE_SETS / f"{name}.toml"
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in _RULE_SETS.glob("*.toml")))
        raise UnknownName(f"There is no rule set {name!r}; there are {known}, or give the path of a file.") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path.name} is no valid TOML: {error}.") from error
    for name_of_field in ("name", "version"):
        if not isinstance(written.get(name_of_field), str):
            raise InvalidInput(f"{path.name} lacks the text {name_of_field!r}.")
    rules = tuple(_rule(path.name, number, values) for number, values in enumerate(written.get("rules", []), start=1))
    return RuleSet(name=written["name"], version=written["version"], rules=rules)


def _rule(source: str, number: int, written: Mapping[str, Any]) -> Rule:
    values = dict(written)
    fields: dict[str, Any] = {}
    for name, kind in (
        ("check", str),
        ("reason", str),
        ("gate", bool),
        ("reads", str),
        ("honest", (int, float)),
        ("careless", (int, float)),
    ):
        if not isinstance(values.get(name), kind):
            raise InvalidInput(f"{source}, rule {number}: {name!r} is missing or of the wrong kind.")
        fields[name] = values.pop(name)
    if fields["check"] not in CHECKS:
        raise InvalidInput(f"{source}, rule {number}: no check {fields['check']!r}; there are {', '.join(CHECKS)}.")
    rule = Rule(**fields, thresholds=values)
    try:
        CHECKS[rule.check](SessionRecord(trials=()), rule.thresholds)
    except KeyError as error:
        raise InvalidInput(f"{source}, rule {number} ({rule.check}) lacks {error.args[0]!r}.") from error
    return rule


def judge(record: SessionRecord, rules: RuleSet) -> Verdict:
    """Hold a session against a rule set.

    Parameters
    ----------
    record : SessionRecord
        Answered trials; their order in the tuple does not matter.
    rules : RuleSet
        From `load_rule_set`.

    Returns
    -------
    Verdict
        With the evidence of every rule, passed or not.
    """
    evidence = []
    for rule in rules.rules:
        found = CHECKS[rule.check](record, rule.thresholds)
        evidence.append(
            Evidence(
                check=rule.check,
                reason=rule.reason,
                gate=rule.gate,
                passed=found.passed,
                value=found.value,
                n=found.n,
                bound=found.bound,
                detail=found.detail,
            )
        )
    failed = [entry for entry in evidence if not entry.passed]
    return Verdict(
        accepted=not any(entry.gate for entry in failed),
        reasons=tuple(entry.reason for entry in failed if entry.gate),
        flags=tuple(entry.reason for entry in failed if not entry.gate),
        evidence=tuple(evidence),
        rule_set=rules.name,
        rule_version=rules.version,
    )


@check("golds")
def golds(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Positive sentinels answered right: m of K (reference table of error rates: 8, pass 6; 5, pass 4; 16, pass 13)."""
    read = record.with_role("gold")
    return _allowed(sum(not trial.correct for trial in read), len(read), thresholds["allowed_misses"], "golds wrong")


@check("consistency")
def consistency(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Pictures shown twice must get the same answer."""
    first = {trial.stimulus: trial.response for trial in record.with_role("consistency_first")}
    pairs = [
        (first[trial.stimulus], trial.response)
        for trial in record.with_role("consistency_second")
        if trial.stimulus in first
    ]
    changed = sum(before != after for before, after in pairs)
    return _allowed(changed, len(pairs), thresholds["allowed_misses"], "answers changed")


@check("timing")
def timing(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Share of trials that were shown as planned, of those whose timing is known."""
    known = [trial.timing_ok for trial in record.trials if trial.timing_ok is not None]
    return _at_least(_share(known), len(known), float(thresholds["minimum_share"]), "of trials shown as planned")


@check("speed")
def speed(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Share of easy trials answered faster than anybody sees and decides."""
    limit = float(thresholds["faster_than_ms"])
    times = [trial.rt_ms for trial in record.easy if trial.rt_ms is not None]
    fast = _share([rt_ms < limit for rt_ms in times])
    return _at_most(fast, len(times), float(thresholds["maximum_share"]), f"answered in under {limit:.0f} ms")


@check("negatives")
def negatives(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Negative sentinels: in 16-way trials an answer from the other superordinate group, elsewhere any wrong answer."""
    read = record.with_role("negative")
    share = _share([_is_other_group(trial) if trial.task == "categorisation" else not trial.correct for trial in read])
    return _at_most(share, len(read), float(thresholds["maximum_share"]), "of negative sentinels failed")


@check("entropy")
def entropy(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Shannon entropy of the answers in bits, at most 4 for 16 categories."""
    answers = record.easy_answers
    if len(answers) < thresholds["minimum_trials"]:
        return _nothing_to_read(len(answers), "too few easy trials")
    counts = Counter(answers).values()
    bits = -sum(count / len(answers) * math.log2(count / len(answers)) for count in counts)
    return _at_least(bits, len(answers), float(thresholds["minimum_bits"]), "bits of answers")


@check("favourite")
def favourite(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Share of the most frequent answer."""
    answers = record.easy_answers
    if len(answers) < thresholds["minimum_trials"]:
        return _nothing_to_read(len(answers), "too few easy trials")
    name, count = Counter(answers).most_common(1)[0]
    return _at_most(count / len(answers), len(answers), float(thresholds["maximum_share"]), f"of answers were {name}")


@check("run")
def run(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Longest row of equal answers."""
    answers = record.easy_answers
    longest = max((len(list(group)) for _, group in groupby(answers)), default=0)
    return _at_most(float(longest), len(answers), float(thresholds["longest"]), "equal answers in a row")


@check("misses")
def misses(record: SessionRecord, thresholds: Mapping[str, Any]) -> Measured:
    """Share of easy trials without an answer."""
    easy = record.easy
    share = _share([trial.response == NO_ANSWER for trial in easy])
    return _at_most(share, len(easy), float(thresholds["maximum_share"]), "of easy trials without an answer")


def _is_other_group(trial: TrialRecord) -> bool:
    if trial.response not in CATEGORIES:
        return trial.response != NO_ANSWER
    return superordinate(trial.response) != superordinate(trial.category)


def _share(facts: Sequence[bool]) -> float | None:
    return sum(facts) / len(facts) if facts else None


def _allowed(misses_found: int, n: int, table: Mapping[str, int], what: str) -> Measured:
    """`table` says how many misses are allowed from so many trials on."""
    bound = max((int(start), allowed) for start, allowed in table.items() if int(start) <= max(n, 1))[1]
    return Measured(
        passed=misses_found <= bound,
        value=float(misses_found) if n else None,
        n=n,
        bound=float(bound),
        detail=f"{misses_found} of {n} {what}, {bound} allowed",
    )


def _at_least(value: float | None, n: int, bound: float, what: str) -> Measured:
    if value is None:
        return _nothing_to_read(n, "no such trials")
    return Measured(
        passed=value >= bound, value=value, n=n, bound=bound, detail=f"{value:.2f} {what}, at least {bound:g} needed"
    )


def _at_most(value: float | None, n: int, bound: float, what: str) -> Measured:
    if value is None:
        return _nothing_to_read(n, "no such trials")
    return Measured(
        passed=value <= bound, value=value, n=n, bound=bound, detail=f"{value:.2f} {what}, at most {bound:g} allowed"
    )


def _nothing_to_read(n: int, why: str) -> Measured:
    """A rule without trials to read passes: nobody is excluded for what was not asked."""
    return Measured(passed=True, value=None, n=n, bound=None, detail=why)


def record_from_rows(rows: Iterable[Mapping[str, Any]]) -> SessionRecord:
    """A record from rows of ``analysis.tables.TRIALS``; what acceptance may not know is left behind here.

    Parameters
    ----------
    rows : iterable of mappings
        Answered trials of one session.
    """
    return SessionRecord(
        trials=tuple(
            TrialRecord(
                position=row["position"],
                task=row["task"],
                role=row["role"],
                stimulus=row["stimulus"],
                category=row["category"],
                visual_change=row["visual_change"] or 0.0,
                response=row["response"],
                rt_ms=row["rt_ms"],
                timing_ok=row["timing_ok"],
                correct=row["correct"] if row["role"] in SENTINEL_ROLES else None,
            )
            for row in rows
        )
    )
