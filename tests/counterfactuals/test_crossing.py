"""Networks on the counterfactuals of several searches: the paper's crossed tables, beside numbers computed apart."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.files import read_picture
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.services.searches import SEARCH_KIND, create_search
from humanexp.jobs import runner
from tests.counterfactuals.networks import CLEAN, ROBUST

pytestmark = pytest.mark.django_db(transaction=True)
THIRD = "export:fixtures/counterfactuals/adversarial.pt2"


@pytest.fixture(autouse=True)
def serial(settings, tmp_path: Path) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"


@pytest.fixture
def searched(order):
    def make(**wanted: dict[str, object]) -> dict[str, SearchRun]:
        for name, changes in wanted.items():
            create_search(**order(name=name, **changes))
        runner.run_waiting(kinds=[SEARCH_KIND])
        return {name: SearchRun.objects.get(name=name) for name in wanted}

    return make


def crossed(tmp_path: Path, *arguments: str) -> tuple[str, list[dict]]:
    out, written = StringIO(), tmp_path / "crossed.json"
    call_command("transfer", *arguments, f"--json={written}", stdout=out)
    return out.getvalue(), json.loads(written.read_text())["crossed"]


def test_a_network_that_was_not_searched_has_the_scores_of_plain_predictions(searched, tmp_path: Path) -> None:
    runs = searched(a={"classifier": CLEAN}, b={"classifier": ROBUST})
    said, rows = crossed(tmp_path, "a", "b", f"--classifier={THIRD}")
    tested = ["clean", "robust", "adversarial"]
    assert [(row["search"], row["tested"]) for row in rows] == [(name, one) for name in "ab" for one in tested]
    # On its own counterfactuals a model has the scores of its search, with their intervals.
    for row, name in ((rows[0], "a"), (rows[4], "b")):
        pooled = runs[name].scores["pooled"]
        assert {key: row[key] for key in pooled} == pooled
    third = load_classifier(THIRD)

    def named(files: list[str], labels: list[str]) -> np.ndarray:
        pictures = np.stack([read_picture(media_path(file)) for file in files])
        return np.array(third.labels)[third.predict(pictures).argmax(axis=1)] == labels

    for row, name in ((rows[2], "a"), (rows[5], "b")):
        all_of_it = list(runs[name].counterfactuals.select_related("source_image", "run"))
        kept = [one for one in all_of_it if one.sha256]
        sa = named([one.original_file for one in all_of_it], [one.category for one in all_of_it]).mean()
        ca = named([one.kept_file for one in kept], [one.category for one in kept]).mean()
        assert (row["sa"], row["ca"], row["n_valid"]) == (sa, ca, len(kept))
        assert row["oor"] == pytest.approx(ca / sa) and f"{ca / sa:.3f}" in said


def test_a_network_that_two_generators_were_searched_with_is_tested_once(searched, tmp_path: Path) -> None:
    searched(a={"classifier": CLEAN}, b={"classifier": CLEAN, "generator": "pixel:", "budget": 1})
    _said, rows = crossed(tmp_path, "a", "b", "a", f"--classifier={CLEAN}")
    assert [(row["search"], row["generator"], row["tested"]) for row in rows] == [
        ("a", "corruption:gaussian_noise,step=0.4", "clean"), ("b", "pixel:", "clean"),
    ]  # fmt: skip


def test_what_cannot_be_crossed_is_refused(searched, order, tmp_path: Path) -> None:
    runs = searched(a={"classifier": CLEAN}, fewer={"classifier": ROBUST, "pictures": 3})
    create_search(**order(name="waiting"))
    with pytest.raises(CommandError, match="fewer was not made of the same pictures as a"):
        crossed(tmp_path, "a", "fewer")
    with pytest.raises(CommandError, match="waiting is not finished yet"):
        crossed(tmp_path, "a", "waiting")
    with pytest.raises(CommandError, match="There is no search 'gone'"):
        crossed(tmp_path, "a", "gone")
    kept = next(one for one in runs["a"].counterfactuals.select_related("source_image", "run") if one.sha256)
    media_path(kept.kept_file).write_bytes(media_path(kept.original_file).read_bytes())
    with pytest.raises(CommandError, match="not the one that the search kept"):
        crossed(tmp_path, "a")
    SearchRun.objects.filter(name="a").update(classifier=ROBUST)
    with pytest.raises(CommandError, match="not the network that was searched"):
        crossed(tmp_path, "a")
    assert not (tmp_path / "crossed.json").exists()
