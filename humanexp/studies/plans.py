"""What is planned: a study's plan as a file under MEDIA_ROOT, the rules it judges by, the order of the answers."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from analysis.acceptance.rules import needed_of
from analysis.arrays import FloatArray
from analysis.design.catalogue import Catalogue, shuffled_grid
from analysis.design.plan import BlockPlan, PlannedTrial, SessionPlan, StudyPlan, read_session_plan
from analysis.design.planner import plan_study
from analysis.design.sessions import by_balance, cells_of
from analysis.study.design import PracticeDesign
from analysis.study.rules import RuleSet, load_rule_set
from analysis.study.study import StudyConfiguration
from humanexp.core import file_store
from humanexp.core.errors import StudyRefused
from humanexp.core.storage import media_path, read_checked, write_whole
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sources import agreed_originals
from humanexp.studies.models import Study
from humanexp.studies.tasks import question

_OF_PICTURE = ("key", "category", "accepted", "competing")
_COLUMNS = ("key", "corruption", "visual_change", *(f"source_image__{name}" for name in _OF_PICTURE))


def stimulus_rows(stimulus_set: StimulusSet) -> list[dict[str, Any]]:
    """The columns of every stimulus that a plan depends on."""
    return [
        {
            "stimulus": key,
            "original": original,
            "category": category,
            "corruption": corruption,
            "visual_change": change,
            "accepted": accepted,
            "competing": competing,
        }
        for key, corruption, change, original, category, accepted, competing in (
            stimulus_set.stimuli.order_by("key").values_list(*_COLUMNS)
        )
    ]


def originals_of(rows: list[dict[str, Any]], stimulus_set: StimulusSet) -> dict[str, str]:
    """Category of every original of the set; cue conflicts that a lab brings are none."""
    sentinels = set(stimulus_set.person_families)
    return {row["original"]: row["category"] for row in rows if row["corruption"] not in sentinels}


def make_plan(*, configuration: StudyConfiguration, stimulus_set: StimulusSet, rules: RuleSet) -> StudyPlan:
    rows = stimulus_rows(stimulus_set)
    originals = originals_of(rows, stimulus_set)
    candidates, told = _gold_candidates(configuration, stimulus_set, originals)
    design = configuration.design.but(qualification_tries=rules.tries)
    plan = plan_study(
        originals,
        rows,
        design,
        configuration.seed,
        gold_candidates=candidates,
        plain=stimulus_set.plain_functions,
        person_families=stimulus_set.person_families,
        space=stimulus_set.source_set.space,
    )
    told = [*(told if plan.pools.get("gold") else []), *_undefined(configuration, plan, stimulus_set)]
    return dataclasses.replace(plan, notes=(*plan.notes, *told)) if told else plan


def _undefined(configuration: StudyConfiguration, plan: StudyPlan, stimulus_set: StimulusSet) -> list[str]:
    """Which wanted labels people would read without a definition."""
    wanted = sorted({trial.wanted for session in plan.sessions for trial in session.trials if trial.wanted})
    own, space = configuration.to_dict(), stimulus_set.source_set.space
    without = [label for label in wanted if not question(label, own, space)["definition"]]
    if not without:
        return []
    return [
        f"No definition is shown of {', '.join(without)}: people read the words alone. Say it with the labels, or as "
        f"definition in [wanted.{without[0]}]."
    ]


def _gold_candidates(
    configuration: StudyConfiguration, stimulus_set: StimulusSet, originals: dict[str, str]
) -> tuple[Collection[str] | None, list[str]]:
    """Originals that the study file names, or that all classifiers named right; None where nobody was asked."""
    if configuration.gold_originals:
        return configuration.gold_originals, []
    agreed = agreed_originals(stimulus_set.source_set)
    if agreed is None:
        return None, []
    candidates = agreed & originals.keys()
    asked = len(stimulus_set.source_set.gold_classifiers)
    who = "the classifier that was asked named" if asked == 1 else f"all {asked} classifiers named"
    return candidates, [
        f"Gold pictures come from the {len(candidates)} of {len(originals)} originals that {who} right."
    ]


def store_plan(plan: StudyPlan, *, slug: str) -> tuple[str, str]:
    """Write the plan; returns its path under MEDIA_ROOT and its SHA-256. The same plan is the same file."""
    content = "".join(f"{line}\n" for line in plan.to_lines()).encode()
    digest = hashlib.sha256(content).hexdigest()
    relative = f"plans/{slug}-{digest[:16]}.jsonl"
    write_whole(media_path(relative), content)
    file_store.publish(relative)
    return relative, digest


def catalogue_of(stimulus_set: StimulusSet) -> Catalogue:
    rows = stimulus_rows(stimulus_set)
    return Catalogue.from_rows(
        originals_of(rows, stimulus_set),
        rows,
        plain=stimulus_set.plain_functions,
        person_families=stimulus_set.person_families,
        space=stimulus_set.source_set.space,
    )


def session_plan(study: Study, slot: int) -> tuple[dict[str, tuple[str, ...]], SessionPlan]:
    """Pools, and the plan of one slot."""
    return read_session_plan(_lines(study.plan_file, study.plan_digest), slot)


def blocks_of(study: Study, plan: SessionPlan) -> list[dict[str, Any]]:
    """Blocks of a session as its participant may know them; of rounds that can be passed, the right answers needed.

    Only practice with a criterion says more than blocks of earlier versions did.
    """
    blocks = []
    for block in plan.blocks():
        values = dataclasses.asdict(block)
        if block.kind == "slow-practice":
            values |= {"kind": "practice", "is_slow": True}
        elif block.kind == "practice-round":
            values |= {"kind": "practice", "needed": _needed(study, block)}
        blocks.append(values)
    return blocks


def _needed(study: Study, block: BlockPlan) -> int:
    """Right answers that pass the round; of one that lost trials to earlier sessions of the person, the same share."""
    practice = practice_of(study, block.task)
    return needed_of(block.trials, {str(practice.practice_round): practice.practice_pass})


def practice_of(study: Study, task: str) -> PracticeDesign:
    """The settings of a task's practice."""
    design = StudyConfiguration.from_dict(study.configuration).design
    return design if task == "categorisation" or design.discrimination is None else design.discrimination


