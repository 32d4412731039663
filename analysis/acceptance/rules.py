"""The kinds of rules by which sessions are judged, qualification among them, and the verdict that follows."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from analysis.acceptance.record import AnsweredTrial, SessionRecord
from analysis.labels.space import NO_ANSWER, NONE_OF_THESE
from analysis.study.rules import (
    AllowedSettings,
    EntropySettings,
    FastSettings,
    QualificationSettings,
    RuleSet,
    RuleSettings,
    RunSettings,
    SentinelSettings,
    Severity,
    ShareSettings,
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a rule found.

    Parameters
    ----------
    passed : bool or None
        None when there are too few trials to judge by.
    value : float
        The measured quantity.
    threshold : float
        What it was compared with.
    trials : int
        Trials read.
    positions : tuple of int
        The trials that speak against the session.
    sessions : int
        Sessions of the person whose trials were read together.
    """

    passed: bool | None
    value: float
    threshold: float
    trials: int
    positions: tuple[int, ...] = ()
    sessions: int = 1


S = TypeVar("S", bound=RuleSettings)
#: Function by name of the kind; what it can be set to: `analysis.study.rules.KINDS`.
FUNCTIONS: dict[str, Callable[[SessionRecord, Any], Measured]] = {}


def kind(
    name: str,
) -> Callable[[Callable[[SessionRecord, S], Measured]], Callable[[SessionRecord, S], Measured]]:
    def register(function: Callable[[SessionRecord, S], Measured]) -> Callable[[SessionRecord, S], Measured]:
        FUNCTIONS[name] = function
        return function

    return register


@kind("sentinels")
def sentinels(record: SessionRecord, settings: SentinelSettings) -> Measured:
    """At least m of K sentinels of a role answered rightly; `pass_of` maps K to m.

    Sessions under `pool_under` trials (sentinels aside) have too few of them: those of all such sessions of the person
    count together, so that all pass or none. `withdraw_under` and `withdraw_after` say when a gold is no sentinel any
    more (`analysis.acceptance.golds`).
    """
    under = settings.pool_under
    too_short = [other for other in record.others if other.asked < under]
    together = [record, *too_short] if record.asked < under else [record]
    trials = [trial for each in together for trial in each.with_role(settings.role, settings.task)]
    needed = _needed(len(trials), settings.pass_of)
    right = sum(bool(trial.correct) for trial in trials)
    own = record.with_role(settings.role, settings.task)
    return Measured(
        passed=None if needed is None else right >= needed,
        value=right,
        threshold=0 if needed is None else needed,
        trials=len(trials),
        positions=_positions([trial for trial in own if not trial.correct]),
        sessions=len(together),
    )


def _needed(count: int, pass_of: Mapping[str, int]) -> int | None:
    """How many of so many must be right; between two entries the share of the smaller, below the smallest None."""
    table = {int(k): int(m) for k, m in pass_of.items()}
    known = [k for k in table if k <= count]
    if not known or not count:
        return None
    return math.ceil(count * table[max(known)] / max(known))


@kind("consistency")
def consistency(record: SessionRecord, settings: AllowedSettings) -> Measured:
    """At most `allowed` of the pictures shown twice were answered differently; a miss is no answer that changed."""
    firsts = {trial.stimulus: trial for trial in record.with_role("consistency_first")}
    seconds = {trial.stimulus: trial for trial in record.with_role("consistency_second")}
    both = [
        (firsts[name], seconds[name])
        for name in firsts
        # Beyond a light change honest people change a guess: there the record has no answer.
        if name in seconds and not {firsts[name].response, seconds[name].response} & {None, NO_ANSWER}
    ]
    changed = [second for first, second in both if first.response != second.response]
    return Measured(
        passed=None if len(both) < settings.minimum else len(changed) <= settings.allowed,
        value=len(changed),
        threshold=settings.allowed,
        trials=2 * len(both),
        positions=_positions(changed),
    )


@kind("other_group")
def other_group(record: SessionRecord, settings: AllowedSettings) -> Measured:
    """At most `allowed` negatives answered with a label of another group."""
    trials = record.with_role("negative", "categorisation")
    failed = [
        trial
        for trial in trials
        if trial.response not in (None, NO_ANSWER, NONE_OF_THESE)
        and record.space.group(str(trial.response)) != record.space.group(str(trial.category))
    ]
    return Measured(
        passed=None if len(trials) < settings.minimum else len(failed) <= settings.allowed,
        value=len(failed),
        threshold=settings.allowed,
        trials=len(trials),
        positions=_positions(failed),
    )


