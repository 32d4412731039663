"""People as the oracle: rounds, verdicts, the next step, and the fall back to the picture before."""

from __future__ import annotations

import hashlib
import shutil
from threading import Lock
from typing import Any

import pytest
from django.core.management import call_command

from analysis.examples import folder_of
from analysis.study.validation import IS_ONE
from humanexp.core.errors import CapExceeded, Conflict
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import Round, RoundState, SearchRun
from humanexp.counterfactuals.selectors import verdicts_on
from humanexp.counterfactuals.services import searches
from humanexp.counterfactuals.services.rounds import publish_round, start_round
from humanexp.counterfactuals.services.searches import create_search
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.participation.models import Response
from humanexp.participation.openings import Agreement, open_session, scripted_participant
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms
from humanexp.screening.services import judge_study
from humanexp.studies import services
from tests.counterfactuals.test_search import done

pytestmark = pytest.mark.usefixtures("open_gates")


@pytest.fixture
def run(order) -> SearchRun:
    """Noise in half steps of its domain: not seen, half way, nothing left to see."""
    made, job = create_search(
        **order(
            name="judged", generator="corruption:gaussian_noise,step=0.5", oracle="crowd:", size_px=112, pictures=5,
            population="scripted", answers_per_picture=2, cap_cents=5000, batch=3,
        )
    )  # fmt: skip
    assert done(job).state == JobState.DONE, job.error
    return made


def judge(one: Round, refuse: set[str]) -> None:
    """People answer every trial of a round: what they know is right, and new pictures by the key of the original."""
    study = one.study
    if study.state == "draft":
        services.start_collecting(study=study)
    for _ in range(study.planned_sessions):
        participant = scripted_participant(family=study.family)
        session = open_session(study=study, participant=participant, scripted=True, agreement=Agreement(version="1"))
        for trial in session.trials.select_related("stimulus__source_image").order_by("position"):
            says = trial.correct_response or ("no-no" if trial.stimulus.source_image.key in refuse else IS_ONE)
            _store(session, trial, says)
        session.refresh_from_db()
        assert session.state == "completed"
    judge_study(study)


def _store(session: Any, trial: Any, response: str) -> None:
    from humanexp.core import clock
    from humanexp.participation.models import Response, Session

    Response.objects.create(
        session=session, trial=trial, position=trial.position, response=response, is_scripted=True, rt_ms=900.0,
        received_at=clock.now(), correct=(response == trial.correct_response) if trial.correct_response else None,
    )  # fmt: skip
    last = session.trials.order_by("-position").first()
    if trial.position == last.position:
        Session.objects.filter(pk=session.pk).update(
            state="completed", cursor=trial.position + 1, completed_at=clock.now()
        )


def test_a_tie_is_no_acceptance(run) -> None:
    """Both people answer every picture; one of them refuses one picture."""
    first = run.rounds.get(step=0)
    key = sorted(first.stimuli)[0]
    judge(first, refuse=set())
    votes = Response.objects.filter(
        session__study=first.study,
        trial__role__in=("main", "consistency_first"),
        trial__stimulus__source_image__key=key,
        response=IS_ONE,
    )
    Response.objects.filter(pk=votes.order_by("pk").first().pk).update(response="no-no")
    found = verdicts_on(first).by_key
    assert found[key] == {"yes": 1, "n": 2, "accepted": False}
    assert all(one["accepted"] for name, one in found.items() if name != key)


def step(one: Round) -> None:
    job = start_round(one=one)
    assert done(job).state == JobState.DONE, job.error


def test_a_round_is_a_study_of_validation_about_the_pictures_of_a_step(run) -> None:
    (first,) = run.rounds.all()
    assert (first.step, first.state, len(first.stimuli)) == (0, RoundState.OPEN, 5)
    study = first.study
    assert study.is_validation and study.population == "scripted" and study.family.slug == "judged-rounds"
    shown = {(trial["stimulus"]) for trial in _planned(study) if trial["role"] in ("main", "consistency_first")}
    assert shown == set(first.stimuli.values())
    for row in study.stimulus_set.stimuli.all():
        assert hashlib.sha256(media_path(row.file).read_bytes()).hexdigest() == row.sha256


def _planned(study: Any) -> list[dict[str, str]]:
    from tests.factories import whole_plan

    return [
        {"stimulus": trial.stimulus, "role": trial.role}
        for session in whole_plan(study).sessions
        for trial in session.trials
    ]


def test_refused_pictures_fall_back_to_their_predecessor(run) -> None:
    first = run.rounds.get(step=0)
    keys = sorted(first.stimuli)
    judge(first, refuse={keys[0]})
    assert verdicts_on(first).by_key[keys[0]] == {"yes": 0, "n": 2, "accepted": False}
    step(first)
    first.refresh_from_db()
    assert first.state == RoundState.JUDGED and first.verdicts[keys[1]]["accepted"]

    second = run.rounds.get(step=1)
    assert sorted(second.stimuli) == keys[1:]
    made = run.counterfactuals.select_related("source_image", "run")
    kept = {one.source_image.key: one.sha256 for one in made}
    judge(second, refuse={keys[1]})
    step(second)
    refused = made.get(source_image__key=keys[1])
    assert (refused.ending, refused.accepted_steps, refused.sha256) == ("refused", 0, kept[keys[1]])
    # The file is the one that people accepted a step before.
    content = media_path(refused.kept_file).read_bytes()
    assert content == media_path(f"{run.folder}/rounds/0/{keys[1]}.png").read_bytes()
    assert made.get(source_image__key=keys[0]).valid is False

    third = run.rounds.get(step=2)
    # Three pictures are too few for a session: a fourth is shown beside them, and nobody counts it.
    assert sorted(third.stimuli) == keys[2:]
    assert third.study.stimulus_set.stimuli.filter(corruption="counterfactual").count() == 4
    judge(third, refuse=set())
    step(third)
    run.refresh_from_db()
    assert run.completed_at is not None and run.rounds.count() == 3
    assert [one.accepted_steps for one in made.all() if one.valid].count(2) == 3
    assert run.scores["pooled"]["n_valid"] == 4
    with pytest.raises(Conflict, match="judged already"):
        start_round(one=Round.objects.get(pk=third.pk))


