"""The findings of a large study, made by formula: 14 corruptions, people and ten classifiers, two properties.

The same shape as `analysis.findings.analysing.analyse` gives, without the minutes that it takes.
"""

from __future__ import annotations

import itertools
import json
import secrets
from functools import cache
from typing import Any

import numpy as np

from analysis.corruptions import CORRUPTIONS
from analysis.labels.files import default_labels
from analysis.study.rules import load_rule_set
from analysis.study.study import StudyConfiguration
from humanexp.core import clock
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.participation.models import Participant, Session, SessionState
from humanexp.results.models import AnalysisRun
from humanexp.screening.models import Verdict
from humanexp.studies.models import Study, StudyFamily, StudyState

NAMES = tuple(CORRUPTIONS)[:14]
MODELS = (
    "resnet50", "vit_base", "alexnet", "vgg16", "convnext_tiny", "deit_small", "swin_tiny", "efficientnet_b0",
    "clip_vit_b32", "resnet50 + stimuli",
)  # fmt: skip
#: Sessions by reason of their exclusion.
EXCLUDED = {"gold trials failed": 9, "timing": 3}
ACCEPTED = 48
V = np.linspace(0.0, 1.0, 101)


def large_findings(*, corruptions: int = 14, models: int = 10) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    names, nets = NAMES[:corruptions], MODELS[:models]
    curves, comparisons = [], []
    for measure, name in itertools.product(("accuracy", "consistency"), names):
        middle = 0.78 + 0.12 * rng.random()
        people = _curve("humans", name, measure, middle, rng)
        curves.append(people)
        for number, net in enumerate(nets):
            curve = _curve(net, name, measure, middle - 0.05 - 0.045 * number + 0.08 * rng.random(), rng)
            curves.append(curve)
            comparisons.append(_comparison(people, curve))
    similarity, other = [], []
    for measure, population in itertools.product(("accuracy", "consistency"), ("humans", *nets[:2])):
        pairs = [_pair(one, two, measure, population, curves) for one, two in itertools.combinations(names, 2)]
        (similarity if population == "humans" else other).extend(pairs)
    sessions = {"opened": 66, "under_way": 4, "completed": 60, "submitted": 60, "withdrawn": 2, "planned": 66}
    return {
        "study": "large",
        "version": "1.0+findings-1",
        "data_digest": "5d" * 32,
        "seed": 7,
        "n_bootstrap": 1000,
        "settings": {"seed": 7, "n_bootstrap": 1000, "level": 0.95, "margin": 0.03},
        "observers": [
            *({"name": f"P-{number:05d}", "kind": "human"} for number in range(ACCEPTED)),
            *({"name": net, "kind": "classifier"} for net in nets),
        ],
        "accuracy": [],
        "human_accuracy": [],
        "curves": curves,
        "comparisons": comparisons,
        "leaderboard": [_leader(net, measure, comparisons) for measure in ("accuracy", "consistency") for net in nets],
        "participants": [_participant(number, people["corruption"]) for people in curves[:1] for number in range(30)],
        "similarity": similarity,
        "classifier_similarity": other,
        "classes": [{"population": "humans", "property": "accuracy", "classes": [list(names[:3]), list(names[3:])]}],
        "discrimination": [],
        "error_consistency": [
            {"pair": list(pair), "condition": name, "n": 40, "kappa": 0.3, "observed": 0.8, "expected": 0.7}
            for pair in itertools.combinations(nets, 2)
            for name in names[:2]
        ],
        "consistency_differences": [
            {"pair": list(pair), "kappas": [0.3, 0.2], "difference": 0.1, "interval": [0.02, 0.18], "p": 0.03,
             "differ": True, "n": 400, "originals": 200}
            for pair in itertools.combinations(nets, 2)
        ],
        "soft_agreement": [
            {"observer": "humans", "kind": "humans", "cross_entropy": 1.1, "interval": [1.0, 1.2],
             "beyond_people": None, "beyond_interval": None, "guessing": 4.0, "pictures": 80, "originals": 60,
             "answers": 480},
            {"observer": nets[0], "kind": "classifier", "cross_entropy": 1.6, "interval": [1.4, 1.8],
             "beyond_people": 0.5, "beyond_interval": [0.3, 0.7], "guessing": 4.0, "pictures": 80, "originals": 60,
             "answers": 480},
        ],
        "confusion": [
            _confusion(population, name, *span)
            for population, name, span in itertools.product(("humans", *nets), names, _SPANS)
        ],
        "response_times": [
            {"population": "humans", "corruption": name, "bins": [_times(number) for number in range(10)]}
            for name in names
        ],
        "sensitivity": [
            {
                "choice": choice,
                "kind": kind,
                "sessions": count,
                "answers": 100 * count,
                "curves": [
                    {name: curve[name] for name in ("population", "corruption", "property", "area", "n")}
                    for curve in curves
                    if curve["population"] == "humans"
                ],
                "comparisons": [
                    {name: one[name] for name in ("classifier", "corruption", "property", "hmri", "mrsi")}
                    for one in comparisons
                ],
            }
            for choice, kind, count in (("as reported", "headline", 48), ("all sessions", "screening", 60))
        ],
        "trials": {"rows": 7200, "in_all_sessions": 6000, "in_accepted_sessions": 4800, "predictions": 48000},
        "notes": [],
        "sessions": sessions | {"accepted": ACCEPTED, "excluded": EXCLUDED},
        "flow": {
            "opened": 66, "unfinished": 4, "finished": 60, "not_submitted": 0, "submitted": 60, "withdrawn": 2,
            "unjudged": 0, "accepted": ACCEPTED, "accepted_by_hand": 0, "excluded_by_hand": 0,
            "excluded": [{"reason": reason, "n": n} for reason, n in EXCLUDED.items()],
        },
    }  # fmt: skip