@kind("timing")
def timing(record: SessionRecord, settings: ShareSettings) -> Measured:
    """At most this share of the trials after practice was shown otherwise than planned, or to nobody."""
    timed = [trial for trial in record.trials if trial.timing_ok is not None or trial.is_set_aside]
    trials = [trial for trial in timed if trial.role != "practice"]
    # Whoever looks away in every trial has no gold trials that could fail.
    return _share([trial for trial in trials if not trial.timing_ok], trials, settings)


@kind("timing_unknown")
def timing_unknown(record: SessionRecord, settings: ShareSettings) -> Measured:
    """At most this share of the trials after practice came without a timing record."""
    trials = [trial for trial in record.trials if trial.role != "practice" and not trial.is_set_aside]
    return _share([trial for trial in trials if trial.timing_ok is None], trials, settings)


@kind("unfetched")
def unfetched(record: SessionRecord, settings: ShareSettings) -> Measured:
    """At most this share of the trials was answered without their pictures ever having been given out.

    A page cannot show what it did not fetch: no reload, prefetch, dropped line or second tab makes such an answer.
    """
    trials = list(record.trials) if record.fetched is not None else []
    return _share([trial for trial in trials if trial.position not in (record.fetched or ())], trials, settings)


@kind("one_key")
def one_key(record: SessionRecord, settings: ShareSettings) -> Measured:
    """No single answer makes up more than this share."""
    trials = _answered(record)
    counts = Counter(trial.response for trial in trials)
    favourite = max(sorted(counts, key=str), key=lambda response: counts[response]) if counts else None
    return _share([trial for trial in trials if trial.response == favourite], trials, settings, shown=False)


@kind("entropy")
def entropy(record: SessionRecord, settings: EntropySettings) -> Measured:
    """Entropy of the answers over balanced trials, at least `least_bits` (16 equally frequent answers: 4 bits)."""
    trials = _answered(record)
    counts = Counter(trial.response for trial in trials)
    total = len(trials)
    bits = sum(n / total * math.log2(total / n) for n in counts.values())
    return Measured(
        passed=None if total < settings.minimum else bits >= settings.least_bits,
        value=bits,
        threshold=settings.least_bits,
        trials=total,
    )


@kind("run")
def run(record: SessionRecord, settings: RunSettings) -> Measured:
    """No answer is given more than `longest` times in a row, among the trials read."""
    trials = _answered(record)
    best: list[AnsweredTrial] = []
    present: list[AnsweredTrial] = []
    for trial in trials:
        present = [*present, trial] if present and present[-1].response == trial.response else [trial]
        best = max(best, present, key=len)
    return Measured(
        passed=None if len(trials) < settings.minimum else len(best) <= settings.longest,
        value=len(best),
        threshold=settings.longest,
        trials=len(trials),
        positions=_positions(best) if len(best) > settings.longest else (),
    )


@kind("fast")
def fast(record: SessionRecord, settings: FastSettings) -> Measured:
    """At most this share of the answers came faster than anybody can see and decide; categorisation by default."""
    trials = record.timed_answers(settings.task or "categorisation")
    quick = [trial for trial in trials if trial.rt_ms is not None and trial.rt_ms < settings.under_ms]
    return _share(quick, trials, settings)


@kind("misses")
def misses(record: SessionRecord, settings: ShareSettings) -> Measured:
    """At most this share of the trials passed without an answer."""
    trials = record.shape_trials()
    return _share([trial for trial in trials if trial.response == NO_ANSWER], trials, settings)


def _answered(record: SessionRecord) -> list[AnsweredTrial]:
    return [trial for trial in record.shape_trials() if trial.response != NO_ANSWER]


def _share(
    against: list[AnsweredTrial], trials: list[AnsweredTrial], settings: ShareSettings, *, shown: bool = True
) -> Measured:
    share = len(against) / len(trials) if trials else 0.0
    return Measured(
        passed=None if len(trials) < max(1, settings.minimum) else share <= settings.most,
        value=share,
        threshold=settings.most,
        trials=len(trials),
        positions=_positions(against) if shown else (),
    )


