"""The power of a planned study: asked on its page or by command, simulated as a job, stored."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.forms import IntegerField
from django.test import Client

from analysis.similarity.binomial import trials_to_find
from analysis.similarity.sample_size import PlannedPairs, people_for_equivalence, people_to_detect
from analysis.similarity.sensitivity import d_prime_of
from humanexp.core.errors import JobCancelled
from humanexp.core.models import AuditEvent, User
from humanexp.jobs import runner
from humanexp.jobs.models import Job
from humanexp.studies import jobs, power
from humanexp.studies.models import PowerEstimate, Study
from humanexp.studies.pages.forms import PowerForm
from humanexp.studies.plans import plan_head
from humanexp.studies.power import PowerQuestion, planned_answers, planned_study, request_power, telling_apart
from humanexp.studies.selectors import POWER
from humanexp.studies.services import create_study, revise_study
from humanexp.studies.two_ways import two_ways
from tests.factories import configuration, draft_study
from tests.markup import words

DESIGN = "/studies/small-study/design/"
PAGE = f"{DESIGN}power/"
ASKED = {"difference": 0.3, "people": 12, "bend": 0.8, "image_sd": 1.0, "participant_sd": 0.2, "runs": 2, "seed": 0}


@pytest.fixture
def draft(stimulus_set: Any, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Two simulated studies of a size stand for a hundred."""
    monkeypatch.setattr(power, "LIMITS", {**power.LIMITS, "runs": (2, 1000)})
    monkeypatch.setitem(PowerForm.base_fields, "runs", IntegerField())
    return draft_study(by=User.objects.create_user("anna"))


@pytest.fixture
def owner(client: Client, draft: Study) -> Client:
    client.force_login(User.objects.get(username="anna"))
    return client


def ask(study: Study, **changes: Any) -> tuple[PowerEstimate, Job]:
    return request_power(study=study, question=PowerQuestion(**{**ASKED, **changes}))


