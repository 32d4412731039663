"""The design of a study as a page, with a session as a strip."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from analysis.design.plan import SessionPlan
from analysis.labels.space import LabelSpace
from analysis.persons.sentinels import SENTINELS, SentinelCost
from analysis.study.persons import PERSON
from analysis.study.protocol import PROTOCOLS, sources
from analysis.study.rules import Rule, RuleSet
from analysis.study.study import StudyConfiguration
from humanexp.studies.facts import minutes_of, person_sentinels_cost, task_of
from humanexp.studies.models import Study
from humanexp.studies.plans import plan_head
from humanexp.studies.tasks import question

#: Width of the view box, and the gap between two blocks, which people feel as a break.
WIDTH, GAP = 1000.0, 8.0
#: Roles in the order of the legend, and what they are called.
ROLES: Mapping[str, str] = {
    "practice": "practice",
    "qualification": "qualification",
    "main": "main",
    "clean": "clean",
    "gold": "gold",
    "negative": "negative",
    "consistency": "shown twice",
    "person": "sentinels of persons",
}


@dataclass(frozen=True)
class Stretch:
    """Trials of one role that follow one another."""

    role: str
    x: float
    width: float


@dataclass(frozen=True)
class Legend:
    role: str
    name: str
    trials: int


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The first planned session from left to right."""

    stretches: list[Stretch]
    legend: list[Legend]
    blocks: int
    trials: int


def strip_of(plan: SessionPlan) -> Strip:
    blocks = plan.blocks()
    unit = (WIDTH - GAP * max(0, len(blocks) - 1)) / max(1, len(plan.trials))
    stretches = []
    for (block, role), trials in groupby(plan.trials, key=lambda trial: (trial.block, role_of(trial.kind, trial.role))):
        positions = [trial.position for trial in trials]
        stretches.append(Stretch(role, round(positions[0] * unit + block * GAP, 2), round(len(positions) * unit, 2)))
    roles = [role_of(trial.kind, trial.role) for trial in plan.trials]
    legend = [Legend(role, name, roles.count(role)) for role, name in ROLES.items() if role in roles]
    return Strip(stretches=stretches, legend=legend, blocks=len(blocks), trials=len(plan.trials))


def role_of(kind: str, role: str) -> str:
    """The colour of a trial: practice and qualification by their block, the rest by what they are for."""
    if kind in ("practice", "qualification"):
        return kind
    return "consistency" if role.startswith("consistency") else role


@dataclass(frozen=True)
class PoolBar:
    """Originals of one pool beside one another, as a share of all."""

    name: str
    role: str
    originals: int
    x: float
    width: float


def pool_bars(pools: Sequence[tuple[str, str, int]], *, everything: int) -> list[PoolBar]:
    """From (role, name, originals) of every pool."""
    bars, x = [], 0.0
    for role, name, originals in pools:
        width = WIDTH * originals / max(1, everything)
        bars.append(PoolBar(name, role, originals, round(x, 2), round(width, 2)))
        x += width
    return bars


