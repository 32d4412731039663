"""Jobs that were queued before an upgrade still run after it: each handler takes what the last version stored."""

from __future__ import annotations

import pytest

from humanexp.jobs.registry import handlers, registered

#: What version 0.1.0 wrote into the table of jobs, a kind each, by hand.
QUEUED = {
    "console.preflight": {"study_id": 1, "to": "link", "by_id": None},
    "console.retrain": {"retraining_id": 1, "study_id": None, "allow_download": False},
    "counterfactuals.search": {"run_id": 1},
    "counterfactuals.round": {"round_id": 1},
    "counterfactuals.transfer": {"group_key": "ab12"},
    "counterfactuals.sparse": {"run_id": 1, "out": "/a.npy", "strength": 36.36, "seed": 0},
    "counterfactuals.train": {"training_id": 1, "test_id": 2, "out": "/a.pt2", "recipe": {"epochs": 5}},
    "evaluations.evaluate": {
        "evaluation_id": 1, "spec": "export:a.pt2", "device": "cpu", "rule": "mean", "own_labels": False, "labels": "",
        "allow_code": False, "allow_download": True,
    },
    "evaluations.evaluate_together": {
        "evaluations": [{"evaluation_id": 1, "spec": "lite:0"}], "device": "cpu", "rule": "mean", "own_labels": False,
        "labels": "", "allow_code": False, "allow_download": False, "precision": "float32",
    },
    "evaluations.ask": {
        "evaluation_id": 1, "spec": "openai:http://127.0.0.1:8080/v1#m", "temperature": 0.0,
        "plan": {"wordings": ["describes"], "orders": 2, "repeats": 1, "style": "words", "seed": 0},
        "caps": {"most_calls": 0, "most_cost": 0.0, "price_in": 0.0, "price_out": 0.0},
    },
    "evaluations.compare": {
        "evaluation_id": 1, "study": "pairs", "spec": "openai:http://127.0.0.1:8080/v1#m",
        "caps": {"most_calls": 0, "most_cost": 0.0, "price_in": 0.0, "price_out": 0.0}, "device": "cpu",
        "precision": "float32", "protocol": {"name": "custom"},
    },
    "evaluations.check_model": {"model_id": 1},
    "evaluations.select_gold": {"source_set_id": 1, "specs": ["export:a.pt2"], "device": "cpu", "allow_code": True},
    "studies.power": {"estimate_id": 1},
    "participation.tally": {"study_id": 1, "name": "timing"},
    "recruitment.send": {"environment": "marketplace"},
    "recruitment.sync": {},
    "recruitment.try-account": {"code": "marketplace"},
    "recruitment.verify": {"campaign_id": 1},
    "results.analyse": {"study_id": 1, "n_bootstrap": 1000, "selection": {"condition": ["a"]}},
    "results.import_set": {"upload": "uploads/a.zip", "title": "a.zip", "by_id": 1},
    "results.report": {"analysis_run_id": 1},
    "screening.judge": {"session_id": 1},
    "screening.judge_study": {"study_id": 1},
    "stimuli.generate": {"stimulus_set_id": 1},
    "stimuli.delete": {"stimulus_set_id": 1},
    "stimuli.import_imagenet_c": {"stimulus_set_id": 1, "folder": "/pictures", "n_pictures": 5},
    "stimuli.import_images": {
        "upload": "uploads/a.zip", "title": "a.zip", "prefix": "",
        "order": {
            "name": "photos", "provenance": "ours", "licence": "CC0", "minimum_side_px": 0, "skip_unusable": True,
            "by_id": 1,
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", QUEUED)
def test_what_the_last_version_stored_is_taken(kind):
    assert QUEUED[kind].items() <= registered(kind).checked(QUEUED[kind]).items()


def test_every_kind_with_parameters_is_among_them():
    with_parameters = {kind for kind, known in handlers().items() if known.parameters.model_fields}
    assert with_parameters - {"faults.long", "faults.deaf"} <= QUEUED.keys()