@pytest.mark.verify
def test_a_study_with_two_recruiters_is_told_how_many_people_tell_them_apart(
    stimulus_set: Any, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    monkeypatch.setattr(power, "LIMITS", {**power.LIMITS, "runs": (2, 1000)})
    owner = User.objects.create_user("anna")
    study = draft_study(by=owner, recruitment={"places": {"sona": 4, "link": 2}}, analysis={"estimand": "people"})
    found = planned_study(study, PowerQuestion(people=12))
    assert found.recruiters == (8, 4)
    estimate, job = ask(study, people=12)
    runner.finish(job, what="The simulation", tell=lambda said: None)
    estimate.refresh_from_db()
    people = estimate.report["recruiters"]["people"]
    client.force_login(owner)
    page = client.get(PAGE).content.decode()
    assert f"takes about {people:,} people of each. With 4 and 8 people the power is" in page


def test_the_simulated_study_is_the_plan(draft: Study) -> None:
    planned, summary = planned_answers(draft), plan_head(draft)["summary"]
    assert planned is not None
    assert (planned.functions, planned.people, planned.clean_answers) == (3, 6, summary["clean_answers"])
    fewest = min(sum(counts) for counts in summary["strata"].values())
    assert planned.trials_each == round(fewest / 6)
    found = planned_study(draft, PowerQuestion(people=12))
    assert (found.pairs, found.crowd.people, found.clean_answers) == (3, 12, 2 * planned.clean_answers)
    assert (found.crowd.originals, found.margin) == (summary["pools"]["main"]["originals"], 0.03)


def test_it_is_asked_on_the_page_and_its_answer_stands_with_the_design(owner: Client, draft: Study) -> None:
    assert "Simulate its power" in owner.get(DESIGN).content.decode()
    empty = owner.get(PAGE).content.decode()
    assert "Would this design find what it looks for?" in empty and 'value="0.033"' in empty
    assert owner.post(PAGE, ASKED).url == PAGE
    assert owner.post(PAGE, ASKED).url == PAGE
    job = Job.objects.get(kind=POWER)
    assert "Waits for the job runner" in owner.get(PAGE).content.decode()
    other = owner.post(PAGE, {**ASKED, "difference": 0.2})
    assert other.status_code == 422 and "is being simulated already" in other.content.decode()
    runner.run_waiting(kinds=[POWER])
    job.refresh_from_db()
    assert job.state == "done", job.error
    estimate = PowerEstimate.objects.get()
    assert job.result == {"power": estimate.report["planned"]["different"]}
    shown = words(owner.get(PAGE).content)
    for said in (
        "a model that is exactly like people would be said to match them on all 3 corruptions",
        "12 people show two corruptions to be equivalent in",
        "a difference of 0.300 between the areas",
        "From 2 simulated studies",
        "3 pairs under Holm",
        "plot-power",
    ):
        assert said in shown
    beside = words(owner.get(DESIGN).content)
    assert "a difference of 0.300" in beside and "a model that is exactly like people" in beside
    assert AuditEvent.objects.filter(action="power", study="small-study").count() == 1
    again = configuration(design={"sessions": 7, "main_trials": 16, "practice_trials": 4, "consistency_pairs": 2})
    revise_study(study=draft, configuration=again)
    assert "The design has changed since" in owner.get(PAGE).content.decode()


def test_a_cancelled_simulation_goes_on_from_the_sizes_that_are_done(draft: Study) -> None:
    estimate, job = ask(draft)

    def until(done: int, total: int, message: str = "") -> None:
        if done == 5:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        jobs.power(until, **job.parameters)
    estimate.refresh_from_db()
    assert len(estimate.found) == 2 and estimate.completed_at is None
    seen: list[int] = []
    jobs.power(lambda done, total, message="": seen.append(done), **job.parameters)
    assert seen == [5, 6, 7, 8, 9, 10]
    estimate.refresh_from_db()
    assert (
        estimate.report["models"]["runs"] == 2
        and estimate.found[0] == estimate.report["planned"]
        and estimate.completed_at is not None
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"difference": 2}, "less than or equal to 0.5"),
        ({"people": 1}, "greater than or equal to 2"),
        ({"difference": 0.5, "bend": 0.1}, "No bend makes an area"),
        ({"runs": "many"}, "whole number"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_a_sentence(
    owner: Client, change: dict[str, Any], message: str
) -> None:
    reply = owner.post(PAGE, {**ASKED, **change})
    assert reply.status_code == 422 and message in reply.content.decode()
    assert not PowerEstimate.objects.exists() and not Job.objects.filter(kind=POWER).exists()


def test_a_viewer_reads_and_a_study_without_curves_says_so(owner: Client, draft: Study, client: Client) -> None:
    viewer = User.objects.create_user("vera")
    draft.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    page = client.get(PAGE).content.decode()
    assert "has not been simulated yet" in page and "<form method" not in page.split("<main")[1]
    assert client.post(PAGE, ASKED).status_code == 403
    judged = configuration(title="Judged", design={"sessions": 4, "validation": {"answers_per_picture": 2}})
    create_study(configuration=judged, by=User.objects.get(username="anna"))
    client.force_login(User.objects.get(username="anna"))
    assert "No curves to compare" in client.get("/studies/judged/design/power/").content.decode()
    assert "Simulate its power" not in client.get("/studies/judged/design/").content.decode()


def test_the_command_tells_power_and_sizes(draft: Study, tmp_path: Path) -> None:
    told, target = StringIO(), tmp_path / "power.json"
    options = ["--people=12", "--difference=0.3", "--image-sd=1", "--runs=2", f"--json={target}"]
    call_command("power", draft.slug, *options, stdout=told)
    report = json.loads(target.read_text())
    assert report == PowerEstimate.objects.get().report
    assert "a model that is exactly like people" in told.getvalue()
    assert "12 (planned)" in told.getvalue() and "Power 0.95: " in told.getvalue()
    with pytest.raises(CommandError, match="difference lies between 0.005 and 0.5"):
        call_command("power", draft.slug, "--difference=0")
    with pytest.raises(CommandError, match="no study"):
        call_command("power", "nowhere")


def test_the_command_plans_pictures_for_an_error_consistency(draft: Study, tmp_path: Path) -> None:
    told, target = StringIO(), tmp_path / "kappa.json"
    call_command("power", "--kappa=0.4", "--accuracies", "0.8", "0.7", f"--json={target}", stdout=told)
    report = json.loads(target.read_text())
    assert [one["wanted"] for one in report["sizes"]] == [0.8, 0.9, 0.95]
    assert all(one["reached"] >= one["wanted"] for one in report["sizes"])
    assert "pictures in common" in told.getvalue() and "Fisher's exact test" in told.getvalue()
    call_command("power", draft.slug, "--kappa", "0.6", "0.1", stdout=told)
    planned = planned_answers(draft)
    assert planned is not None and f"{planned.trials_each} (planned)" in told.getvalue()
    assert "alike only through the person" in " ".join(told.getvalue().split())
    for options, said in (
        (["--kappa=0.9", "--accuracies", "0.5", "0.9"], "it lies between"),
        ([draft.slug, "--kappa=0.4"], "no pictures of a corruption in common"),
        ([draft.slug, "--between=0.4"], "belongs to --kappa"),
        ([], "Name a study"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("power", *options)


def test_people_for_a_pair_stand_beside_what_the_plan_holds(stimulus_set: Any, client: Client) -> None:
    anna = User.objects.create_user("anna")
    design = {"sessions": 6, "main_trials": 0, "discrimination": {"trials": 12, "sentinels": 4, "practice": 2}}
    study = draft_study(by=anna, design=design)
    found = telling_apart(study)
    assert found is not None and found.pairs == 3
    assert (found.trials, found.people, found.trials_each, found.plain_each) == (24, 6, 4, 4)
    does = PlannedPairs(4, 4, bias=0.5)
    sixty = next(row for row in found.detect if row.share == 0.6)
    assert sixty.d_prime == d_prime_of(0.6, "same-different", "differencing")
    assert sixty.people == people_to_detect(sixty.d_prime, does, alpha=0.05 / 3)
    assert sixty.people is not None and sixty.trials == 4 * sixty.people and not sixty.is_planned
    assert found.equivalent.people == people_for_equivalence(does)
    client.force_login(anna)
    page = client.get(PAGE).content.decode()
    assert "Telling corruptions apart" in page and f"{sixty.people:,}</td>" in page and "too few" in page
    assert "No curves to compare" not in page and "hardest step of Holm&#x27;s rule over 3 pairs" in page
    assert "How many trials it takes" in client.get(DESIGN).content.decode()


def test_a_study_without_comparisons_says_nothing_of_them(owner: Client, draft: Study) -> None:
    assert telling_apart(draft) is None
    assert "Telling corruptions apart" not in owner.get(PAGE).content.decode()


def test_two_ways_to_find_alike_functions_stand_side_by_side(owner: Client, draft: Study, tmp_path: Path) -> None:
    found = two_ways(draft)
    assert found is not None
    planned = planned_answers(draft)
    assert planned is not None
    own, published, equivalent, different, binomial = found.rows
    assert (own.people, own.answers) == (planned.people, 2 * planned.trials_each * planned.people)
    # As published: 2,000 pictures x 5 people x 2 functions. At the paper's 2 s an answer 10,000 take 5.55 hours.
    assert published.answers == 20_000 and pytest.approx(5.55, abs=0.01) == 10_000 * 2 / 3600
    assert published.hours == pytest.approx(20_000 * found.naming_s / 3600)
    assert published.pay_cents == round(published.hours * found.hourly_cents)
    does = PlannedPairs(20, 16, bias=0.5)
    assert equivalent.people == people_for_equivalence(does) and equivalent.answers == 36 * equivalent.people
    assert different.people == people_to_detect(d_prime_of(0.8, "same-different", "differencing"), does)
    # "Significance in less than a minute": some twenty trials of about 3 s.
    assert binomial.answers == trials_to_find(0.8) and binomial.hours * 60 < 1.5
    assert binomial.shows.endswith("never alike")
    page = owner.get(PAGE).content.decode()
    assert "Two ways to find functions that are alike" in page and "20,000</td>" in page
    told, target = StringIO(), tmp_path / "ways.json"
    call_command("power", draft.slug, "--ways", f"--json={target}", stdout=told)
    assert "5.55 hours are its 10,000 answers" in told.getvalue()
    assert json.loads(target.read_text()) == json.loads(json.dumps(found.to_dict()))
    assert not PowerEstimate.objects.exists(), "nothing is simulated for it"


def test_studies_that_judge_pictures_compare_no_functions(owner: Client) -> None:
    judged = configuration(title="Judged", design={"sessions": 4, "validation": {"answers_per_picture": 2}})
    study = create_study(configuration=judged, by=User.objects.get(username="anna"))
    assert two_ways(study) is None
    with pytest.raises(CommandError, match="compares no corruption functions"):
        call_command("power", study.slug, "--ways")
