"""What was found, in sentences with every number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from analysis.claims import corruptions, recruiters
from analysis.claims.agreement import differences_note, soft_words
from analysis.claims.curves import FITTED_BY, MEAN_OVER, WITHOUT_INTERVALS
from analysis.claims.models import measured_words, method_sentence, rank_words, ranks_sentence
from analysis.claims.telling_apart import AS_PUBLISHED, FORMS, d_prime_words, rule_sentence
from analysis.curves.bootstrap import Scheme
from analysis.findings.model.checks import ChoiceCurve
from analysis.findings.model.comparisons import Comparison, Leader, ModelVerdict
from analysis.findings.model.curves import Curve, Weighted
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.wording import counted, joined, listed, quoted, with_interval, words

#: What a bootstrap of this scheme resamples.
_SCHEMES: dict[Scheme, str] = {
    "two-way": "people and originals (two-way clusters)",
    "image": "originals",
    "participant": "people",
    "naive": "single answers",
}
#: More curves or comparisons than this are told by their means and ends.
MOST_CURVES, MOST_COMPARISONS = 6, 12


def curve_sentences(findings: Findings) -> Iterable[str]:
    """How curves were fitted, and people's areas."""
    curves, people = findings.curves, findings.human_curves
    if not curves:
        return
    yield (f"Performance was fitted over {_abscissae(curves)} by {FITTED_BY[findings.curve_kind]}{_held_by(people)}.")
    if findings.curve_note:
        yield f"{findings.curve_note} {WITHOUT_INTERVALS}"
    if findings.weights_note:
        yield findings.weights_note
    if findings.settings:
        yield MEAN_OVER[findings.settings.estimand]
    schemes = [
        f"{joined(drawn)} for {whose}"
        for whose, are_human in (("people's curves", True), ("models'", False))
        if (drawn := _resampled(curve for curve in curves if (curve.population == HUMANS) == are_human))
    ]
    settings = findings.settings
    if settings and settings.n_bootstrap and schemes:
        yield (
            f"Intervals have level {settings.level:g} and come from a bootstrap with {settings.n_bootstrap:,} "
            f"refits for each resampled unit: {joined(schemes)} (seed {settings.seed})."
        )
    if any(curve.property == "consistency" for curve in people):
        yield (
            "Consistency of people is the agreement of an answer with another person's answer to the clean original, "
            "since nobody saw an original twice; that of models, with their own answer to it."
        )
    for curve in curves:
        if curve.rise is not None:
            yield f"{_whose(curve)}: {curve.rise.statement}"
    own = [curve for curve in people if curve.property == "accuracy"]
    if len(own) <= MOST_CURVES:
        for curve in own:
            yield _area_sentence(curve) + _weighted(curve.weighted, findings.weights_name)
        return
    lowest, highest = (end(own, key=lambda curve: curve.area) for end in (min, max))
    withheld = sum(curve.withheld for curve in own)
    yield (
        f"People's areas under accuracy for {len(own)} corruptions lie between {lowest.area:.3f} "
        f"({words(lowest.corruption)}) and {highest.area:.3f} ({words(highest.corruption)}); {withheld} of "
        "them rest on extrapolation for more than 20 % of the axis, and are given for the measured range."
    )


def _weighted(found: Weighted | None, name: str) -> str:
    """The mean under weights over visual change, to follow the area."""
    return f" Under {name}: {with_interval(found.value, found.interval)}." if found else ""


def _whose(curve: Curve) -> str:
    """Population, property and corruption of a curve, at the head of a sentence."""
    who = "People" if curve.population == HUMANS else quoted(curve.population)
    return f"{who}, {curve.property}, {words(curve.corruption)}"


def _abscissae(curves: Sequence[Curve]) -> str:
    """What the curves stand over."""
    kinds = {curve.abscissa == "condition" for curve in curves}
    return joined(
        [name for flag, name in ((False, "visual change"), (True, "the experiment's condition")) if flag in kinds]
    )


def _resampled(curves: Iterable[Curve]) -> list[str]:
    """What the bands of these curves resample."""
    return sorted({_SCHEMES[curve.scheme] for curve in curves if curve.scheme})


def _held_by(curves: Sequence[Curve]) -> str:
    """The clean answers at the left end of people's curves."""
    numbers = [curve.anchor.n for curve in curves if curve.property == "accuracy" and curve.anchor.n]
    return f", held at the left by {max(numbers):,} answers to clean pictures" if numbers else ""


def _area_sentence(curve: Curve) -> str:
    name = words(curve.corruption)
    if not curve.withheld:
        share = f"{100 * curve.extrapolated:.1f} % of the axis extrapolated"
        return f"People's area under accuracy for {name}: {with_interval(curve.area, curve.interval)}, {share}."
    low, high = curve.measured.range
    return (
        f"For {name} {100 * curve.extrapolated:.0f} % of the axis is extrapolated; people's mean accuracy between "
        f"{low:g} and {high:g} is {with_interval(curve.measured.mean, curve.measured.interval)}."
    )


