"""Searches read together: which belong together, transfer between their models, ranks across generators."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from analysis.counterfactuals.files import read_picture
from analysis.findings.model.comparisons import Transfer
from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.counterfactuals import charts, selectors
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.selectors import search_settings
from humanexp.counterfactuals.services import benchmarks, searches
from humanexp.counterfactuals.services.benchmarks import start_transfer
from humanexp.counterfactuals.services.searches import create_search
from humanexp.jobs import runner
from humanexp.jobs.models import JobState
from tests.counterfactuals.networks import CLEAN, ROBUST

ADVERSARIAL = "export:fixtures/counterfactuals/adversarial.pt2"
ORACLE = "classifier:export:fixtures/counterfactuals/oracle.pt2"


@pytest.fixture
def signed_in(client, db):
    client.force_login(User.objects.create_user("ada", is_staff=True))
    return client


@pytest.fixture
def searched(order):
    """Finished searches by name; arguments are the model and the generator of each, and what differs."""

    def make(**wanted: dict[str, object]) -> dict[str, SearchRun]:
        for name, changes in wanted.items():
            create_search(**order(**{"name": name, "oracle": ORACLE, **changes}))
        runner.run_waiting(kinds=[searches.SEARCH_KIND])
        return {name: SearchRun.objects.get(name=name) for name in wanted}

    return make


@pytest.mark.verify
def test_models_are_tested_on_the_pictures_made_against_the_others(signed_in, searched) -> None:
    runs = searched(
        **{"a": {"classifier": CLEAN}, "b": {"classifier": ROBUST}, "c": {"classifier": ADVERSARIAL}},
        **{"d": {"classifier": CLEAN, "generator": "pixel:"}, "e": {"classifier": ROBUST, "generator": "pixel:"}},
        **{"f": {"classifier": ADVERSARIAL, "generator": "pixel:"}, "later": {"classifier": CLEAN}},
        other={"classifier": CLEAN, "budget": 1},
    )
    group, alone = selectors.groups()
    assert {run.name for run in group.runs} == {"later", "b", "c", "d", "e", "f"} and not alone.is_transferable
    address = f"/counterfactuals/across/{group.key}/"
    assert "Test the models on each other" in signed_in.get("/counterfactuals/across/").content.decode()
    assert signed_in.post(f"{address}test/").url == address
    job = start_transfer(group=group)
    assert "Waits for the job runner" in signed_in.get(address).content.decode()
    runner.run_waiting(kinds=[benchmarks.GROUP_KIND])
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.error
    assert job.result == {"cells": 12}

    result = selectors.result_of(selectors.stored(group))
    entry = next(one for one in result.transfer if one.generator == "pixel")
    assert entry.made_against == entry.tested == ("adversarial", "clean", "robust")
    # A cell is what the model says to the kept files, and the diagonal is what the search itself found.
    kept = [row for row in runs["d"].counterfactuals.select_related("source_image", "run") if row.sha256]
    pictures = np.stack([read_picture(media_path(row.kept_file)) for row in kept])
    labels = [row.category for row in kept]
    robust = search_settings(runs["e"]).load_target().classifier
    said = np.array(robust.labels)[robust.predict(pictures).argmax(axis=1)]
    assert entry.n_valid[1] == len(kept) and entry.correct[1][2] == int((said == labels).sum())
    assert entry.correct[1][1] == sum(row.response == row.category for row in kept)
    (agreement,) = result.agreement
    assert sorted(agreement.pair) == sorted(group.generators.values()) and agreement.n <= 3

    page = signed_in.get(address).content.decode()
    clean = {runs[key].model_name: runs[key].scores["pooled"]["sa"] for key in "def"}
    assert charts.transfer_sentence(entry, clean) in page and "What it does not say" in page and "Test again" in page
    rows = list(csv.DictReader(signed_in.get(f"{address}transfer-1.csv").content.decode().splitlines()))
    assert [row["made_against"] for row in rows] == ["clean originals", *entry.made_against]
    assert float(rows[2]["robust"]) == entry.correct[1][2] / len(kept)
    assert float(rows[2]["robust_oor"]) == pytest.approx(float(rows[2]["robust"]) / clean["robust"])
    assert rows[0]["robust_oor"] == "" and float(rows[0]["robust"]) == clean["robust"]
    assert float(rows[2]["clean_oor"]) == pytest.approx(runs["d"].scores["pooled"]["oor"])
    assert float(rows[2]["robust_lower"]) < float(rows[2]["robust"]) or not entry.correct[1][2]
    assert b"<svg" in signed_in.get(f"{address}transfer-0.svg").content
    first = list(csv.DictReader(signed_in.get(f"{address}agreement.csv").content.decode().splitlines()))[1]
    pooled = runs["d"].scores["pooled"]
    assert (first["model"], float(first["sa"])) == ("clean", pooled["sa"])
    assert (float(first["pixel_vr"]), float(first["pixel"])) == (pooled["vr"], pooled["oor"])
    assert float(first["pixel_lower"]) == pooled["intervals"]["oor"][0]
    assert signed_in.get(f"{address}agreement.svg").status_code == 404
    assert "have finished since" not in page
    searched(again={"classifier": CLEAN})
    assert "have finished since" in signed_in.get(address).content.decode()


def test_fooling_others_is_less_than_they_name_of_the_originals() -> None:
    ends = ((None, None), (None, None))
    entry = Transfer(
        generator="pixel", made_against=("a", "b"), tested=("a", "b"), correct=((1, 6), (9, 0)), n_valid=(10, 10),
        intervals=ends,
    )  # fmt: skip
    told = charts.transfer_sentence(entry, {"a": 0.9, "b": 0.9})
    assert "made against a fool the others most: on average they name 60 % of them right, a itself 10 %" in told
    assert "do not fool" in charts.transfer_sentence(
        entry.model_copy(update={"correct": ((1, 9), (9, 0))}), {"a": 0.9, "b": 0.9}
    )


@pytest.mark.verify
def test_one_model_asks_for_a_second(signed_in, searched) -> None:
    searched(only={"classifier": CLEAN})
    (group,) = selectors.groups()
    page = signed_in.get("/counterfactuals/across/").content.decode()
    assert "Only clean was searched" in page and "new/?like=only" in page
    with pytest.raises(Conflict, match="second one first"):
        start_transfer(group=group)
    form = signed_in.get("/counterfactuals/new/?like=only").content.decode()
    assert 'value="corruption:gaussian_noise,step=0.4"' in form and f'value="{ORACLE}"' in form
    assert signed_in.get("/counterfactuals/across/nothing/").status_code == 404


@pytest.mark.verify
def test_a_network_that_was_exchanged_is_refused(searched) -> None:
    searched(a={"classifier": CLEAN}, b={"classifier": ROBUST})
    (group,) = selectors.groups()
    SearchRun.objects.filter(name="a").update(classifier=ADVERSARIAL)
    job = start_transfer(group=group)
    runner.run_waiting(kinds=[benchmarks.GROUP_KIND])
    job.refresh_from_db()
    assert job.state == JobState.FAILED and "not the network that was searched" in job.error
