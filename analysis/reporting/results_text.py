"""What was found, in sentences with every number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analysis.reporting.wording import counted, joined, listed, quoted, with_interval, words

Entry = Mapping[str, Any]
HUMANS = "humans"
#: What a bootstrap of this scheme resamples.
_SCHEMES = {
    "two-way": "people and originals (two-way clusters)",
    "image": "originals",
    "participant": "people",
    "naive": "single answers",
}
#: More curves or comparisons than this are told by their means and ends.
MOST_CURVES, MOST_COMPARISONS = 6, 12


def curve_sentences(findings: Entry) -> Iterable[str]:
    """How curves were fitted, and people's areas."""
    curves = findings.get("curves", ())
    if not curves:
        return
    settings = findings.get("settings", {})
    yield (
        f"Performance was fitted over {_abscissae(curves)} by a monotone penalised B-spline (degree 3, 20 segments, 40 "
        f"bins, binomial likelihood, smoothness by Akaike's criterion){_held_by(human_curves(findings))}."
    )
    schemes = [
        f"{joined(drawn)} for {whose}"
        for whose, are_human in (("people's curves", True), ("models'", False))
        if (drawn := _resampled(curve for curve in curves if (curve["population"] == HUMANS) == are_human))
    ]
    if settings.get("n_bootstrap") and schemes:
        yield (
            f"Intervals have level {settings['level']:g} and come from a bootstrap with {settings['n_bootstrap']:,} "
            f"refits for each resampled unit: {joined(schemes)} (seed {settings['seed']})."
        )
    if any(curve["property"] == "consistency" for curve in human_curves(findings)):
        yield (
            "Consistency of people is the agreement of an answer with another person's answer to the clean original, "
            "since nobody saw an original twice; that of models, with their own answer to it."
        )
    people = [curve for curve in human_curves(findings) if curve["property"] == "accuracy"]
    if len(people) <= MOST_CURVES:
        yield from map(_area_sentence, people)
        return
    lowest, highest = _ends(people, "area")
    withheld = sum(bool(curve.get("withheld")) for curve in people)
    yield (
        f"People's areas under accuracy for {len(people)} corruptions lie between {lowest['area']:.3f} "
        f"({words(lowest['corruption'])}) and {highest['area']:.3f} ({words(highest['corruption'])}); {withheld} of "
        "them rest on extrapolation for more than 20 % of the axis, and are given for the measured range."
    )


def _abscissae(curves: Sequence[Entry]) -> str:
    """What the curves stand over."""
    kinds = {curve.get("abscissa") == "condition" for curve in curves}
    return joined(
        [name for flag, name in ((False, "visual change"), (True, "the experiment's condition")) if flag in kinds]
    )


def _resampled(curves: Iterable[Entry]) -> list[str]:
    """What the bands of these curves resample."""
    return sorted({_SCHEMES[curve["scheme"]] for curve in curves if curve.get("scheme") in _SCHEMES})


def _held_by(curves: Sequence[Entry]) -> str:
    """The clean answers at the left end of people's curves."""
    accuracies = (curve.get("anchor") or {} for curve in curves if curve["property"] == "accuracy")
    numbers = [anchor["n"] for anchor in accuracies if anchor.get("n")]
    return f", held at the left by {max(numbers):,} answers to clean pictures" if numbers else ""


def _area_sentence(curve: Entry) -> str:
    name = words(curve["corruption"])
    number = with_interval(curve["area"], curve.get("interval"))
    if not curve.get("withheld"):
        share = f"{100 * curve['extrapolated']:.1f} % of the axis extrapolated"
        return f"People's area under accuracy for {name}: {number}, {share}."
    measured = curve["measured"]
    low, high = measured["range"]
    return (
        f"For {name} {100 * curve['extrapolated']:.0f} % of the axis is extrapolated; people's mean accuracy between "
        f"{low:g} and {high:g} is {with_interval(measured['mean'], measured['interval'])}."
    )


def comparison_sentences(findings: Entry) -> Iterable[str]:
    """HMRI and MRSI of every classifier."""
    own = [one for one in findings.get("comparisons", ()) if one["property"] == "accuracy" and not one["borrowed"]]
    if own:
        yield (
            "Models are compared with people by HMRI, the share of the human area that a model reaches, and MRSI, the "
            "share of the model's area above people; intervals draw the same originals for both where both saw them."
        )
    if len(own) <= MOST_COMPARISONS:
        yield from map(_comparison_sentence, own)
    else:
        rows = [row for row in findings.get("leaderboard") or [] if row["property"] == "accuracy"]
        for row in rows:
            lowest, highest = _ends([one for one in own if one["classifier"] == row["classifier"]], "hmri")
            yield (
                f"{quoted(row['classifier'])}, mean over {row['corruptions']} corruptions: HMRI "
                f"{with_interval(row['hmri'], row['hmri_interval'])}, MRSI "
                f"{with_interval(row['mrsi'], row['mrsi_interval'])}; HMRI from {lowest['hmri']:.3f} "
                f"({words(lowest['corruption'])}) to {highest['hmri']:.3f} ({words(highest['corruption'])})."
            )
        yield "Every pair of model and corruption stands in the table of comparisons."
    borrowed = [one for one in findings.get("comparisons", ()) if one["borrowed"]]
    if borrowed:
        pairs = dict.fromkeys((one["corruption"], one["human_curve"]) for one in borrowed)
        lent = listed(f"{words(one)} that of {words(other)}" for one, other in pairs)
        yield f"Human curves were borrowed: for {lent}."