def test_a_search_does_not_go_on_against_another_network_than_it_began_with(order, tmp_path) -> None:
    for suffix in (".pt2", ".json"):
        shutil.copy(folder_of("classifiers") / f"clean{suffix}", tmp_path / f"model{suffix}")
    made, job = create_search(
        **order(
            name="judged", classifier=f"export:{tmp_path / 'model.pt2'}", oracle="crowd:", size_px=112, pictures=5,
            population="scripted", answers_per_picture=1, batch=5,
        )
    )  # fmt: skip
    assert done(job).state == JobState.DONE, job.error
    made.refresh_from_db()
    before = made.digests
    judge(made.rounds.get(), set())
    shutil.copy(folder_of("classifiers") / "robust.pt2", tmp_path / "model.pt2")
    job = start_round(one=made.rounds.get())
    assert done(job).state == JobState.FAILED and "another one than when its first round was made" in job.error
    made.refresh_from_db()
    assert made.digests == before and made.rounds.count() == 1


def test_missing_answers_are_waited_for(run) -> None:
    first = run.rounds.get(step=0)
    assert start_round(one=first, only_complete=True) is None
    with pytest.raises(Conflict, match="5 of 5 pictures of judged, step 0 have no answer"):
        start_round(one=first)
    runner.run_waiting(kinds=["counterfactuals.look"])
    assert not Job.objects.filter(kind=searches.ROUND_KIND).exists()
    judge(first, refuse=set())
    from humanexp.jobs.services import submit

    submit("counterfactuals.look")
    runner.run_waiting(kinds=["counterfactuals.look"])
    assert Job.objects.filter(kind=searches.ROUND_KIND).count() == 1


def test_rounds_stay_within_their_cap(run) -> None:
    first = run.rounds.get(step=0)
    with pytest.raises(CapExceeded, match="may cost"):
        publish_round(one=first, terms=LaunchTerms(to="marketplace", reward_cents=5000))
    campaign = publish_round(one=first, terms=LaunchTerms(to="link"))
    assert campaign.assignments == first.study.planned_sessions


def test_the_next_round_is_published_like_the_last_within_the_cap(run) -> None:
    first = run.rounds.get(step=0)
    publish_round(one=first, terms=LaunchTerms(to="link"))
    judge(first, refuse=set())
    step(first)
    second = run.rounds.get(step=1)
    assert [campaign.environment for campaign in Campaign.objects.filter(study=second.study)] == ["link"]
    # What the last round cost is more than the cap leaves: the next one waits, and the job says why.
    SearchRun.objects.filter(pk=run.pk).update(cap_cents=1)
    Campaign.objects.filter(study=second.study).update(quoted_cents=50, cap_cents=50)
    judge(second, refuse=set())
    job = start_round(one=run.rounds.get(step=1))
    done(job)
    assert "may cost $0.01 together" in job.result["waits"]
    third = run.rounds.get(step=2)
    assert third.state == RoundState.OPEN and not Campaign.objects.filter(study=third.study).exists()


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's server has one connection for all its threads: two requests at once would share a transaction."""
    from humanexp.simulation.participant import PatientConnection

    turn, request = Lock(), PatientConnection.request

    def wait_and_request(self: Any, method: str, url: str, **arguments: Any) -> Any:
        with turn:
            return request(self, method, url, **arguments)

    monkeypatch.setattr(PatientConnection, "request", wait_and_request)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("one_at_a_time")
def test_scripted_people_judge_over_http(live_server: Any, settings: Any, order) -> None:
    settings.PUBLIC_URL = live_server.url
    run, job = create_search(
        **order(
            name="http", generator="corruption:gaussian_noise,step=0.5", oracle="crowd:", size_px=112, pictures=6,
            population="scripted", answers_per_picture=3,
        )
    )  # fmt: skip
    done(job)
    publish_round(one=run.rounds.get(step=0), terms=LaunchTerms(to="link"))
    while run.completed_at is None:
        latest = run.rounds.latest("step")
        call_command("simulate", latest.study.slug, participants=3, mix={"careful": 1.0}, seed=3)
        judge_study(latest.study)
        job = start_round(one=latest, only_complete=True)
        assert job is not None and done(job).state == JobState.DONE
        run.refresh_from_db()
    made = list(run.counterfactuals.select_related("source_image"))
    # The noise is as strong as the model likes it least: in some the object can still be seen, in others nothing.
    assert all(one.valid for one in made) and any(one.ending == "refused" for one in made)
    voted = run.rounds.get(step=1).verdicts
    assert {one.source_image.key: one.accepted_steps > 0 for one in made} == {
        key: bool(votes["accepted"]) for key, votes in voted.items()
    }
    assert all(votes["n"] == 3 for votes in voted.values())
    assert sum(votes["accepted"] for votes in voted.values()) >= 3
