"""Energy and CO2 of a set's computations: stored where they happen, and one sum on command, page, report and JSON."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.energy import Assumptions
from humanexp.core.models import User
from humanexp.results.report import document_of, report_facts
from humanexp.results.selectors import findings
from humanexp.results.services import run_analysis
from humanexp.stimuli.models import StimulusSet
from tests.analysis.generation.originals import write_originals
from tests.counterfactuals.networks import CLEAN
from tests.results.collected import make_study

pytestmark = pytest.mark.django_db(transaction=True)
SITE = Assumptions(cpu_w=200, other_w=50, kg_co2_per_kwh=0.025, source="VCR, appendix E.2")


def told(*arguments: str) -> str:
    out = StringIO()
    call_command("energy", *arguments, stdout=out)
    return out.getvalue()


def test_the_published_example_is_printed() -> None:
    """VCR prints 0.755 kWh and 18.875 g a function."""
    assert "Sum: 0.755 kWh, 18.88 g CO₂; per function 18.88 g CO₂ (estimate)" in told("--published")


@pytest.mark.verify
def test_generation_and_prediction_are_counted_with_the_settings_of_the_site(
    settings, tmp_path: Path, client: Client
) -> None:
    settings.MEDIA_ROOT, settings.COMPUTE, settings.ENERGY = tmp_path / "media", "serial", SITE
    write_originals(tmp_path / "pictures", {"cat": 2, "dog": 2})
    call_command("import_images", tmp_path / "pictures", "--name=pets", stdout=StringIO())
    call_command(
        "generate_stimuli", "--images=pets", "--corruption=gaussian_noise,uniform_noise", "--count=4", "--size=96",
        "--name=pets", stdout=StringIO(), stderr=StringIO(),
    )  # fmt: skip
    made = StimulusSet.objects.get()
    first = dict(made.energy)
    assert first["seconds"] > 0 and first["source"] == SITE.source and first["other_w"] == 50
    call_command(
        "generate_stimuli", "--images=pets", "--corruption=gaussian_noise,uniform_noise", "--count=4", "--size=96",
        "--name=pets", stdout=StringIO(), stderr=StringIO(),
    )  # fmt: skip
    made.refresh_from_db()
    assert made.energy["seconds"] >= first["seconds"]
    call_command("evaluate", "--stimuli=pets", f"--classifier={CLEAN}", stdout=StringIO(), stderr=StringIO())
    told("--stimuli=pets", f"--json={tmp_path / 'energy.json'}")
    account = json.loads((tmp_path / "energy.json").read_text())
    generation, prediction = account["computations"]
    assert (generation["stage"], prediction["stage"]) == ("generation", "prediction")
    for one in (generation, prediction):
        energy = one["energy"]
        if not energy["measured_by"]:
            # kW x hours x g per kWh, by hand
            assert one["g_co2"] == pytest.approx((200 + 50) / 1000 * energy["seconds"] / 3600 * 25)
        assert one["g_co2_per_function"] == pytest.approx(one["g_co2"] / 2)
    assert account["total"]["g_co2"] == pytest.approx(generation["g_co2"] + prediction["g_co2"])
    assert account["g_co2_per_function"] == pytest.approx(account["total"]["g_co2"] / 2)
    client.force_login(User.objects.create_user("anna"))
    page = client.get(reverse("stimuli:stimulus_set", args=["pets"])).content.decode()
    assert "at 25 g per kWh, VCR, appendix E.2" in page and "g CO₂" in page
    _study_shows_it(made, tmp_path)


def _study_shows_it(made: StimulusSet, tmp_path: Path) -> None:
    study = make_study(stimulus_set=made)
    run = run_analysis(study=study, n_bootstrap=0)
    document = document_of(findings(run), report_facts(run))
    (section,) = [one for one in document.sections if one.title == "Energy and CO₂"]
    assert [row[0] for row in section.blocks[0].table.rows] == ["generation", "prediction"]
    call_command("analyse", study.slug, f"--json={tmp_path / 'all.json'}", "--bootstrap=0", stdout=StringIO())
    assert json.loads((tmp_path / "all.json").read_text())["energy"]["computations"][0]["stage"] == "generation"


def test_a_set_from_before_energy_was_recorded_says_so_and_imported_trials_have_none(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    study = make_study(slug="imported")
    assert study.stimulus_set is not None
    StimulusSet.objects.update(energy={})
    assert "not recorded" in told(f"--study={study.slug}") and "Sum" not in told(f"--study={study.slug}")
    with pytest.raises(CommandError, match="There is no stimulus set"):
        told("--stimuli=nothing")