_SPANS = ((None, None), (0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))


def _curve(population: str, corruption: str, measure: str, middle: float, rng: np.random.Generator) -> dict[str, Any]:
    estimate = 0.06 + 0.9 / (1 + np.exp((V - middle) / 0.07))
    spread = 0.01 + 0.03 * np.exp(-(((V - middle) / 0.15) ** 2))
    reach = 0.9 + 0.1 * rng.random()
    bins = [
        {"v": (k + 0.5) / 40, "n": int(4 + 20 * rng.random()), "rate": float(np.interp((k + 0.5) / 40, V, estimate)),
         "originals": 40, "thin": False}
        for k in range(40)
        if (k + 0.5) / 40 < reach
    ]  # fmt: skip
    area = float(estimate.mean())
    return {
        "population": population,
        "corruption": corruption,
        "property": measure,
        "area": area,
        "interval": [area - 0.01, area + 0.01],
        "level": 0.95,
        "standard_error": 0.005,
        "extrapolated": 1 - bins[-1]["v"],
        "area_bounds": [area - 0.02, area + 0.02],
        "withheld": False,
        "measured": {"range": [0.0, bins[-1]["v"]], "mean": area, "interval": [area - 0.01, area + 0.01]},
        "abscissa": "visual_change",
        "label_space": len(default_labels()),
        "same_stimuli": True,
        "anchor": {"kind": "none", "value": None, "n": 0},
        "n": sum(one["n"] for one in bins),
        "originals": 400,
        "participants": ACCEPTED if population == "humans" else None,
        "scheme": None,
        "dispersion": 1.0,
        "smoothness": 1.0,
        "bins": bins,
        "data_digest": "5d" * 32,
        "thresholds": [
            {
                "rate": rate,
                "v": middle + shift,
                "interval": [middle + shift - 0.01, middle + shift + 0.01],
                "extrapolated": False,
            }
            for rate, shift in ((0.75, -0.08), (0.5, 0.0))
        ],  # fmt: skip
        "misses": {"n": 12, "share": 0.01, "dropped": {"n": 400, "area": area + 0.004}},
        "all_sessions": {"n": 500, "area": area - 0.006},
        "ceiling": {"splits": 10, "hmri": 0.985, "mrsi": 0.012},
        "band": {
            "v": V.tolist(),
            "estimate": estimate.tolist(),
            "lower": (estimate - spread).tolist(),
            "upper": (estimate + spread).tolist(),
            "simultaneous_lower": (estimate - 1.3 * spread).tolist(),
            "simultaneous_upper": (estimate + 1.3 * spread).tolist(),
            "level": 0.95,
            "simultaneous_level": 0.834,
        },
    }