def _positions(trials: list[AnsweredTrial]) -> tuple[int, ...]:
    return tuple(trial.position for trial in trials)


#: Name of the kind in rule sets.
QUALIFICATION = "qualification"


@kind(QUALIFICATION)
def qualification(record: SessionRecord, settings: QualificationSettings) -> Measured:
    """The best try has at least m of K right; `pass_of` maps K to m."""
    rounds: dict[int, list[AnsweredTrial]] = {}
    for trial in record.with_role(QUALIFICATION):
        rounds.setdefault(trial.block, []).append(trial)
    if not rounds:
        return Measured(passed=None, value=0, threshold=0, trials=0)
    best = max(rounds.values(), key=lambda trials: sum(bool(trial.correct) for trial in trials))
    right = sum(bool(trial.correct) for trial in best)
    needed = needed_of(len(best), settings.pass_of)
    wrong = tuple(trial.position for trials in rounds.values() for trial in trials if not trial.correct)
    return Measured(passed=right >= needed, value=right, threshold=needed, trials=len(best), positions=wrong)


def needed_of(count: int, pass_of: Mapping[str, int]) -> int:
    """How many of so many must be right: the share of the nearest entry below, or of the smallest, rounded up."""
    table = {int(k): int(m) for k, m in pass_of.items()}
    nearest = max((k for k in table if k <= count), default=min(table))
    return math.ceil(count * table[nearest] / nearest)


def qualification_rule(rule_set: Mapping[str, object]) -> QualificationSettings | None:
    """Settings of the qualification gate of a stored rule set; None where there is none, or no rules at all."""
    return RuleSet.from_dict(rule_set).qualification if rule_set else None


#: The reason of a session that ended with practice whose criterion was not met. It is no rule's: there is nothing to
#: judge.
PRACTICE_NOT_PASSED = "practice not passed"


@dataclass(frozen=True, kw_only=True)
class RuleOutcome:
    """What one rule found in one session; `passed` is None when there were too few trials to judge by."""

    kind: str
    severity: Severity
    reason: str
    passed: bool | None
    value: float
    threshold: float
    trials: int
    positions: tuple[int, ...]
    #: of the person, whose trials were read together
    sessions: int = 1

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `sessions` is there where they are several."""
        values = {**dataclasses.asdict(self), "positions": list(self.positions)}
        return values if self.sessions > 1 else {name: value for name, value in values.items() if name != "sessions"}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a session counts, and why.

    Parameters
    ----------
    accepted : bool
        No gate failed.
    reasons : tuple of str
        Reasons of the gates that failed, in the order of the rules.
    flags : tuple of str
        Reasons of the flags that were raised.
    evidence : tuple of RuleOutcome
        One for every rule.
    rule_set, rule_version : str
    """

    accepted: bool
    reasons: tuple[str, ...]
    flags: tuple[str, ...]
    evidence: tuple[RuleOutcome, ...]
    rule_set: str
    rule_version: str


def judge(record: SessionRecord, rules: RuleSet) -> Verdict:
    """Judge one session.

    Parameters
    ----------
    record : SessionRecord
        Its answers, in any order; what no rule may read has been removed from it on construction.
    rules : RuleSet

    Returns
    -------
    Verdict
        A function of its arguments alone. Payment is decided elsewhere and never by a rule.
    """
    evidence = []
    for rule in rules.rules:
        measured = FUNCTIONS[rule.kind](record, rule.settings)
        evidence.append(
            RuleOutcome(
                kind=rule.kind,
                severity=rule.severity,
                reason=rule.reason,
                passed=measured.passed,
                value=float(measured.value),
                threshold=float(measured.threshold),
                trials=measured.trials,
                positions=measured.positions,
                sessions=measured.sessions,
            )
        )
    failed = [outcome for outcome in evidence if outcome.passed is False]
    reasons = tuple(dict.fromkeys(outcome.reason for outcome in failed if outcome.severity == "gate"))
    flags = tuple(dict.fromkeys(outcome.reason for outcome in failed if outcome.severity == "flag"))
    return Verdict(
        accepted=not reasons,
        reasons=reasons,
        flags=flags,
        evidence=tuple(evidence),
        rule_set=rules.name,
        rule_version=rules.version,
    )
