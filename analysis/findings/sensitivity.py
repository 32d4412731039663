"""The flow of inclusions, and every headline number under other choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.arrays import BoolArray
from analysis.curves.curve import CurveFit
from analysis.errors import LabelSpaceMismatch
from analysis.findings.fits import CurveKey, FitSettings, StudyCurves, quiet_fit
from analysis.findings.model.checks import (
    Choice,
    ChoiceComparison,
    ChoiceCurve,
    ChoiceKind,
    ChoiceVerdict,
)
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.people import Exclusion, Flow
from analysis.findings.observations import Observations, joined
from analysis.findings.outcomes import human_outcomes
from analysis.findings.verdicts import verdicts_of
from analysis.labels.space import NO_ANSWER
from analysis.metrics import compare
from analysis.tables.sessions import REASON_SEPARATOR

if TYPE_CHECKING:
    import pandas as pd


#: Reason of a session that a person excluded without a failed gate.
BY_HAND = "excluded by hand"


def inclusion_flow(sessions: pd.DataFrame) -> Flow:
    """Count sessions at each step.

    Parameters
    ----------
    sessions : pandas.DataFrame
        Columns of `analysis.tables.sessions.SESSIONS`.
    """
    reasons: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    verified = sessions["verified"] if "verified" in sessions else sessions["state"].notna()
    practised = sessions["practised"] if "practised" in sessions else sessions["state"].notna()
    left = sessions["left"] if "left" in sessions else sessions["state"].isna()
    windows = sessions["answer_window_ms"].notna() if "answer_window_ms" in sessions else sessions["state"].isna()
    for state, is_verified, is_practised, has_left, has_window, accepted, told, by_hand in zip(
        sessions["state"].astype(str).tolist(),
        verified.astype("boolean").fillna(True).tolist(),
        practised.astype("boolean").fillna(True).tolist(),
        left.astype("boolean").fillna(False).tolist(),
        windows.tolist(),
        sessions["accepted"].astype("boolean").tolist(),
        sessions["reasons"].astype("string").fillna("").tolist(),
        sessions["by_hand"].astype("boolean").fillna(False).tolist(),
        strict=True,
    ):
        if state in ("completed", "submitted") and not is_verified:
            counts["unverified"] += 1
            continue
        if state in ("completed", "submitted") and not is_practised:
            counts["practice not passed"] += 1
            continue
        counts[state] += 1
        if state not in ("completed", "submitted"):
            counts["left"] += state == "open" and has_left
            continue
        if accepted is not True and accepted is not False:
            counts["unjudged"] += 1
            continue
        counts["longer window"] += has_window
        if accepted:
            counts["accepted"] += 1
            counts["accepted by hand"] += by_hand
        else:
            reasons[told.split(REASON_SEPARATOR)[0] or BY_HAND] += 1
            counts["excluded by hand"] += by_hand
    finished = counts["completed"] + counts["submitted"]
    return Flow(
        opened=len(sessions),
        finished=finished,
        submitted=counts["submitted"],
        withdrawn=counts["withdrawn"],
        unfinished=counts["open"],
        unjudged=counts["unjudged"],
        accepted=counts["accepted"],
        excluded=tuple(
            Exclusion(reason=reason, n=n) for reason, n in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        ),
        accepted_by_hand=counts["accepted by hand"],
        excluded_by_hand=counts["excluded by hand"],
        not_submitted=counts["completed"],
        unverified=counts["unverified"],
        practice_not_passed=counts["practice not passed"],
        left=counts["left"],
        longer_window=counts["longer window"],
    )


@dataclass(frozen=True, eq=False)
class TrialChoice:
    """One way to choose people's trials.

    Parameters
    ----------
    name : str
        As it is shown.
    kind : {"headline", "screening", "timing", "misses", "set aside"}
    rows : ndarray of bool
        Chosen answers, of all sessions.
    """

    name: str
    kind: ChoiceKind
    rows: BoolArray


def sensitivity_entries(
    study: StudyCurves,
    everyone: Observations,
    accepted: BoolArray,
    sessions: pd.DataFrame | None,
    settings: FitSettings,
    set_aside: Observations | None = None,
) -> list[Choice]:
    """Areas of people's curves, and HMRI and MRSI of every classifier, under each choice.

    Parameters
    ----------
    study : StudyCurves
        The curves as reported.
    everyone : Observations
        People's answers from all sessions.
    accepted : ndarray of bool
        Which of them are in accepted sessions.
    sessions : pandas.DataFrame or None
        Columns of `analysis.tables.sessions.SESSIONS`: reasons and flags of every session.
    settings : FitSettings
        With refits every classifier is also judged under each choice.
    set_aside : Observations, optional
        Trials of accepted sessions that were set aside, as missed answers; they are in ``everyone`` under no other
        choice than the one that counts them.

    Returns
    -------
    list of TrialChoice
        ``choice``, ``kind``, ``sessions`` (None without a table of them), ``answers``, ``curves``, ``comparisons`` and
        ``verdicts``; the first is the choice as reported. Choices that choose the same answers as the first are left
        out.

    Notes
    -----
    People's curves are fitted again without bands; classifiers' curves stay as reported.
    """
    if not any(key.population == HUMANS for key in study.curves):
        return []
    own = choices(everyone, accepted, sessions)
    if set_aside is not None and len(set_aside):
        everyone, own = _with_set_aside(everyone, set_aside, own)
    reported, others = own[0], own[1:]
    told = [reported]
    told += [one for one in others if not np.array_equal(one.rows, reported.rows) and one.rows.any()]
    entries = [_entry(study, everyone, one, None if one is reported else reported, settings) for one in told]
    if not settings.n_bootstrap:
        return entries
    return [
        entry.model_copy(update={"verdicts": verdicts_under(study, everyone.select(one.rows), settings)})
        for entry, one in zip(entries, told, strict=True)
    ]


def choices(everyone: Observations, accepted: BoolArray, sessions: pd.DataFrame | None) -> list[TrialChoice]:
    """Choices of trials: as reported, then one thing changed at a time."""
    found = [
        TrialChoice("as reported", "headline", accepted),
        TrialChoice("all sessions", "screening", np.ones(len(everyone), dtype=np.bool_)),
    ]
    if sessions is not None:
        reasons, flags = _told(sessions, "reasons"), _told(sessions, "flags")
        for reason in sorted({one for own in reasons.values() for one in own}):
            # A session that another rule excludes as well stays excluded.
            spared = {code for code, own in reasons.items() if own == {reason}}
            rows = accepted | np.isin(everyone.session, sorted(spared))
            found.append(TrialChoice(f"without the rule: {reason}", "screening", rows))
        every = sorted({one for own in flags.values() for one in own})
        if len(every) > 1:
            rows = accepted & ~np.isin(everyone.session, sorted(flags))
            found.append(TrialChoice("strictest: no session with any flag", "screening", rows))
        for flag in every:
            flagged = {code for code, own in flags.items() if flag in own}
            rows = accepted & ~np.isin(everyone.session, sorted(flagged))
            found.append(TrialChoice(f"flagged sessions left out: {flag}", "screening", rows))
    if np.isfinite(everyone.timing_ok).any():
        found.append(TrialChoice("timing in order only", "timing", accepted & (everyone.timing_ok == 1.0)))
    found.append(TrialChoice("misses dropped", "misses", accepted & (everyone.response != NO_ANSWER)))
    return found


def _with_set_aside(
    everyone: Observations, set_aside: Observations, own: list[TrialChoice]
) -> tuple[Observations, list[TrialChoice]]:
    """One more choice, which counts trials that were set aside as misses; every other one leaves them out."""
    none, all_of_them = np.zeros(len(set_aside), dtype=np.bool_), np.ones(len(set_aside), dtype=np.bool_)
    padded = [replace(one, rows=np.concatenate([one.rows, none])) for one in own]
    reported = own[0].rows
    counted = TrialChoice("set-aside trials as misses", "set aside", np.concatenate([reported, all_of_them]))
    return joined([everyone, set_aside]), [*padded, counted]


def _told(sessions: pd.DataFrame, column: str) -> dict[str, set[str]]:
    """Reasons or flags of every session that has any."""
    texts = sessions[column].astype("string").fillna("").tolist()
    told = {
        code: {one for one in text.split(REASON_SEPARATOR) if one}
        for code, text in zip(sessions["session"].astype(str).tolist(), texts, strict=True)
    }
    return {code: own for code, own in told.items() if own}


def _entry(
    study: StudyCurves, everyone: Observations, choice: TrialChoice, reported: TrialChoice | None, settings: FitSettings
) -> Choice:
    chosen = everyone.select(choice.rows)
    fits: dict[CurveKey, CurveFit] = {}
    for key, curve in study.curves.items():
        if key.population != HUMANS:
            continue
        if reported is None or _same_answers(everyone, choice.rows, reported.rows, key.corruption):
            fits[key] = curve.fit
            continue
        outcomes = human_outcomes(chosen, key.corruption, key.property, study.scales.get(key.corruption))
        fit = quiet_fit(outcomes, settings)
        if fit is not None:
            fits[key] = fit
    return Choice(
        choice=choice.name,
        kind=choice.kind,
        sessions=len(np.unique(chosen.session)) if (everyone.session != "").any() else None,
        answers=len(chosen),
        curves=tuple(ChoiceCurve.of(fit, **asdict(key), n=fit.n_trials) for key, fit in fits.items()),
        comparisons=tuple(_comparisons(study, fits)),
    )


def verdicts_under(study: StudyCurves, people: Observations, settings: FitSettings) -> tuple[ChoiceVerdict, ...]:
    """What is said of every classifier beside these answers of people."""
    study = study.judged
    curves = dict(study.curves)
    for key, curve in study.curves.items():
        if key.population != HUMANS or key.property != "accuracy":
            continue
        outcomes = human_outcomes(people, key.corruption, "accuracy", study.scales.get(key.corruption))
        if outcomes is None:
            del curves[key]
        else:
            curves[key] = replace(
                curve,
                outcomes=outcomes,
                answers=outcomes.to_one(
                    settings.equal_categories, settings.recruiters, n_labels=curve.fit.config.label_space
                ),
            )
    chosen = StudyCurves(curves, scales=study.scales, n_labels=study.n_labels)
    verdicts = verdicts_of(chosen, people, settings)
    told = []
    for classifier in verdicts.found:
        one = verdicts.on_all(classifier)
        if one is not None:
            told.append(ChoiceVerdict.of(one, classifier=classifier))
    return tuple(told)


def _same_answers(everyone: Observations, chosen: BoolArray, reported: BoolArray, corruption: str) -> bool:
    """Whether the curve of a corruption rests on the same answers; clean ones hold every curve."""
    concerned = (everyone.corruption == corruption) | ((everyone.corruption == "none") & ~everyone.imported)
    return bool(np.array_equal(chosen[concerned], reported[concerned]))


def _comparisons(study: StudyCurves, fits: dict[CurveKey, CurveFit]) -> Iterator[ChoiceComparison]:
    for key, curve in study.curves.items():
        human = fits.get(CurveKey(HUMANS, key.corruption, key.property))
        if key.population == HUMANS or human is None:
            continue
        try:
            found = compare(replace(human, bootstrap=None), replace(curve.fit, bootstrap=None))
        except LabelSpaceMismatch:
            continue
        yield ChoiceComparison.of(found, classifier=key.population, corruption=key.corruption, property=key.property)
