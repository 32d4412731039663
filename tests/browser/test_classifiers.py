"""Pages of classifiers in a browser: a table is looked at, refused, corrected and taken, with pointer and keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.labels.files import default_labels
from humanexp.core import clock
from humanexp.evaluations.models import EvaluationRun, Retraining
from humanexp.evaluations.services import evaluations
from humanexp.jobs import runner
from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet
from tests.browser.axe import violations
from tests.browser.looks import fits, refused
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

N_STIMULI = 40


@pytest.fixture
def stimulus_set(transactional_db: None, own_media: None) -> StimulusSet:
    """Rows alone: what was answered elsewhere needs no pictures here."""
    source_set = SourceSet.objects.create(name="pets")
    image = SourceImage.objects.create(source_set=source_set, key="o1", category="cat", file="o.png", sha256="0" * 64)
    made = StimulusSet.objects.create(
        name="pets",
        source_set=source_set,
        corruptions=["gaussian_noise"],
        count_per_corruption=N_STIMULI,
        metric="vif-1",
        completed_at=clock.now(),
    )
    Stimulus.objects.bulk_create(
        Stimulus(
            stimulus_set=made, source_image=image, key=f"s{number:03}", parameter=0.1, seed=number,
            corruption="gaussian_noise" if number else "none", corruption_version="1",
            visual_change=number / N_STIMULI, sha256="0" * 64, file=f"{number}.png",
        )
        for number in range(N_STIMULI)
    )  # fmt: skip
    return made


@pytest.fixture
def site(page: Any, live_server: Any, stimulus_set: StimulusSet) -> str:
    sign_in(page, live_server.url, is_staff=True)
    return f"{live_server.url}/classifiers/"


def looked_at(page: Any, name: str) -> None:
    """Nothing grave, refused or too wide, at two widths."""
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 860})
        fits(page, f"classifiers-{name}-{width}")
    assert violations(page) == []
    assert refused(page) == []


def table(tmp_path: Path, *, response: str, n: int = N_STIMULI) -> str:
    path = tmp_path / "elsewhere.csv"
    lines = [f"s{number:03},{response if number % 9 == 0 else 'cat'},0.75" for number in range(n)]
    path.write_text("stimulus,response,confidence\n" + "\n".join(lines) + "\n")
    return str(path)


def test_a_table_is_refused_corrected_looked_at_and_taken(page: Any, site: str, tmp_path: Path) -> None:
    page.goto(site)
    looked_at(page, "empty")
    page.get_by_role("link", name="Upload predictions").click()
    looked_at(page, "upload")
    page.set_input_files("input[type=file]", table(tmp_path, response="lion", n=38))
    page.get_by_role("button", name="Look at it").click()
    page.wait_for_selector("#problems")
    main = page.locator("main")
    expect(main).to_contain_text("elsewhere.csv cannot be used: 6 problems", use_inner_text=True)
    expect(main).to_contain_text("2 of 40 stimuli of the set have no row", use_inner_text=True)
    looked_at(page, "problems")
    page.set_input_files("input[type=file]", table(tmp_path, response="dog"))
    page.get_by_role("button", name="Look at it").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=What was understood")
    expect(main).to_contain_text("elsewhere.csv answers 40 of 40 stimuli of pets", use_inner_text=True)
    looked_at(page, "preview")
    page.get_by_role("button", name="Take these predictions").click()
    page.wait_for_selector("h1:has-text('elsewhere')")
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    page.reload()
    expect(main).to_contain_text("40 stimuli of pets classified", use_inner_text=True)
    looked_at(page, "run")
    page.get_by_role("link", name="Delete").click()
    looked_at(page, "delete")
    page.get_by_role("link", name="Keep them").click()
    page.get_by_role("link", name="All classifiers").click()
    looked_at(page, "list")
    assert EvaluationRun.objects.get().count == N_STIMULI


def test_a_network_is_asked_for_and_a_retraining_read(page: Any, site: str, stimulus_set: StimulusSet) -> None:
    page.goto(site)
    page.get_by_role("link", name="torchvision:alexnet@IMAGENET1K_V1").click()
    expect(page.locator("#id_spec")).to_have_value("torchvision:alexnet@IMAGENET1K_V1")
    looked_at(page, "new")
    page.fill("#id_spec", "python:os:getcwd")
    page.keyboard.press("Enter")
    expect(page.locator(".errorlist").first).to_contain_text("runs code", use_inner_text=True)
    quantities = {"area": 0.61, "hmri": 0.72, "mrsi": 0.0}
    moved = {"area": 0.11, "hmri": 0.13, "mrsi": 0.0}
    row = {
        "corruption": "gaussian_noise", "property": "accuracy", "stimuli": 40, "trained_on": True,
        "before": quantities, "after": {name: quantities[name] + moved[name] for name in moved},
        "difference": moved, "interval": {name: [value / 2, value * 1.5] for name, value in moved.items()},
    }  # fmt: skip
    report = {
        "rows": [row], "clean": {"before": 0.97, "after": 0.94, "n": len(default_labels().ids)}, "originals": 96,
        "recipe": {"epochs": 5, "learning_rate": 0.001, "momentum": 0.9, "batch": 32, "seed": 0},
        "energy": {"seconds": 29.0, "power_w": 100.0, "kwh": 8e-4, "kg_co2": 3.5e-4, "kg_co2_per_kwh": 0.432},
        "training_stimuli": 384, "training_originals": 96,
    }  # fmt: skip
    Retraining.objects.create(
        stimulus_set=stimulus_set, name="clean", spec="export:fixtures/classifiers/clean.pt2", out="/srv/robust.pt2",
        report=report, completed_at=clock.now(),
    )  # fmt: skip
    page.goto(site)
    page.get_by_role("link", name="robust", exact=True).click()
    expect(page.locator("main")).to_contain_text("HMRI", use_inner_text=True)
    looked_at(page, "retraining")