_ROLES: Mapping[str, tuple[str, str]] = {
    "practice": ("practice", "clean pictures with feedback; they never come up again"),
    "qualification": ("qualification", "clean pictures without feedback, one a category; a gate"),
    "main": ("main", "corrupted pictures: the measurement"),
    "clean": ("clean", "main pictures without corruption, for the left end of the curves"),
    "gold": ("gold", "clean, easy pictures; the right answer is required"),
    "negative": ("negative", "clean animals and artefacts in turn; an answer from the other group is a flag"),
    "consistency_first": ("consistency, first showing", "clean or lightly changed pictures"),
    "consistency_second": ("consistency, second showing", "the same pictures again, with others in between"),
    "person": ("sentinels of persons", "people and machines answer them differently; in no curve, rule or pay"),
    "discrimination practice": ("practice pairs", "plain pairs with feedback"),
    "discrimination main": ("pairs", "matched in visual change, half of them with the same corruption"),
    "discrimination negative": ("plain pairs", "pairs whose answer is plain; a gate"),
    "abx practice": ("practice trials", "plain trials with feedback"),
    "abx main": ("A, B and X", "matched in visual change; X goes with A in half of them"),
    "abx negative": ("plain trials", "A and B differ plainly; a gate"),
    "validation practice": ("practice", "clean pictures, with the right answers; they never come up again"),
    "validation main": ("new pictures", "judged once by each person: the measurement"),
    "validation gold": ("positive", "clean, easy pictures of the wanted category; yes to both is required"),
    "validation negative": ("negative", "pictures that plainly lack the wanted category; no to both is required"),
    "validation consistency_first": ("new pictures that come twice", "their first showing counts as well"),
    "validation consistency_second": (
        "second presentations",
        "well apart from the first; both answers must be equal",
    ),
}
_COMMON = ("of these, the same for all", "answered by everyone: for error consistency")
_POOLS: Mapping[str, str] = {
    "practice": "practice",
    "qualification": "qualification",
    "gold": "gold and negative",
    "consistency": "consistency",
    "main": "main and clean",
}
_PERSON_POOL = "sentinels of persons, %(family)s"
_UNITS: Mapping[str, str] = {"_ms": "ms", "_px": "px", "_frames": "frames"}
_VALUES: Mapping[str, str] = {
    "background": "grey of the page, 0 to 1",
    "size_px": "side of the picture",
    "fixation_ms": "fixation",
    "fixation_shape": "fixation mark",
    "fixation_px": "size of the fixation mark",
    "stimulus_ms": "stimulus",
    "contrast_ramp": "contrast ramp",
    "blank_frames": "blank before the mask",
    "mask_ms": "noise mask",
    "mask_contrast": "contrast of the mask",
    "response_ms": "time to answer",
    "click_policy": "answer that counts",
    "fixed_response_window": "the time to answer runs to its end",
    "feedback_ms": "feedback in practice",
    "feedback_sound": "sound on errors in practice",
    "grid_order": "order of the 16 answers",
}


@dataclass(frozen=True)
class RoleRow:
    name: str
    purpose: str
    #: trials a session
    trials: float
    share: float


@dataclass(frozen=True)
class PoolRow:
    role: str
    name: str
    originals: int
    fewest: int
    fewest_categories: str
    most: int
    #: pictures of a lab's own beside the set's originals
    is_brought: bool = False


@dataclass(frozen=True)
class Bar:
    """Planned answers in one bin of visual change, and where its rectangle stands in a 0-100 box."""

    low: float
    high: float
    answers: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Stratum:
    corruption: str
    answers: int
    bars: list[Bar]


@dataclass(frozen=True)
class ProtocolRow:
    name: str
    value: str
    unit: str
    #: published, ours or changed
    source: str


@dataclass(frozen=True, kw_only=True)
class DesignPage:
    configuration: StudyConfiguration
    summary: Mapping[str, Any]
    notes: list[str]
    roles: list[RoleRow]
    pools: list[PoolRow]
    strata: list[Stratum]
    comparisons: list[tuple[str, int]]
    protocol: list[ProtocolRow]
    protocol_source: str
    rule_set: RuleSet
    gates: list[Rule]
    flags: list[Rule]
    #: planned corrupted answers over the study
    answers: int
    pairs: int
    #: rough length of a session
    minutes: float
    #: None without sentinels of persons
    persons: SentinelCost | None = None
    #: of a validation: what people are asked, label by label
    asked: tuple[Mapping[str, Any], ...] = ()

    @property
    def pool_bars(self) -> list[PoolBar]:
        parts = [(pool.role, pool.name, pool.originals) for pool in self.pools if not pool.is_brought]
        return pool_bars(parts, everything=self.summary["originals"])

    @property
    def persons_pay(self) -> str:
        """In whole units of whatever currency the study pays."""
        return "" if self.persons is None else f"{self.persons.pay / 100:,.2f}"


#: What counts where pictures are not shown for a time.
_UNTIMED_VALUES = ("background", "size_px")
#: Tasks in which corruptions are compared.
_COMPARING = ("discrimination", "abx")


def design_page(study: Study, configuration: StudyConfiguration) -> DesignPage:
    """Of a study as it was planned."""
    head = plan_head(study)
    rules = RuleSet.from_dict(study.rule_set)
    summary, notes = head["summary"], head["notes"]
    return page_of(configuration=configuration, summary=summary, notes=notes, rules=rules, space=study.space)


