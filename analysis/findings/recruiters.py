"""Several recruiters in one study: who came from where, their crowds beside each other, and what repeats could do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from analysis.arrays import BoolArray
from analysis.claims.recruiters import (
    IDENTITY_NOTE,
    NOT_ASKED_NOTE,
    REPEATS,
    UNWEIGHTED_NOTE,
    marked_sentence,
    repeats_sentence,
    too_few_sentence,
    verdict_words,
    weights_sentence,
)
from analysis.clusters import clustered
from analysis.differences.answers import AnswersToOne
from analysis.differences.beside import attentive_shares
from analysis.differences.recruiters import CrowdsBeside, Pair, compare_recruiters, people_in, repeated
from analysis.differences.windows import contrasts_of
from analysis.findings.fits import FitSettings, StudyCurves
from analysis.findings.model.entry import HUMANS, Interval
from analysis.findings.model.people import RecruiterCrowd, RecruiterFindings, RecruiterPair, RepeatsBound
from analysis.findings.observations import Observations
from analysis.findings.outcomes import clean_to_one
from analysis.recruiters import Recruiters
from analysis.wording import words

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Origins:
    """Where the people of a study came from.

    Parameters
    ----------
    trials : pandas.DataFrame
        Those of people who count in what is pooled.
    recruiters : Recruiters or None
        None where all came from one, or nobody knows.
    left_out : int
        Accepted sessions of recruiters without a weight, where others have one.
    marked : int
        Accepted sessions in browsers that had begun the study through another recruiter.
    """

    trials: pd.DataFrame
    recruiters: Recruiters | None
    left_out: int = 0
    marked: int = 0


def origins_of(trials: pd.DataFrame, sessions: pd.DataFrame | None, weights: Mapping[str, float]) -> Origins:
    """Tell people apart by recruiter; where the plan gives weights, those of other recruiters are left out.

    Parameters
    ----------
    trials, sessions : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS` and `analysis.tables.sessions.SESSIONS`.
    weights : mapping of recruiter to float
        Empty where the plan fixes none.
    """
    if sessions is None or "recruiter" not in sessions:
        return Origins(trials, None)
    known = sessions.dropna(subset=["participant", "recruiter"])
    # Who came back through another recruiter under the same code is a person of the first.
    came_from = dict(zip(known["participant"].astype(str)[::-1], known["recruiter"].astype(str)[::-1], strict=True))
    people = trials["participant"].astype(str)
    left_out = 0
    if weights:
        is_weighted = people.map(came_from).isin(list(weights)).to_numpy(dtype=bool)
        dropped = trials.loc[~is_weighted]
        left_out = int(dropped.loc[dropped["accepted"].astype("boolean").fillna(False), "session"].nunique())
        trials, people = trials.loc[is_weighted], people.loc[is_weighted]
    present = {person: came_from[person] for person in set(people.tolist()) if person in came_from}
    if len(set(present.values())) < 2 or len(present) < people.nunique():
        return Origins(trials, None, left_out)
    return Origins(trials, Recruiters.of(present, weights), left_out, _marked(sessions))


def _marked(sessions: pd.DataFrame) -> int:
    if "seen_before" not in sessions:
        return 0
    marked, accepted = (sessions[name].astype("boolean").fillna(False) for name in ("seen_before", "accepted"))
    return int((marked & accepted).sum())


def recruiter_entries(
    study: StudyCurves, people: Observations, settings: FitSettings, *, origins: Origins
) -> dict[str, RecruiterFindings]:
    """Crowds, their comparison, and bounds on repeats, as ``recruiters``; empty where people came from one recruiter.

    Parameters
    ----------
    study : StudyCurves
    people : Observations
        Their answers that count, clean ones among them.
    settings : FitSettings
    origins : Origins
    """
    recruiters = settings.recruiters
    if recruiters is None:
        return {}
    present = np.unique(recruiters.codes_of(np.unique(people.observer))).tolist()
    names = [recruiters.names[code] for code in present]
    if len(names) < 2:
        return {}
    pooled = {
        key.corruption: curve.answers
        for key, curve in study.curves.items()
        if key.population == HUMANS and key.property == "accuracy"
    }
    scales = frozenset(study.scales)
    answers = {name: _answers_of(pooled, recruiters, name) for name in names}
    attentive = {
        name: _attentive(
            answers[name], people.select(recruiters.are_of(people.observer, name)).clean, scales, study.n_labels
        )
        for name in names
    }
    found = compare_recruiters(
        answers, attentive=attentive, conditions=scales, margin=settings.margin, seed=settings.seed
    )
    weights = _shares(recruiters, present)
    told = RecruiterFindings(
        crowds=tuple(
            _crowd(name, answers[name], people, recruiters, settings, weights, attentive[name], scales)
            for name in names
        ),
        pairs=tuple(_pair(pair, one) for pair, one in found.items()),
        repeats=tuple(_repeats(pooled, settings.level)),
        left_out=origins.left_out,
        notes=(
            *_notes(weights, origins.left_out, origins.marked, missing=sorted(set(recruiters.names) - set(names))),
            *(too_few_sentence(pair) for pair in combinations(names, 2) if pair not in found),
        ),
    )
    return {"recruiters": told}


def _answers_of(pooled: Mapping[str, AnswersToOne], recruiters: Recruiters, name: str) -> dict[str, AnswersToOne]:
    """Answers of this recruiter's people to every corruption that they answered."""
    found = {}
    for corruption, own in pooled.items():
        if own.people is None:
            continue
        rows: BoolArray = recruiters.are_of(own.people.names, name)[own.people.codes]
        if rows.any():
            found[corruption] = own.select(rows)
    return found


def _attentive(
    answers: Mapping[str, AnswersToOne], clean: Observations, scales: frozenset[str], n_labels: int
) -> float:
    """Of all corruptions the least."""
    shown = clean_to_one(clean, n_labels)
    return min(attentive_shares(answers, shown, scales, choices=n_labels).values(), default=0.0)


def _shares(recruiters: Recruiters, present: list[int]) -> dict[str, float] | None:
    """What each recruiter's people make of the whole."""
    if recruiters.weights is None:
        return None
    total = float(recruiters.weights[present].sum())
    return {recruiters.names[code]: float(recruiters.weights[code]) / total for code in present}


def _notes(weights: dict[str, float] | None, left_out: int, marked: int, *, missing: list[str]) -> tuple[str, ...]:
    notes = [UNWEIGHTED_NOTE, NOT_ASKED_NOTE] if weights is None else [weights_sentence(weights), IDENTITY_NOTE]
    if marked:
        notes.append(marked_sentence(marked))
    if missing:
        notes.append(f"Nobody who came from {', '.join(missing)} counts yet: the others share its weight.")
    if left_out:
        notes.append(f"Sessions of recruiters to which the plan gives no weight are in no estimate: {left_out:,}.")
    return tuple(notes)


def _crowd(
    name: str,
    answers: Mapping[str, AnswersToOne],
    people: Observations,
    recruiters: Recruiters,
    settings: FitSettings,
    weights: dict[str, float] | None,
    attentive: float,
    scales: frozenset[str],
) -> RecruiterCrowd:
    means = {
        corruption: one
        for corruption, own in answers.items()
        if (one := _mean(own, settings.level, has_conditions=corruption in scales)) is not None
    }
    theirs = people.select(recruiters.are_of(people.observer, name))
    return RecruiterCrowd(
        recruiter=name,
        people=people_in(answers),
        sessions=len(np.unique(theirs.session)),
        answers=sum(len(own) for own in answers.values()),
        weight=None if weights is None else weights[name],
        attentive=attentive,
        areas={corruption: mean for corruption, (mean, _) in means.items()},
        intervals={corruption: interval for corruption, (_, interval) in means.items()},
    )


def _mean(answers: AnswersToOne, level: float, *, has_conditions: bool) -> tuple[float, Interval] | None:
    """Mean over everything measured, with its interval."""
    contrasts = contrasts_of(answers, answers, has_conditions=has_conditions)
    if contrasts is None:
        return None
    cells, row = contrasts.cells_of(answers), contrasts.matrix[:1]
    sums = [one.sums @ row.T for one in (cells.people, cells.originals) if one is not None]
    mean = float((row @ np.nan_to_num(cells.means))[0])
    reach = float(clustered(sums, row**2 @ cells.singles).reach(level)[0])
    return mean, (max(mean - reach, 0.0), min(mean + reach, 1.0))


def _pair(pair: Pair, found: CrowdsBeside) -> RecruiterPair:
    return RecruiterPair.of(
        found,
        pair=pair,
        statement=verdict_words(
            found.word,
            differs=found.is_different,
            names=pair,
            difference=found.difference,
            gaps=found.has_gaps,
            careless=found.is_within and not found.is_alike,
            times_to_match=found.times_to_match,
            times_to_differ=found.times_to_differ,
            too_few=found.too_few,
        ),
        p_adjusted=found.p,
        alike=found.is_alike,
        different=found.is_different,
    )


def _repeats(pooled: Mapping[str, AnswersToOne], level: float) -> list[RepeatsBound]:
    entries = []
    for corruption, own in pooled.items():
        for share in REPEATS:
            found = repeated(own, share, level=level)
            if found is None:
                continue
            told = repeats_sentence(
                share=share,
                people=found.people,
                corruption=words(corruption),
                shift=found.shift,
                width=found.width,
                at_most=found.width_at_most,
            )
            entries.append(RepeatsBound.of(found, corruption=corruption, share=share, statement=told))
    return entries
