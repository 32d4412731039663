"""The methods of a study in words, with every number, from its configuration and its findings alone.

What is not known is left out; nothing is said that the two do not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from analysis.reporting.plan import FrozenPlan, deviations

Entry = Mapping[str, Any]
_HUMANS = "humans"
#: More curves or comparisons than this are told by their means and ends.
MOST_CURVES, MOST_COMPARISONS = 6, 12


@dataclass(frozen=True)
class Paragraph:
    """A paragraph with its heading."""

    title: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return asdict(self)


def methods_paragraphs(
    findings: Entry, snapshot: Entry | None = None, plan: FrozenPlan | None = None
) -> list[Paragraph]:
    """Describe what was shown, to whom, and how the numbers were computed.

    Parameters
    ----------
    findings : mapping
        Result of `analysis.findings.analyse`.
    snapshot : mapping, optional
        The study: ``configuration`` (with ``protocol`` and ``design``) and ``rules``.
    plan : FrozenPlan, optional
        The plan frozen before the first response.

    Returns
    -------
    list of Paragraph
        Plain English; paragraphs of which nothing is known are left out.
    """
    study = dict(snapshot or {})
    configuration = study.get("configuration") or {}
    parts = (
        ("Stimuli", _stimuli(findings)),
        ("Procedure", _procedure(configuration.get("protocol") or {})),
        ("Participants", _participants(findings, study.get("rules") or {})),
        ("Models", _models(findings)),
        ("Curves", _curves(findings)),
        ("Comparisons", _comparisons(findings)),
        ("Similarity of corruptions", _similarity(findings)),
        ("Agreement", _agreement(findings)),
        ("Sensitivity", _sensitivity(findings)),
        ("Plan and data", _plan(findings, snapshot, plan)),
    )
    return [
        Paragraph(title, " ".join(text)) for title, sentences in parts if (text := [one for one in sentences if one])
    ]


def _stimuli(findings: Entry) -> Iterable[str]:
    reach = findings.get("reach") or []
    if reach:
        total = sum(one["n"] for one in reach)
        yield (
            f"{total:,} stimuli were made with {_counted(len(reach), 'corruption function')} "
            f"({_listed(one['corruption'] for one in reach)}) and measured by their visual change "
            "(1 - visual information fidelity, wavelet version) on the bytes that were shown."
        )
        shares = [one["covered"] / one["bins"] for one in reach]
        yield (
            f"At least 20 stimuli lie in {_range(shares, percent=True)} of {reach[0]['bins']} equal bins of visual "
            f"change; the median original reaches {_range([one['largest'] for one in reach])}."
        )
    conditions = [curve for curve in findings.get("curves", ()) if curve.get("abscissa") == "condition"]
    if conditions:
        yield "Areas are over the experiment's own condition, rescaled to [0, 1], not over visual change."


def _procedure(protocol: Entry) -> Iterable[str]:
    if not protocol:
        return
    shown = f"the picture ({protocol['size_px']} x {protocol['size_px']} px) for {protocol['stimulus_ms']} ms"
    if protocol["blank_frames"]:
        shown += f", {_counted(protocol['blank_frames'], 'blank frame')}"
    yield (
        f"Each trial (protocol {protocol['name']}) showed a fixation mark for {protocol['fixation_ms']} ms, {shown}, "
        f"and a noise mask for {protocol['mask_ms']} ms, on a grey of {protocol['background']:g} of full brightness."
    )
    click = {"first": "the first answer counted", "last": "the last answer counted"}[protocol["click_policy"]]
    yield f"One of 16 categories was chosen within {protocol['response_ms']} ms; {click}."


def _participants(findings: Entry, rules: Entry) -> Iterable[str]:
    flow = findings.get("flow")
    if flow:
        yield (
            f"Sessions opened: {flow['opened']:,}; finished: {flow['finished']:,}; submitted: {flow['submitted']:,}; "
            f"withdrawn: {flow['withdrawn']:,}; left unfinished: {flow['unfinished']:,}."
        )
        if flow["excluded"]:
            reasons = _listed(f"{one['n']} for {one['reason']}" for one in flow["excluded"])
            yield f"Excluded: {sum(one['n'] for one in flow['excluded']):,} ({reasons})."
        yield f"Sessions that count: {flow['accepted']:,}."
        by_hand = flow["accepted_by_hand"] + flow["excluded_by_hand"]
        if by_hand:
            yield f"In {_counted(by_hand, 'session')} a person decided otherwise than the rules."
    if rules.get("name"):
        gates = [rule["reason"] for rule in rules.get("rule", ()) if rule["severity"] == "gate"]
        yield (
            f"Sessions were judged by the rule set {rules['name']}, version {rules['version']}; it excludes for: "
            f"{_listed(gates)}. No rule reads whether answers to corrupted pictures were right."
        )
    humans = [one for one in findings.get("observers", ()) if one["kind"] == "human"]
    trials = findings.get("trials", {})
    if humans and trials:
        who = _counted(len(humans), "person", "people")
        yield f"The curves rest on {trials['in_accepted_sessions']:,} answers of {who}."
    missed = [
        curve["misses"] for curve in _human_curves(findings) if curve.get("misses") and curve["property"] == "accuracy"
    ]
    if missed:
        yield (
            f"{sum(one['n'] for one in missed):,} answers did not come in time; they count as wrong, and every "
            "headline number is also given without them."
        )


def _models(findings: Entry) -> Iterable[str]:
    networks = [one["name"] for one in findings.get("observers", ()) if one["kind"] == "classifier"]
    if not networks:
        return
    yield (
        f"{_counted(len(networks), 'model')} classified the same pictures, each seen whole and never cropped: "
        f"{_listed(networks)}."
    )
    spaces = {curve["label_space"] for curve in findings.get("curves", ()) if curve["population"] != _HUMANS}
    if spaces - {16}:
        yield f"Label spaces: {_listed(f'{space}-way' for space in sorted(spaces))}; only equal ones are compared."


def _curves(findings: Entry) -> Iterable[str]:
    curves = findings.get("curves", ())
    if not curves:
        return
    settings = findings.get("settings", {})
    yield (
        "Performance was fitted over visual change by a monotone penalised B-spline (degree 3, 20 segments, 40 bins, "
        "binomial likelihood, smoothness by Akaike's criterion), held at the left by clean trials."
    )
    schemes = sorted({curve["scheme"] for curve in curves if curve.get("scheme")})
    if settings.get("n_bootstrap") and schemes:
        yield (
            f"Intervals have level {settings['level']:g} and rest on {settings['n_bootstrap']:,} refits for each "
            f"resampled unit (bootstrap: {_listed(schemes)}; seed {settings['seed']})."
        )
    people = [curve for curve in _human_curves(findings) if curve["property"] == "accuracy"]
    if len(people) <= MOST_CURVES:
        yield from map(_area_sentence, people)
        return
    lowest, highest = _ends(people, "area")
    withheld = sum(bool(curve.get("withheld")) for curve in people)
    yield (
        f"People's areas under accuracy for {len(people)} corruptions lie between {lowest['area']:.3f} "
        f"({_words(lowest['corruption'])}) and {highest['area']:.3f} ({_words(highest['corruption'])}); {withheld} of "
        "them rest on extrapolation for more than 20 % of the axis, and are given for the measured range."
    )


def _area_sentence(curve: Entry) -> str:
    name = _words(curve["corruption"])
    number = _with_interval(curve["area"], curve.get("interval"))
    if not curve.get("withheld"):
        share = f"{100 * curve['extrapolated']:.1f} % of the axis extrapolated"
        return f"People's area under accuracy for {name}: {number}, {share}."
    measured = curve["measured"]
    low, high = measured["range"]
    return (
        f"For {name} {100 * curve['extrapolated']:.0f} % of the axis is extrapolated; people's mean accuracy between "
        f"{low:g} and {high:g} is {_with_interval(measured['mean'], measured['interval'])}."
    )


def _comparisons(findings: Entry) -> Iterable[str]:
    own = [one for one in findings.get("comparisons", ()) if one["property"] == "accuracy" and not one["borrowed"]]
    if own:
        yield (
            "Models are compared with people by HMRI, the share of the human area that a model reaches, and MRSI, the "
            "share of the model's area above people; intervals resample originals jointly."
        )
    if len(own) <= MOST_COMPARISONS:
        yield from map(_comparison_sentence, own)
    else:
        rows = [row for row in findings.get("leaderboard") or [] if row["property"] == "accuracy"]
        for row in rows:
            lowest, highest = _ends([one for one in own if one["classifier"] == row["classifier"]], "hmri")
            yield (
                f"{row['classifier']}, mean over {row['corruptions']} corruptions: HMRI "
                f"{_with_interval(row['hmri'], row['hmri_interval'])}, MRSI "
                f"{_with_interval(row['mrsi'], row['mrsi_interval'])}; HMRI from {lowest['hmri']:.3f} "
                f"({_words(lowest['corruption'])}) to {highest['hmri']:.3f} ({_words(highest['corruption'])})."
            )
        yield "Every pair of model and corruption stands in the table of comparisons."
    borrowed = [one for one in findings.get("comparisons", ()) if one["borrowed"]]
    if borrowed:
        pairs = dict.fromkeys((one["corruption"], one["human_curve"]) for one in borrowed)
        lent = _listed(f"{_words(one)} that of {_words(other)}" for one, other in pairs)
        yield f"Human curves were borrowed: for {lent}."


def _comparison_sentence(one: Entry) -> str:
    shown = one["common_range"] if one["withheld"] and one["common_range"] else one
    where = "" if shown is one else f" between {shown['range'][0]:g} and {shown['range'][1]:g}"
    return (
        f"{one['classifier']}, {_words(one['corruption'])}{where}: HMRI "
        f"{_with_interval(shown['hmri'], shown['hmri_interval'])}, MRSI "
        f"{_with_interval(shown['mrsi'], shown['mrsi_interval'])}."
    )


def _ends(entries: Sequence[Entry], name: str) -> tuple[Entry, Entry]:
    """Entries with the smallest and the largest value."""
    return min(entries, key=lambda one: float(one[name])), max(entries, key=lambda one: float(one[name]))


def _similarity(findings: Entry) -> Iterable[str]:
    pairs = [one for one in findings.get("similarity", ()) if one["property"] == "accuracy"]
    if not pairs:
        return
    counts = Counter(one["verdict"] for one in pairs)
    settings = findings.get("settings", {})
    yield (
        f"Of {_counted(len(pairs), 'pair')} of corruptions {counts['equivalent']} are equivalent for people (areas "
        f"within {settings.get('margin', 0.03):g} and curves within {settings.get('band_margin', 0.1):g} everywhere), "
        f"{counts['different']} are different (Holm's correction over all pairs, level 0.05), and "
        f"{counts['undecided']} are undecided."
    )


def _agreement(findings: Entry) -> Iterable[str]:
    for row in findings.get("agreement") or []:
        pooled = row.get("pooled")
        if pooled is None:
            continue
        who = "two people" if row["kind"] == "humans" else f"{row['observer']} and people"
        yield (
            f"Error consistency of {who}: kappa {_with_interval(pooled['kappa'], row['interval'])} on "
            f"{_counted(pooled['pictures'], 'picture')}."
        )


def _sensitivity(findings: Entry) -> Iterable[str]:
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
        yield f"Under other choices people's areas move by at most: {_listed(moves)}."


def _plan(findings: Entry, snapshot: Entry | None, plan: FrozenPlan | None) -> Iterable[str]:
    if plan is not None:
        found = deviations(plan, findings, snapshot=snapshot)
        yield f"The analysis plan was frozen with the digest {plan.digest}."
        if found:
            said = _listed(f"{one.what}: {one.planned} planned, {one.done} done" for one in found)
            yield f"{_counted(len(found), 'deviation')} from it: {said}."
        else:
            yield "Nothing deviates from it."
    if findings.get("version"):
        yield f"Computed with HumanExp {findings['version']}; sha256 of the data: {findings['data_digest']}."


def _human_curves(findings: Entry) -> list[Entry]:
    return [curve for curve in findings.get("curves", ()) if curve["population"] == _HUMANS]


def _key(curve: Entry) -> tuple[str, str]:
    return curve["corruption"], curve["property"]


def _with_interval(value: float, interval: Sequence[float] | None) -> str:
    return f"{value:.3f}" if interval is None else f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def _range(values: Sequence[float], *, percent: bool = False) -> str:
    low, high = (f"{100 * one:.0f} %" if percent else f"{one:.2f}" for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _counted(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(_words(part) for part in parts)


def _words(name: str) -> str:
    return name.replace("_", " ")