def blocks_digest(blocks: Sequence[Mapping[str, Any]]) -> str:
    """The same for the same blocks."""
    return hashlib.sha256(json.dumps(blocks, sort_keys=True).encode()).hexdigest()[:16]


def new_pictures(study: Study, slot: int) -> frozenset[str]:
    """Names of the stimuli of one slot that are neither practice nor sentinels."""
    _, plan = session_plan(study, slot)
    return frozenset(trial.stimulus for trial in plan.trials if trial.role in ("main", "consistency_first"))


def plan_head(study: Study) -> dict[str, Any]:
    """Configuration, pools, notes and summary, without the sessions."""
    head: dict[str, Any] = json.loads(_lines(study.plan_file, study.plan_digest)[0])
    return head


@lru_cache(maxsize=8)
def _lines(relative: str, digest: str) -> tuple[str, ...]:
    try:
        content = read_checked(relative, digest)
    except FileNotFoundError as error:
        raise StudyRefused(f"The plan file {relative} is missing: restore it from the backup of MEDIA_ROOT.") from error
    if content is None:
        raise StudyRefused(f"The plan file {relative} was changed: restore it from the backup of MEDIA_ROOT.")
    return tuple(content.decode().splitlines())


@lru_cache(maxsize=4)
def _planned_names(relative: str, digest: str) -> frozenset[str]:
    plan = StudyPlan.from_lines(_lines(relative, digest))
    return frozenset(name for session in plan.sessions for trial in session.trials for name in trial.stimuli)


def planned_trials(study: Study, tasks: Collection[str]) -> list[PlannedTrial]:
    """Every trial of these tasks in the plan, of all slots, in their order."""
    plan = StudyPlan.from_lines(_lines(study.plan_file, study.plan_digest))
    return [trial for session in plan.sessions for trial in session.trials if trial.task in tasks]


def planned_stimuli(study: Study) -> frozenset[str]:
    """Names of all stimuli that stand in the plan."""
    return _planned_names(study.plan_file, study.plan_digest)


def in_balance(study: Study, *, held: Sequence[int], free: Sequence[int]) -> list[int]:
    """Free slots, those first that best make what a recruiter's people hold like the whole plan."""
    return by_balance(_cells(study.plan_file, study.plan_digest, study.stimulus_set_id), held, free)


@lru_cache(maxsize=4)
def _cells(relative: str, digest: str, stimulus_set: int) -> FloatArray:
    """Trials of every slot by cell of the plan."""
    columns = ("key", "corruption", "visual_change", "source_image__category")
    stimuli = StimulusSet.objects.get(pk=stimulus_set).stimuli.order_by()
    shown = {key: (corruption, change, category) for key, corruption, change, category in stimuli.values_list(*columns)}
    return cells_of(StudyPlan.from_lines(_lines(relative, digest)).sessions, shown)


def rule_set_of(configuration: StudyConfiguration, *, keeps: Study | None = None) -> RuleSet:
    """The rules that the configuration names; no file is looked for.

    A study that was made with rules of the lab's own keeps them (`keeps`), and so do its next versions.

    Raises UnknownName for any other name, and for paths.
    """
    if keeps is not None and configuration.rules == keeps.configuration.get("rules"):
        return RuleSet.from_dict(keeps.rule_set)
    return load_rule_set(configuration.rules)


def grid_order_for(study: Study, *, person: str) -> list[str]:
    """Labels row by row in the order of this person's own; empty where the protocol keeps theirs.

    Trials that offer some of them only have an order of their own.
    """
    asked = study.protocol.configuration.get("grid_order") if study.protocol else None
    if study.alternatives < len(study.space):
        return []
    return list(shuffled_grid(study.family.slug, person, study.space)) if asked == "shuffled" else []