def page_of(
    *,
    configuration: StudyConfiguration,
    summary: Mapping[str, Any],
    notes: Sequence[str],
    rules: RuleSet,
    space: LabelSpace,
) -> DesignPage:
    """Of a plan, whether a study has been made of it or not."""
    protocol = configuration.protocol
    is_validation = configuration.design.validation is not None
    by_role: Mapping[str, float] = summary["trials_by_role"]
    tasks = {task_of(role) for role in by_role}
    asked = [rule for rule in rules.rules if getattr(rule.settings, "task", None) in (None, *tasks)]
    return DesignPage(
        configuration=configuration,
        summary=summary,
        notes=list(notes),
        roles=_roles(by_role, shared=summary.get("overlap", {}).get("trials", 0)),
        pools=[_pool(role, pool) for role, pool in summary["pools"].items() if pool["originals"]],
        strata=_strata(summary["strata"]),
        comparisons=list(summary["comparisons"].items()),
        protocol=_protocol(configuration, _UNTIMED_VALUES if is_validation else tuple(_VALUES)),
        protocol_source="" if is_validation or protocol.name not in PROTOCOLS else PROTOCOLS[protocol.name].source,
        rule_set=rules,
        gates=[rule for rule in asked if rule.severity == "gate"],
        flags=[rule for rule in asked if rule.severity == "flag"],
        answers=round(by_role.get("main", 0) * summary["sessions"]),
        pairs=round(sum(by_role.get(f"{task} main", 0) for task in _COMPARING) * summary["sessions"]),
        minutes=minutes_of(
            by_role,
            protocol,
            block_trials=configuration.design.block_trials,
            closing_questions=len(configuration.ending.questions),
            set_up=configuration.setup.steps,
        ),
        persons=person_sentinels_cost(configuration, summary["sessions"]) if by_role.get(PERSON) else None,
        asked=tuple(
            question(label, configuration.to_dict(), space)
            for label in summary.get("validation", {}).get("by_category", ())
        ),
    )


def _roles(by_role: Mapping[str, float], *, shared: int) -> list[RoleRow]:
    total = sum(by_role.values()) or 1
    rows = []
    for role, (name, purpose) in _ROLES.items():
        if role in by_role:
            rows.append(RoleRow(name=name, purpose=purpose, trials=by_role[role], share=by_role[role] / total))
        if role == "main" and shared:
            rows.append(RoleRow(name=_COMMON[0], purpose=_COMMON[1], trials=shared, share=shared / total))
    return rows


def _pool(role: str, pool: Mapping[str, Any]) -> PoolRow:
    counts: Mapping[str, int] = pool["by_category"]
    fewest = min(counts.values())
    names = [category for category, count in counts.items() if count == fewest]
    kind, _space, family = role.partition(" ")
    sentinel = SENTINELS.get(family)
    return PoolRow(
        role=kind,
        name=_PERSON_POOL % {"family": family.replace("_", " ")} if kind == PERSON else _POOLS[role],
        originals=pool["originals"],
        fewest=fewest,
        fewest_categories=", ".join(names) if len(names) <= 4 else "",
        most=max(counts.values()),
        is_brought=sentinel is not None and sentinel.make is None,
    )


def _strata(strata: Mapping[str, list[int]]) -> list[Stratum]:
    tallest = max((count for counts in strata.values() for count in counts), default=0) or 1
    return [
        Stratum(
            corruption=corruption,
            answers=sum(counts),
            bars=[
                Bar(
                    low=k / len(counts),
                    high=(k + 1) / len(counts),
                    answers=count,
                    x=100 * k / len(counts) + 0.75,
                    y=100 - 100 * count / tallest,
                    width=100 / len(counts) - 1.5,
                    height=100 * count / tallest,
                )
                for k, count in enumerate(counts)
            ],
        )
        for corruption, counts in strata.items()
        if any(counts)
    ]


def _protocol(configuration: StudyConfiguration, values: Collection[str]) -> list[ProtocolRow]:
    rows = []
    for name, source in sources(configuration.protocol).items():
        if name not in values:
            continue
        unit = next((meaning for suffix, meaning in _UNITS.items() if name.endswith(suffix)), "")
        shown = _shown(getattr(configuration.protocol, name))
        rows.append(ProtocolRow(name=_VALUES[name], value=shown, unit=unit, source=source))
    return rows


def _shown(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:g}"
    return str(value)
