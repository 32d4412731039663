"""The sentence that the dashboard opens with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import get_args

from analysis.claims.models import measured_words, models_sentence, order_sentence, overall_word
from analysis.findings.model.checks import Validation
from analysis.findings.model.comparisons import Comparison, Direction, Word
from analysis.findings.model.curves import Curve, Discrimination
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.wording import counted, quoted, words


@dataclass(frozen=True)
class Headline:
    """One sentence or two, and what weakens them (often nothing)."""

    text: str
    caveat: str = ""
    #: people's answers stand behind it, so that more of them may change it
    is_of_people: bool = True


def headline_of(findings: Findings) -> Headline:
    """What a reader wants to know first.

    Of models beside people's own curves it is how many match people in accuracy, differ, or are undecided, whether
    these data order them, and how close the one with the highest HMRI comes. Where more than a fifth of a curve is
    extrapolated, HMRI is that of the range that both measured, and named.
    """
    found = _found(findings)
    found = replace(found, caveat=f"{found.caveat} {findings.curve_note}".strip())
    if not found.is_of_people:
        return found
    crowd = findings.known_crowd
    # Why there is no verdict may be said in the text already.
    rests_on = "" if crowd.statement.rstrip(".") in found.text else crowd.statement
    return replace(
        found,
        text=f"{crowd.provisional} {found.text}".strip(),
        caveat=f"{found.caveat} {rests_on}".strip(),
    )


def _found(findings: Findings) -> Headline:
    own = findings.own_comparisons()
    if own:
        return _against_people(own, findings.ranks)
    curves = [curve for curve in findings.curves if curve.property == "accuracy"]
    people = [curve for curve in curves if curve.population == HUMANS]
    if people:
        return _people_alone(people, is_of_few=findings.is_of_few)
    if findings.discrimination:
        return _told_apart(findings.discrimination, is_of_few=findings.is_of_few)
    if findings.human_accuracy and not findings.curves:
        return _conditions_alone(findings)
    if curves:
        return _models_alone(curves)
    if findings.validation and findings.validation.images:
        return _judged(findings.validation)
    if findings.validation:
        return Headline(
            f"Nothing is known of the pictures: of the {findings.validation.overall.people} people who judged them "
            "none counts.",
            "Collect more, or look at why sessions were excluded.",
            is_of_people=False,
        )
    if findings.trials and findings.trials.rows and not findings.trials.in_all_sessions:
        return Headline(
            "This study gives no curves: its answers judge pictures instead of naming them at a glance.",
            is_of_people=False,
        )
    return Headline(
        "Too few answers count for a curve.", "Collect more, or look at why sessions were excluded.", is_of_people=False
    )


def _against_people(entries: Sequence[Comparison], ranks: Mapping[str, tuple[int, int]]) -> Headline:
    by_classifier: dict[str, list[Comparison]] = {}
    for entry in entries:
        by_classifier.setdefault(entry.classifier, []).append(entry)
    scores = {name: fmean(entry.shown.hmri for entry in own) for name, own in by_classifier.items()}
    best = max(scores, key=lambda name: scores[name])
    own, score = by_classifier[best], scores[best]
    share = f"{100 * score:.1f} % of people's accuracy ({_numbers(own, score)})"
    caveat = _WITHHELD if any(entry.withheld for entry in own) else ""
    known = {name: _word(theirs) for name, theirs in by_classifier.items()}
    if any(entry.no_verdict for entry in entries):
        return Headline(_without_verdict(by_classifier, known))
    if None in known.values():
        opening = f"The model {quoted(best)}" if len(scores) == 1 else f"Of {len(scores)} models {quoted(best)}"
        closest = "" if len(scores) == 1 else " comes closest to people: it"
        return Headline(f"{opening}{closest} replicates {share} {_where(own)}.", caveat)
    said = {wanted: [quoted(name) for name, word in known.items() if word == wanted] for wanted in get_args(Word)}
    sentence = models_sentence(said["matches"], said["differs"], said["undecided"], where=_where(own))
    if len(scores) == 1:
        return Headline(f"{sentence}{_how(own)}. It replicates {share}.", caveat)
    order = f" {order_sentence({quoted(name): places for name, places in ranks.items()})}." if ranks else ""
    return Headline(f"{sentence}.{order} The closest by HMRI, {quoted(best)}, replicates {share}{_how(own)}.", caveat)


def _without_verdict(by_classifier: Mapping[str, Sequence[Comparison]], known: Mapping[str, Word | None]) -> str:
    """Which models have no verdict, and why; of the others how many match people or differ."""
    said = {wanted: [quoted(name) for name, word in known.items() if word == wanted] for wanted in get_args(Word)}
    judged = next((own for name, own in by_classifier.items() if known[name] is not None), None)
    opening = ""
    if judged is not None:
        opening = models_sentence(said["matches"], said["differs"], said["undecided"], where=_where(judged)) + ". "
    reasons: dict[str, dict[str, list[str]]] = {}
    for name, own in by_classifier.items():
        for entry in own:
            if entry.no_verdict:
                reasons.setdefault(entry.no_verdict, {}).setdefault(entry.corruption, []).append(name)
    told = []
    for reason, where in list(reasons.items())[:_MOST_REASONS]:
        names = list(dict.fromkeys(name for own in where.values() for name in own))
        whom = f"the model {quoted(names[0])}" if len(names) == 1 else f"{len(names)} models"
        on = f"on {words(next(iter(where)))}" if len(where) == 1 else f"on {len(where)} corruptions"
        told.append(f"There is no verdict on {whom} {on}: {reason.removeprefix('no verdict: ')}.")
    if len(reasons) > len(told):
        told.append(f"For {len(reasons) - len(told)} more such reasons see the table.")
    return opening + " ".join(told)


#: Of several reasons so many are told; the table has all.
_MOST_REASONS = 2


def _word(own: Sequence[Comparison]) -> Word | None:
    """One word for a model over its corruptions; None where one of them has none."""
    known = [entry.verdict for entry in own if entry.verdict is not None]
    if len(known) < len(own):
        return None
    return overall_word(matches=all(one.matches for one in known), differs=any(one.differs for one in known))


def _how(own: Sequence[Comparison]) -> str:
    """Where it differs, and by how much on one corruption."""
    known = [entry.verdict for entry in own if entry.verdict is not None]
    if len(own) == 1:
        measured = measured_words(verdict.has_conditions for verdict in known)
        return (
            f": its mean accuracy over {measured} minus that of people is {known[0].difference:+.3f} "
            f"({interval_text(known[0].interval)})"
        )
    kinds = Counter(verdict.direction for verdict in known if verdict.differs)
    parts = [f"{_DIRECTIONS[kind]} on {kinds[kind]}" for kind in _DIRECTIONS if kinds[kind]]
    return f" and is {' and '.join(parts)} of {len(own)} corruptions" if parts else ""


_DIRECTIONS: Mapping[Direction | None, str] = {
    "below": "below people",
    "above": "above people",
    "crosses": "partly above and partly below people",
}


_WITHHELD = (
    "More than a fifth of a curve is extrapolated, so the number is for the range of visual change that both measured."
)


def _where(own: Sequence[Comparison]) -> str:
    if len(own) == 1:
        return f"on {words(own[0].corruption)}"
    return f"over {len(own)} corruptions"


def _numbers(own: Sequence[Comparison], score: float) -> str:
    if len(own) == 1:
        # Of one corruption no interval is declared as a claim: what there is covers the truth in 89 of 100 studies.
        return f"HMRI {score:.3f}"
    ordered = sorted(own, key=lambda entry: entry.shown.hmri)
    ends = [f"{entry.shown.hmri:.3f} on {words(entry.corruption)}" for entry in (ordered[0], ordered[-1])]
    return f"HMRI {score:.3f}; from {ends[0]} to {ends[1]}"


def _people_alone(curves: Sequence[Curve], *, is_of_few: bool) -> Headline:
    parts = []
    for curve in curves:
        interval = f" ({interval_text(curve.interval)})" if curve.interval else ""
        parts.append(f"{curve.area:.3f}{interval} on {words(curve.corruption)}")
    whose = "These people's" if is_of_few else "People's"
    return Headline(
        f"{whose} accuracy over the whole range of visual change is {'; '.join(parts)} (area under the curve).",
        "No classifier has been evaluated on these stimuli yet.",
    )


def _models_alone(curves: Sequence[Curve]) -> Headline:
    by_classifier: dict[str, list[float]] = {}
    for curve in curves:
        by_classifier.setdefault(curve.population, []).append(curve.area)
    means = {name: fmean(areas) for name, areas in by_classifier.items()}
    best = max(means, key=lambda name: means[name])
    others = f"Of {len(means)} models " if len(means) > 1 else ""
    most = "most, " if others else ""
    return Headline(
        f"{others}{quoted(best)} keeps {most}an accuracy of {means[best]:.3f} over the whole range of visual change.",
        "Too few answers of people count for a curve.",
        is_of_people=False,
    )


def _told_apart(entries: Sequence[Discrimination], *, is_of_few: bool) -> Headline:
    parts = [f"{' and '.join(map(words, entry.pair))}: {100 * entry.correct / entry.trials:.1f} %" for entry in entries]
    who = "These people" if is_of_few else "People"
    return Headline(f"{who} tell pairs of corruptions apart at these rates (50 % is guessing): {'; '.join(parts)}.")


def _judged(found: Validation) -> Headline:
    """How many of the judged pictures were accepted, and by which rule."""
    accepted = sum(one.accepted for one in found.images)
    overall = found.overall
    like_guessing = (
        f"These people agree no more than people who guess may: in {overall.agreement:.2f} of the answers, and "
        f"guessing gives up to {overall.agreement_by_guessing_upper:.2f}."
        if overall.is_like_guessing
        else ""
    )
    return Headline(
        f"Of {counted(len(found.images), 'judged picture')} {accepted} "
        f"({100 * accepted / len(found.images):.1f} %) {'is' if accepted == 1 else 'are'} accepted: more than "
        f"{found.overall.threshold:g} of the answers say yes to both questions.",
        like_guessing,
    )


def _conditions_alone(findings: Findings) -> Headline:
    """People's accuracy; before it, of cue conflicts, what they were shown for."""
    means, bias = findings.human_accuracy, _shape_bias(findings)
    if len(means) == 1:
        (only,) = means
        return Headline(
            f"{bias}People are right on {100 * only.mean_over_observers:.1f} % of the trials. "
            f"All trials have one condition, {only.condition}.",
            "With one condition there is no curve.",
        )
    ordered = sorted(means, key=lambda cell: cell.mean_over_observers)
    worst, best = ordered[0], ordered[-1]
    return Headline(
        f"{bias}People are right on {100 * best.mean_over_observers:.1f} % of the trials in condition {best.condition} "
        f"and on {100 * worst.mean_over_observers:.1f} % in condition {worst.condition}.",
        "The conditions are no numbers, so there is no curve.",
    )


def _shape_bias(findings: Findings) -> str:
    """A sentence on all people together; nothing where no answer of theirs names a shape or a texture."""
    for one in findings.shape_bias:
        if one.kind == "humans" and one.bias is not None:
            low, high = one.interval
            return (
                f"Of people's {one.shape + one.texture:,} answers that name the shape or the texture, "
                f"{100 * one.bias:.1f} % name the shape ({100 * findings.level:g} % interval {100 * low:.1f} to "
                f"{100 * high:.1f} %). "
            )
    return ""


def interval_text(interval: Sequence[float]) -> str:
    return f"{interval[0]:.3f} to {interval[1]:.3f}"