def _comparison(people: dict[str, Any], curve: dict[str, Any]) -> dict[str, Any]:
    human, net = (np.array(one["band"]["estimate"]) for one in (people, curve))
    hmri = float(np.minimum(human, net).sum() / human.sum())
    mrsi = float(np.maximum(net - human, 0).sum() / net.sum())
    return {
        "classifier": curve["population"],
        "corruption": curve["corruption"],
        "property": curve["property"],
        "hmri": hmri,
        "hmri_interval": [hmri - 0.02, min(1.0, hmri + 0.02)],
        "mrsi": mrsi,
        "mrsi_interval": [max(0.0, mrsi - 0.01), mrsi + 0.01],
        "level": 0.95,
        "human_area": people["area"],
        "classifier_area": curve["area"],
        "human_lead": max(0.0, people["area"] - curve["area"]),
        "classifier_lead": 0.0,
        "exceeds": [],
        "withheld": False,
        "common_range": None,
        "borrowed": False,
        "human_curve": curve["corruption"],
        "same_stimuli": True,
    }


def _leader(net: str, measure: str, comparisons: list[dict[str, Any]]) -> dict[str, Any]:
    own = [one for one in comparisons if (one["classifier"], one["property"]) == (net, measure)]
    hmri, mrsi = (float(np.mean([one[index] for one in own])) for index in ("hmri", "mrsi"))
    return {
        "classifier": net,
        "property": measure,
        "corruptions": len(own),
        "withheld": 0,
        "hmri": hmri,
        "hmri_interval": [hmri - 0.008, min(1.0, hmri + 0.008)],
        "mrsi": mrsi,
        "mrsi_interval": [max(0.0, mrsi - 0.003), mrsi + 0.003],
        "human_area": 0.8,
        "human_area_interval": [0.79, 0.81],
        "classifier_area": 0.8 * hmri,
        "classifier_area_interval": [0.79 * hmri, 0.81 * hmri],
        "corruption_error": 2.0 - hmri,
        "corruption_error_interval": [1.97 - hmri, 2.03 - hmri],
    }


def _participant(number: int, corruption: str) -> dict[str, Any]:
    middle = 0.72 + 0.006 * number
    estimate = 0.06 + 0.9 / (1 + np.exp((V[::5] - middle) / 0.07))
    return {
        "participant": f"P-{number:05d}",
        "corruption": corruption,
        "n": 40,
        "accuracy": 0.75,
        "median_rt_ms": 640.0,
        "bins": [],
        "area": float(estimate.mean()),
        "band": {"v": V[::5].tolist(), "estimate": estimate.tolist()},
    }