def comparison_sentences(findings: Findings) -> Iterable[str]:
    """HMRI and MRSI of every classifier."""
    own = findings.own_comparisons()
    if own:
        yield (
            "Models are compared with people by HMRI, the share of the human area that a model reaches, and MRSI, the "
            "share of the model's area above people; intervals of their means over corruptions draw the same "
            "originals for both where both saw them, and of one corruption there are none."
        )
    judged = [one.verdict for one in own if one.verdict is not None]
    if judged:
        yield method_sentence(
            pairs=len(judged), margin=judged[0].margin, window_margin=judged[0].window_margin, window=judged[0].window
        )
    if len(own) <= MOST_COMPARISONS:
        for one in own:
            yield _comparison_sentence(one, findings.weights_name)
    else:
        for row in findings.leaderboard:
            if row.property != "accuracy":
                continue
            mine = [one for one in own if one.classifier == row.classifier]
            lowest, highest = (end(mine, key=lambda one: one.hmri) for end in (min, max))
            yield (
                f"{quoted(row.classifier)}, mean over {row.corruptions} corruptions: HMRI "
                f"{with_interval(row.hmri, row.hmri_interval)}, MRSI "
                f"{with_interval(row.mrsi, row.mrsi_interval)}{_weighted_means(row, findings.weights_name)}"
                f"{_verdict(row.verdict, mine)}; HMRI from "
                f"{lowest.hmri:.3f} ({words(lowest.corruption)}) to {highest.hmri:.3f} ({words(highest.corruption)})."
            )
        yield "Every pair of model and corruption stands in the table of comparisons."
    if findings.ranks:
        yield ranks_sentence({quoted(name): places for name, places in findings.ranks.items()})
    pairs = dict.fromkeys((one.corruption, one.human_curve) for one in findings.comparisons if one.borrowed)
    if pairs:
        lent = listed(f"{words(one)} that of {words(other)}" for one, other in pairs)
        yield f"Human curves were borrowed: for {lent}."


def _weighted_means(row: Leader, name: str) -> str:
    """Both indices under weights over visual change, to follow those under equal ones."""
    one = row.weighted
    if one is None:
        return ""
    hmri, mrsi = with_interval(one.hmri, one.hmri_interval), with_interval(one.mrsi, one.mrsi_interval)
    return f" (under {name}: HMRI {hmri}, MRSI {mrsi})"


def _comparison_sentence(one: Comparison, name: str) -> str:
    shown, span = one.shown, one.shown_range
    where = f" between {span[0]:g} and {span[1]:g}" if span else ""
    weighted = f" (under {name}: HMRI {one.weighted.hmri:.3f}, MRSI {one.weighted.mrsi:.3f})" if one.weighted else ""
    return (
        f"{quoted(one.classifier)}, {words(one.corruption)}{where}: HMRI "
        f"{shown.hmri:.3f}, MRSI {shown.mrsi:.3f}{weighted}"
        f"{_verdict(one.verdict, [one])}{_none(one)}."
    )


def _verdict(one: ModelVerdict | None, own: Sequence[Comparison]) -> str:
    """The verdict and the difference that it is about, to follow the indices."""
    if one is None:
        return ""
    measured = measured_words(entry.verdict.has_conditions for entry in own if entry.verdict is not None)
    return (
        f"; mean accuracy over {measured} minus people's {with_interval(one.difference, one.interval)}: {one.statement}"
    )


def _none(one: Comparison) -> str:
    """Why there is no verdict, to follow the indices."""
    return f"; {one.no_verdict}" if one.no_verdict else ""


def similarity_sentences(findings: Findings) -> Iterable[str]:
    """How many pairs of corruptions are equivalent, different, undecided."""
    pairs = [one for one in findings.similarity if one.property == "accuracy"]
    if not pairs:
        return
    counts = Counter(one.verdict for one in pairs)
    if pairs[0].window is not None:
        yield corruptions.method_sentence(
            pairs=len(pairs), margin=pairs[0].margin, window_margin=pairs[0].band_margin, window=pairs[0].window
        )
    else:
        yield (
            f"Two corruptions count as equivalent for people with areas within {pairs[0].margin:g} and curves within "
            f"{pairs[0].band_margin:g} everywhere (90 % intervals), and as different by Holm's correction over all "
            "pairs at level 0.05."
        )
    yield (
        f"Of {counted(len(pairs), 'pair')} of corruptions {counts['equivalent']} count as equivalent, "
        f"{counts['different']} as different, and {counts['undecided']} as undecided."
    )


