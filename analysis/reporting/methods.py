"""The methods of a study in words, with every number, from its configuration and its findings alone.

What is not known is left out; nothing is said that the two do not hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from analysis.findings.model.checks import Reach
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.reporting.plan import FrozenPlan, deviations
from analysis.reporting.results_text import (
    agreement_sentences,
    comparison_sentences,
    curve_sentences,
    discrimination_sentences,
    recruiter_sentences,
    sensitivity_sentences,
    similarity_sentences,
    validation_sentences,
)
from analysis.study.design import DesignConfig
from analysis.study.protocol import ProtocolConfig
from analysis.study.rules import RuleSet
from analysis.study.study import StudyConfiguration, earlier_defaults
from analysis.study.validation import PLACEHOLDER, Judging
from analysis.visual_change.coverage import stimuli_that_cover
from analysis.wording import counted, joined, listed, quoted, range_of


@dataclass(frozen=True)
class Paragraph:
    """A paragraph with its heading."""

    title: str
    text: str


def methods_paragraphs(
    findings: Findings,
    snapshot: Mapping[str, JsonValue] | None = None,
    plan: FrozenPlan | None = None,
    *,
    plan_answers: int | None = None,
    seen_whole: Collection[str] = (),
    asked_how: Mapping[str, str] | None = None,
    scripted: bool = False,
) -> list[Paragraph]:
    """Describe what was shown, to whom, and how the numbers were computed.

    Parameters
    ----------
    findings : Findings
        Result of `analysis.findings.analysing.analyse`.
    snapshot : mapping, optional
        The study: ``configuration`` (with ``protocol`` and ``design``) and ``rules``.
    plan : FrozenPlan, optional
    plan_answers : int, optional
        Answers that were stored when the plan was frozen.
    seen_whole : collection of str
        Classifiers that are known to have got whole pictures.
    asked_how : mapping of str to str, optional
        How models were asked in words, by their names: `analysis.observers.methods.methods_text`.
    scripted : bool
        Whether programs answered in place of people: it is the first thing that is said of the participants.

    Returns
    -------
    list of Paragraph
        Plain English; paragraphs of which nothing is known are left out.
    """
    stated, judged = ((snapshot or {}).get(name) for name in ("configuration", "rules"))
    configuration = StudyConfiguration.from_dict(stated) if stated and isinstance(stated, dict) else None
    rules = RuleSet.from_dict(judged) if judged and isinstance(judged, dict) else None
    n_labels = findings.labels.n if findings.labels else 16
    parts = (
        ("Stimuli", _stimuli(findings)),
        (
            "Procedure",
            ()
            if configuration is None
            else (
                *_procedure(configuration.protocol, configuration.design, n_labels),
                *_own_words(configuration.judging),
            ),
        ),
        ("Participants", _participants(findings, rules, scripted=scripted)),
        ("Recruiters", recruiter_sentences(findings)),
        ("Models", _models(findings, seen_whole, asked_how or {})),
        ("Curves", curve_sentences(findings)),
        ("Comparisons", comparison_sentences(findings)),
        ("Similarity of corruptions", similarity_sentences(findings)),
        ("Discrimination", discrimination_sentences(findings)),
        ("Validation", validation_sentences(findings)),
        ("Agreement", agreement_sentences(findings)),
        ("Sensitivity", sensitivity_sentences(findings)),
        ("Plan and data", _plan(findings, snapshot, plan, plan_answers)),
    )
    return [
        Paragraph(title, " ".join(text)) for title, sentences in parts if (text := [one for one in sentences if one])
    ]


def _stimuli(findings: Findings) -> Iterable[str]:
    reach = findings.reach
    if reach:
        total = sum(one.n for one in reach)
        yield (
            f"{total:,} stimuli were made with {counted(len(reach), 'corruption function')} "
            f"({listed(one.corruption for one in reach)}) and measured by their visual change "
            "(1 - visual information fidelity, wavelet version) on the bytes that were shown."
        )
        shares = [one.covered / one.bins for one in reach]
        yield (
            f"At least 20 stimuli of a function lie in {range_of(shares, percent=True)} of {reach[0].bins} equal "
            f"bins of visual change{_what_the_number_allows(reach)}."
        )
    if any(curve.abscissa == "condition" for curve in findings.curves):
        yield "Areas are over the experiment's own condition, rescaled to [0, 1], not over visual change."


def _what_the_number_allows(reach: Sequence[Reach]) -> str:
    """Where functions have too few stimuli for 20 in each bin."""
    enough, fewest = stimuli_that_cover(reach[0].bins), min(one.n for one in reach)
    if fewest >= enough:
        return ""
    return f"; all bins of a function can hold so many from {enough:,} stimuli on, and the smallest has {fewest:,}"


def _own_words(judging: Judging) -> Iterable[str]:
    """Questions and instructions of a validation, where the study words them itself."""
    asked = [
        f"the {place} question read “{question}”"
        for place, question in (("first", judging.shows), ("second", judging.usable))
        if question
    ]
    if asked:
        said = joined(asked).replace(PLACEHOLDER, "[label]")
        yield f"{said[:1].upper()}{said[1:]}."
    if judging.instructions:
        at_pictures = "stood above every picture" if judging.instructions_shown else "at every picture"
        yield (
            f"{counted(len(judging.instructions), 'numbered instruction')} could be read before the first picture and "
            f"{at_pictures}."
        )


def _procedure(protocol: ProtocolConfig, design: DesignConfig, n_labels: int) -> Iterable[str]:
    if design.validation:
        yield (
            "Each screen showed one picture without a time limit, and asked two questions about a wanted category: "
            "does the picture show one, and could what it shows be used as one?"
        )
        return
    pairs = design.discrimination
    shown = f"the picture ({protocol.size_px} x {protocol.size_px} px) for {protocol.stimulus_ms} ms"
    if protocol.blank_frames:
        shown += f", {counted(protocol.blank_frames, 'blank frame')}"
    yield (
        f"Each trial (protocol {protocol.name}) showed a fixation mark for {protocol.fixation_ms} ms, {shown}, "
        f"and a noise mask for {protocol.mask_ms} ms, on a grey of {protocol.background:g} of full brightness"
        f"{', and did so for each picture of a comparison' if pairs else ''}."
    )
    click = {"first": "the first answer counted", "last": "the last answer counted"}[protocol.click_policy]
    asked = [
        *([_offered(design, n_labels)] if design.main_trials else []),
        *([_COMPARISONS[pairs.form]] if pairs else []),
    ]
    chosen = joined(asked)
    yield f"{chosen[:1].upper()}{chosen[1:]} was chosen within {protocol.response_ms} ms; {click}."


#: What is chosen from where corruptions are compared.
_COMPARISONS = {"same-different": "same or different (in comparisons)", "abx": "A or B (in comparisons)"}


#: Stands in front of whatever is said of scripted participants.
SCRIPTED = (
    "The participants were scripted: programs answered, and no person took part. Whatever is said of people here "
    "describes these programs."
)


def _participants(findings: Findings, rules: RuleSet | None, *, scripted: bool) -> Iterable[str]:
    if scripted:
        yield SCRIPTED
    flow = findings.flow
    if flow:
        yield (
            f"Sessions opened: {flow.opened:,}; finished: {flow.finished:,}; submitted: {flow.submitted:,}; "
            f"withdrawn: {flow.withdrawn:,}; left before the end with their answers: {flow.left:,}; left unfinished "
            f"otherwise: {flow.unfinished - flow.left:,}."
        )
        if flow.unverified:
            yield f"Finished, and listed by no recruiter: {flow.unverified:,}; they cannot count."
        if flow.practice_not_passed:
            yield (
                f"Ended with practice that was not passed: {counted(flow.practice_not_passed, 'session')}; none of "
                "their answers count, and their pay did not depend on it."
            )
        if flow.longer_window:
            yield (
                f"In {counted(flow.longer_window, 'finished session')} the participant had asked for a longer time for "
                "each answer; whether these sessions count was fixed in the plan."
            )
        if flow.excluded:
            reasons = listed(f"{one.n} for {one.reason}" for one in flow.excluded)
            yield f"Excluded: {flow.excluded_total:,} ({reasons})."
        yield f"Sessions that count: {flow.accepted:,}."
        by_hand = flow.accepted_by_hand + flow.excluded_by_hand
        if by_hand:
            yield f"In {counted(by_hand, 'session')} a person decided otherwise than the rules."
    if rules:
        gates = [rule.reason for rule in rules.rules if rule.severity == "gate"]
        yield (
            f"Sessions were judged by the rule set {rules.name}, version {rules.version}; it excludes for: "
            f"{listed(gates)}. No rule reads whether answers to corrupted pictures were right."
        )
    yield from findings.about_people
    humans = [one for one in findings.observers if one.kind == "human"]
    if humans and findings.trials:
        who = counted(len(humans), "scripted participant") if scripted else counted(len(humans), "person", "people")
        yield f"The curves rest on {findings.trials.in_accepted_sessions:,} answers of {who}."
        if findings.trials.set_aside:
            yield (
                f"{counted(findings.trials.set_aside, 'trial')} of all sessions, those that do not count included, "
                "were set aside, because the page lost the focus or no input of any kind came until 10 s into the "
                "question; no trial was set aside for being missed. Areas and HMRI are also given with such trials "
                "as misses."
            )
        if findings.trials.without_truth:
            yield (
                f"{counted(findings.trials.without_truth, 'answer')} to pictures for which no label is accepted as "
                "right are left out."
            )
    missed = [curve.misses for curve in findings.human_curves if curve.misses and curve.property == "accuracy"]
    if missed:
        yield (
            f"{sum(one.n for one in missed):,} of the answers to corrupted pictures did not come in time; they "
            "count as wrong, and the areas and HMRI are also given without misses."
        )


def _models(findings: Findings, seen_whole: Collection[str], asked_how: Mapping[str, str]) -> Iterable[str]:
    for name in dict.fromkeys(one.observer for one in findings.model_discrimination):
        if asked_how.get(name):
            yield asked_how[name]
    networks = [one.name for one in findings.observers if one.kind == "classifier"]
    if not networks:
        return
    names = joined([quoted(name) for name in networks])
    yield f"{counted(len(networks), 'model')} classified the same pictures: {names}."
    if set(networks) <= set(seen_whole):
        yield "Each got the whole picture, resized to its input and never cropped."
    for one in findings.asked:
        trials = one.trials
        yield (
            f"{one.observer} was asked in words about {counted(trials.asked, 'stimulus', 'stimuli')}: it answered "
            f"{trials.answered:,} with a label, refused {trials.refused:,}, and gave {trials.unreadable:,} unreadable "
            f"and {trials.missed:,} empty answers, which count as wrong."
        )
        if asked_how.get(one.observer):
            yield asked_how[one.observer]
    spaces = {curve.label_space for curve in findings.curves if curve.population != HUMANS}
    if spaces - {findings.labels.n if findings.labels else 16}:
        yield f"Label spaces: {listed(f'{space}-way' for space in sorted(spaces))}; only equal ones are compared."


def _plan(
    findings: Findings, snapshot: Mapping[str, JsonValue] | None, plan: FrozenPlan | None, plan_answers: int | None
) -> Iterable[str]:
    if plan is not None:
        found = deviations(plan, findings, snapshot=snapshot)
        yield f"The analysis plan was frozen{_when(plan_answers)}; its sha256 is {plan.digest}."
        if found:
            said = listed(f"{one.what}: {one.planned} planned, {one.done} done" for one in found)
            yield f"{counted(len(found), 'deviation')} from it: {said}."
        else:
            yield "Nothing deviates from it."
        yield from kept_defaults(plan)
    if findings.version:
        yield f"Computed with HumanExp {findings.version}; sha256 of the data: {findings.data_digest}."


def kept_defaults(plan: FrozenPlan, kind: type[StudyConfiguration] = StudyConfiguration) -> Iterable[str]:
    """What a plan of an earlier version of the specification means, where a new one would mean something else."""
    stored = plan.content.get("study", {}).get("configuration")
    if not stored or not isinstance(stored, dict) or stored.get("spec", 1) == kind.VERSION:
        return
    study = kind.from_dict(stored)
    # Terms of recruitment say how a campaign is watched while it runs, and change nothing that was measured.
    kept = {name: value for name, value in earlier_defaults(study).items() if not name.startswith("recruitment.")}
    if kept:
        said = listed(f"{name} {'none' if value is None else value}" for name, value in kept.items())
        yield f"The plan keeps the defaults of version {study.spec} of the study file: {said}."


def _offered(design: DesignConfig, n_labels: int) -> str:
    """What people chose among who named pictures."""
    none = ", or none of these, which was never right" if design.none_of_these else ""
    if not design.alternatives or design.alternatives == n_labels:
        return f"one of {n_labels} categories{none}"
    foils = {
        "any": "drawn so that each category was as often wrong as the number of alternatives says",
        "competing": "first what competes with the picture's category",
        "group": "first categories of the same group",
        "other-group": "first categories of other groups",
    }
    return (
        f"one of {design.alternatives} of {n_labels} categories (the right one, in places drawn anew for each picture, "
        f"and foils, {foils[design.foils]}){none}"
    )


def _when(answers: int | None) -> str:
    """When a plan was frozen, by the answers that there were; no plan made after them is a preregistration."""
    if answers is None:
        return ""
    return f" when {answers:,} answers were stored already" if answers else " before the first answer"