def _pair(one: str, two: str, measure: str, population: str, curves: list[dict[str, Any]]) -> dict[str, Any]:
    areas = {
        curve["corruption"]: curve["area"]
        for curve in curves
        if (curve["population"], curve["property"]) == (population, measure)
    }
    difference = areas[one] - areas[two]
    size = abs(difference)
    return {
        "population": population,
        "pair": [one, two],
        "property": measure,
        "difference": difference,
        "interval": [difference - 0.012, difference + 0.012],
        "band": [difference - 0.03, difference + 0.03],
        "range": [0.0, 0.9],
        "p": 0.5,
        "p_adjusted": 0.01 if size > 0.03 else 0.8,
        "test": "windows",
        "window": 0.15,
        "overlap_83": size < 0.03,
        "overlap_83_pointwise": size < 0.02,
        "equivalent": size < 0.015,
        "different": size > 0.03,
        "verdict": "equivalent" if size < 0.015 else "different" if size > 0.03 else "undecided",
        "statement": "as the verdict",
        "margin": 0.03,
        "band_margin": 0.1,
        "answers": 800,
        "answers_to_decide": 1200 if 0.015 <= size <= 0.03 else None,
        "answers_to_differ": 900 if 0.015 <= size <= 0.03 else None,
    }


def _confusion(population: str, corruption: str, low: float | None, high: float | None) -> dict[str, Any]:
    counts = (3 * np.eye(len(default_labels()), len(default_labels()) + 1) + 1).astype(int) * 10
    return {
        "population": population,
        "corruption": corruption,
        "low": low,
        "high": high,
        "categories": list(default_labels().ids),
        "responses": [*default_labels().ids, "na"],
        "counts": counts.tolist(),
        "favourite": {"response": "dog", "share": 0.14},
    }


def _times(number: int) -> dict[str, Any]:
    return {
        "v": (number + 0.5) / 10,
        "n": 48,
        "median_ms": 620.0 + 40 * number,
        "lower_ms": 510.0 + 30 * number,
        "upper_ms": 800.0 + 70 * number,
        "median_right_ms": 610.0 + 40 * number,
        "median_wrong_ms": None,
    }


def make_large_study(by: User, *, corruptions: int = 14, models: int = 10) -> Study:
    """A study with judged sessions, twelve of them excluded, and a stored analysis."""
    now = clock.now()
    study = Study.objects.create(
        family=StudyFamily.objects.create(slug="large"),
        slug="large",
        title="Fourteen corruptions: how far behind people?",
        state=StudyState.STOPPED,
        planned_sessions=66,
        rule_set=load_rule_set("vcr").to_dict(),
        configuration=StudyConfiguration(title="Fourteen corruptions", stimuli="all").to_dict(),
        digest="c0" * 32,
        created_by=by,
        seed=7,
    )
    reasons = [[], *([] for _ in range(ACCEPTED - 1)), *([one] for one, n in EXCLUDED.items() for _ in range(n))]
    people = Participant.objects.bulk_create(
        Participant(family=study.family, code=f"P-{number:05d}") for number in range(len(reasons))
    )
    sessions = Session.objects.bulk_create(
        Session(
            study=study,
            participant=person,
            code=f"S-L{number:05d}",
            slot=number,
            state=SessionState.SUBMITTED,
            token_nonce=str(number),
            cursor=100,
            total=100,
            opened_at=now,
            completed_at=now,
            submitted_at=now,
        )
        for number, person in enumerate(people)
    )
    Verdict.objects.bulk_create(
        Verdict(
            session=session,
            study=study,
            accepted=not reason,
            reasons=reason,
            rule_set="vcr",
            rule_version="1",
            decided_at=now,
        )
        for session, reason in zip(sessions, reasons, strict=True)
    )
    _store(study, _written(corruptions, models))
    return study


@cache
def _written(corruptions: int, models: int) -> str:
    return json.dumps(large_findings(corruptions=corruptions, models=models), allow_nan=False)


def _store(study: Study, written: str) -> AnalysisRun:
    """Findings as a run of the study."""
    # Findings are read once a file name: every study has one of its own.
    relative = f"results/{study.slug}/findings-{secrets.token_hex(6)}.json"
    path = media_path(relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written, encoding="utf-8")
    return AnalysisRun.objects.create(
        study=study,
        version="1.0+findings-1",
        seed=7,
        data_digest="5d" * 32,
        findings_file=relative,
        trials=7200,
        seconds=96.0,
    )