def discrimination_sentences(findings: Findings) -> Iterable[str]:
    """Which pairs of corruptions people tell apart."""
    entries = findings.discrimination
    if not entries:
        return
    yield (
        f"In {sum(one.trials for one in entries):,} trials people had to tell two corruptions apart "
        f"({listed(dict.fromkeys(FORMS[one.form] for one in entries))}; pictures of a trial matched in visual change; "
        "guessing gives 0.5). Different: d′ above 0, Holm's correction over all pairs. Answers of one person, and to "
        "the same pictures, are clusters."
    )
    for form in dict.fromkeys(one.form for one in entries):
        one = next(entry for entry in entries if entry.form == form)
        yield rule_sentence(form=form, margin=one.margin, d_prime_margin=one.margin_d_prime, model=one.observer_model)
    if any(one.published for one in entries):
        yield AS_PUBLISHED
    for one in entries:
        published = f"; {one.published.said}" if one.published else ""
        yield (
            f"{words(one.pair[0])} and {words(one.pair[1])}: {one.correct} of {one.trials} right, "
            f"{with_interval(one.accuracy, one.interval)}; {d_prime_words(one.d_prime, one.d_prime_upper)}; {one.said}"
            f"{published}."
        )


def recruiter_sentences(findings: Findings) -> Iterable[str]:
    """Who was pooled by which weights, and how the crowds of several recruiters stand beside each other."""
    found = findings.recruiters
    if found is None:
        return
    sizes = listed(f"{one.recruiter} {counted(one.people, 'person', 'people')}" for one in found.crowds)
    yield f"People came through {counted(len(found.crowds), 'recruiter')}: {sizes}."
    yield from found.notes
    if found.pairs:
        yield recruiters.method_sentence(pairs=len(found.pairs), margin=found.pairs[0].margin)
    for pair in found.pairs:
        low, high = pair.interval
        yield (
            f"{' and '.join(pair.pair)}: {pair.statement} (difference {pair.difference:+.3f}, 90 % interval {low:+.3f} "
            f"to {high:+.3f})."
        )
    # Of many corruptions the one that repeats could move most.
    for share in dict.fromkeys(one.share for one in found.repeats):
        yield max((one for one in found.repeats if one.share == share), key=lambda one: one.shift).statement


def validation_sentences(findings: Findings) -> Iterable[str]:
    """What people agree on, where pictures are judged."""
    if findings.validation is None:
        return
    overall = findings.validation.overall
    if overall.agreement is not None and overall.accepted_share is not None:
        yield (
            f"{counted(len(findings.validation.images), 'picture')} were judged in {overall.answers:,} answers of "
            f"qualified people; the agreement on both questions was {overall.agreement:.3f}. More than "
            f"{overall.threshold:g} of the answers saying yes to both accepted a picture: "
            f"{100 * overall.accepted_share:.1f} % were."
        )
        if overall.agreement_by_guessing is not None:
            like = "; the agreement found is no more than guessing may give" if overall.is_like_guessing else ""
            yield f"People who guess would agree in {overall.agreement_by_guessing:.3f} of the answers{like}."


def agreement_sentences(findings: Findings) -> Iterable[str]:
    """Error consistency of people, and of classifiers with people."""
    for row in findings.agreement:
        if row.pooled is None:
            continue
        who = "two people" if row.kind == "humans" else f"{quoted(row.observer)} and people"
        pictures = counted(row.pooled.pictures, "picture")
        if not row.pooled.is_stratified:
            yield (
                f"Error consistency of {who}: kappa, which includes shared difficulty, {row.pooled.kappa:.3f} on "
                f"{pictures}; no condition holds enough common pictures for more."
            )
            continue
        left = f" ({row.pooled.left_out:,} in conditions with too few left out)" if row.pooled.left_out else ""
        places = "" if row.ranks is None else f"; place {rank_words(row.ranks.best, row.ranks.worst)} by it"
        kappa = with_interval(row.pooled.kappa, row.interval)
        yield f"Error consistency of {who}: kappa {kappa} on {pictures}{left}{places}."
    if findings.consistency_differences:
        differ = sum(one.differ for one in findings.consistency_differences)
        yield differences_note(len(findings.consistency_differences), differ, len(findings.consistency_differences))
    for soft in findings.soft_agreement:
        who = "the rest of people" if soft.kind == "humans" else quoted(soft.observer)
        said = f": {soft_words(*soft.beyond_interval)}" if soft.beyond_interval else ""
        yield (
            f"People's answers to {counted(soft.pictures, 'picture')} are predicted by {who} at "
            f"{with_interval(soft.cross_entropy, soft.interval)} bits an answer (guessing: {soft.guessing:.3f}){said}."
        )


def sensitivity_sentences(findings: Findings) -> Iterable[str]:
    """How far people's areas move under other choices."""
    entries = findings.sensitivity
    if len(entries) < 2:
        return
    reported = {_key(one): one.area for one in entries[0].curves}
    moves = []
    for entry in entries[1:]:
        changes = [abs(one.area - reported[_key(one)]) for one in entry.curves if _key(one) in reported]
        if changes:
            moves.append(f"{entry.choice} {max(changes):.3f}")
    if moves:
        yield f"Under other choices people's areas move by at most: {listed(moves)}."


def _key(curve: ChoiceCurve) -> tuple[str, str]:
    return curve.corruption, curve.property