def _comparison_sentence(one: Entry) -> str:
    shown = one["common_range"] if one["withheld"] and one["common_range"] else one
    where = "" if shown is one else f" between {shown['range'][0]:g} and {shown['range'][1]:g}"
    return (
        f"{quoted(one['classifier'])}, {words(one['corruption'])}{where}: HMRI "
        f"{with_interval(shown['hmri'], shown['hmri_interval'])}, MRSI "
        f"{with_interval(shown['mrsi'], shown['mrsi_interval'])}."
    )


def _ends(entries: Sequence[Entry], name: str) -> tuple[Entry, Entry]:
    """Entries with the smallest and the largest value."""
    return min(entries, key=lambda one: float(one[name])), max(entries, key=lambda one: float(one[name]))


def similarity_sentences(findings: Entry) -> Iterable[str]:
    """How many pairs of corruptions are equivalent, different, undecided."""
    pairs = [one for one in findings.get("similarity", ()) if one["property"] == "accuracy"]
    if not pairs:
        return
    counts = Counter(one["verdict"] for one in pairs)
    settings = findings.get("settings", {})
    yield (
        f"Of {counted(len(pairs), 'pair')} of corruptions {counts['equivalent']} count as equivalent for people (areas "
        f"within {settings.get('margin', 0.03):g} and curves within {settings.get('band_margin', 0.1):g} everywhere, "
        f"by 90 % intervals), {counts['different']} as different (Holm's correction over all pairs, level 0.05), and "
        f"{counts['undecided']} as undecided."
    )


def discrimination_sentences(findings: Entry) -> Iterable[str]:
    """Which pairs of corruptions people tell apart."""
    entries = findings.get("discrimination") or []
    if not entries:
        return
    yield (
        f"In {sum(one['trials'] for one in entries):,} trials people had to tell two corruptions apart "
        f"({listed(dict.fromkeys(one['form'] for one in entries))}; pictures of a trial matched in visual change; "
        "guessing gives 0.5). Exact binomial tests against guessing, Holm's correction over all pairs; equivalent: the "
        f"one-sided 95 % bound lies below {0.5 + entries[0]['margin']:g}; trials of one person count at what they are "
        "worth."
    )
    for one in entries:
        yield (
            f"{words(one['pair'][0])} and {words(one['pair'][1])}: {one['correct']} of {one['trials']} right, "
            f"{with_interval(one['accuracy'], one['interval'])}, {one['verdict']}."
        )


def validation_sentences(findings: Entry) -> Iterable[str]:
    """What people agree on, where pictures are judged."""
    found = findings.get("validation") or {}
    overall = found.get("overall")
    if overall and overall.get("agreement") is not None:
        yield (
            f"{counted(len(found['images']), 'picture')} were judged in {overall['answers']:,} answers of qualified "
            f"people; the agreement on both questions was {overall['agreement']:.3f}. More than "
            f"{overall['threshold']:g} of the answers saying yes to both accepted a picture: "
            f"{100 * overall['accepted_share']:.1f} % were."
        )


def agreement_sentences(findings: Entry) -> Iterable[str]:
    """Error consistency of people, and of classifiers with people."""
    for row in findings.get("agreement") or []:
        pooled = row.get("pooled")
        if pooled is None:
            continue
        who = "two people" if row["kind"] == "humans" else f"{quoted(row['observer'])} and people"
        yield (
            f"Error consistency of {who}: kappa {with_interval(pooled['kappa'], row['interval'])} on "
            f"{counted(pooled['pictures'], 'picture')}."
        )


def sensitivity_sentences(findings: Entry) -> Iterable[str]:
    """How far people's areas move under other choices."""
    entries = findings.get("sensitivity") or []
    if len(entries) < 2:
        return
    reported = {_key(one): one["area"] for one in entries[0]["curves"]}
    moves = []
    for entry in entries[1:]:
        changes = [abs(one["area"] - reported[_key(one)]) for one in entry["curves"] if _key(one) in reported]
        if changes:
            moves.append(f"{entry['choice']} {max(changes):.3f}")
    if moves:
        yield f"Under other choices people's areas move by at most: {listed(moves)}."


def human_curves(findings: Entry) -> list[Entry]:
    """People's curves, in the order of the findings."""
    return [curve for curve in findings.get("curves", ()) if curve["population"] == HUMANS]


def _key(curve: Entry) -> tuple[str, str]:
    return curve["corruption"], curve["property"]
