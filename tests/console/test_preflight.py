from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.study.study import StudyConfiguration
from humanexp.console.models import Preflight
from humanexp.console.preflight import operation, terms
from humanexp.console.preflight.check import (
    Launch,
    fingerprint_of,
    refuse,
    request_preflight,
    run_preflight,
    standing_of,
)
from humanexp.console.preflight.operation import _framing
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, StudyRefused
from humanexp.core.models import AuditEvent, User
from humanexp.core.storage import media_path
from humanexp.entry.pages import preview_entry
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.ledger.budgets import set_month_cap
from humanexp.ledger.terms import suggested_terms
from humanexp.participation.models import Preview, RefusedCall, Response, Session
from humanexp.recruiters import money
from humanexp.recruiters.memory import Memory, MemoryRecruiter
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.money import FeeTable, quote, terms_of
from humanexp.recruiters.registry import registered
from humanexp.recruiting import approvals, launch
from humanexp.recruiting.approvals import renew_approval, withdraw_approval
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies import services
from humanexp.studies.models import Study
from humanexp.studies.plans import planned_stimuli
from tests.factories import configuration, draft_study, make_stimulus_set, png

DESIGN = {
    "sessions": 4, "main_trials": 2, "minimum_main_trials": 1, "practice_trials": 1, "gold_trials": 1,
    "negative_trials": 0, "consistency_pairs": 1, "clean_trials": 1,
}  # fmt: skip


@pytest.fixture
def user(transactional_db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def study(user: User, live_server: Any, settings: Any, monkeypatch: Any) -> Study:
    settings.PUBLIC_URL = live_server.url
    make_stimulus_set()
    return draft_study(by=user, design=DESIGN, recruitment={"contact": "lab@example.org"})


@pytest.fixture
def account() -> Iterator[MemoryRecruiter]:
    """Of a recruiter that pays, in this process."""
    kind = Memory()
    with registered(kind):
        yield kind.of()


def line(made: Preflight, key: str) -> dict[str, str]:
    return next(entry for entry in made.lines if entry["key"] == key)


def test_a_study_that_works_is_green_and_leaves_no_row(study: Study, user: User) -> None:
    made = run_preflight(study=study, to="link", by=user)
    assert made.faults == [], made.faults
    assert made.is_green
    dry = line(made, "dry-run")
    assert dry["tone"] == "good" and dry["detail"].startswith("2 sessions were taken to their end")
    assert "4 sessions are free" in line(made, "plan")["detail"] or line(made, "plan")["tone"] == "warn"
    assert line(made, "contact")["tone"] == "good"
    assert line(made, "job-runner")["tone"] == "warn"  # nobody runs jobs in this test
    for table in (Session, Response, Preview, Campaign, RefusedCall):
        assert not table.objects.exists()
    event = AuditEvent.objects.get(action="preflight")
    assert (event.by, event.study, event.facts["is_green"]) == (user, study.slug, True)


STATED = {"purpose": "To see.", "storage": "Here.", "retention": "A year.", "controller": "We.", "responsible": "Ada."}


def with_blocks(study: Study, **ethics: str) -> Study:
    """As the newest version of the study file makes it."""
    study.configuration |= {"spec": StudyConfiguration.VERSION, "ethics": ethics}
    study.save()
    return study


def test_people_from_outside_are_invited_only_to_a_study_that_states_its_blocks(study: Study, settings: Any) -> None:
    with_blocks(study, **STATED)
    settings.PUBLIC_URL = "https://lab.example.org"
    for to in ("link", "marketplace", "production"):
        found = terms.ethics(Launch(study=study, to=to))
        assert (found.severity, found.text) == ("bad", "The table [ethics] of the study lacks: approval.")
        assert found.remedy and found.url == reverse("studies:change", args=[study.slug])
    assert terms.ethics(Launch(study=study, to="sandbox")).severity == "warn"
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    assert terms.ethics(Launch(study=study, to="link")).severity == "warn", "a rehearsal on this machine"
    with_blocks(study, **STATED, approval="Exempt, says the board.")
    settings.PUBLIC_URL = "https://lab.example.org"
    assert terms.ethics(Launch(study=study, to="production")).severity == "good"


def test_scripted_participants_need_no_blocks(study: Study, settings: Any) -> None:
    settings.PUBLIC_URL = "https://lab.example.org"
    assert terms.ethics(Launch(study=study, to="production")).severity == "bad"
    with_blocks(study).population = "scripted"
    assert terms.ethics(Launch(study=study, to="production")).severity == "good"


def test_an_approval_that_is_over_makes_the_check_red_wherever_people_come_from(study: Study) -> None:
    with_blocks(study, approved_until="2020-01-31")
    for to in ("link", "marketplace", "sandbox", "production"):
        found = terms.approval(Launch(study=study, to=to))
        assert found.severity == "bad" and "ended on 31 January 2020" in found.text
    renew_approval(study=study, until=None, by=None)
    assert terms.approval(Launch(study=study, to="link")).severity == "good"
    withdraw_approval(study=study, by=None)
    assert "withdrawn" in terms.approval(Launch(study=study, to="link")).text


def test_a_launch_wants_a_green_check_that_still_holds(study: Study, user: User, monkeypatch: Any) -> None:
    with pytest.raises(StudyRefused, match="nothing has been tried out yet"):
        publish(study=study, terms=LaunchTerms(to="link", assignments=1), by=user)
    assert run_preflight(study=study, to="link", by=user).is_green
    with pytest.raises(StudyRefused, match="Run the pre-flight check for own marketplace first"):
        publish(study=study, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=10), by=user)
    newest = Preflight.objects.get()
    Preflight.objects.filter(pk=newest.pk).update(ended_at=newest.ended_at - timedelta(days=2))
    with pytest.raises(StudyRefused, match="more than a day old"):
        publish(study=study, terms=LaunchTerms(to="link", assignments=1), by=user)
    Preflight.objects.filter(pk=newest.pk).update(ended_at=newest.ended_at)
    assert not publish(study=study, terms=LaunchTerms(to="link", assignments=1), by=user).capabilities.vouches


def test_a_launch_costs_no_more_than_the_account_held_at_the_check(study: Study) -> None:
    now = clock.now()
    Preflight.objects.create(
        study=study, to="marketplace", began_at=now, ended_at=now, is_green=True,
        fingerprint=fingerprint_of(study, "marketplace"), balance_cents=120,
    )  # fmt: skip
    fee = FeeTable(base_percent=20, large_hit_percent=0, masters_percent=0, minimum_cents=1)
    affordable = quote(terms_of(reward_cents=100, assignments=1, per_hit=1), fees=fee)
    assert affordable.total_cents == 120
    assert refuse(study=study, to="marketplace", price=affordable) == ""
    dearer = quote(terms_of(reward_cents=101, assignments=1, per_hit=1), fees=fee)
    assert "costs $1.21, and at the check the account held $1.20" in refuse(study=study, to="marketplace", price=dearer)


def test_an_account_that_may_not_spend_so_much_this_month_is_named_before_the_launch(
    study: Study, account: MemoryRecruiter
) -> None:
    set_month_cap(environment="memory", cap_cents=119, by=None)
    launch = Launch(study=study, to="memory")
    total = launch.price.total_cents
    assert 119 < total < account.balance_cents()
    found = operation.account(launch)
    places = launch.price.assignments
    assert (found.severity, found.url) == ("bad", reverse("console:account", args=["memory"]))
    assert found.text == (
        f"The account may spend $1.19 more this month; all {places} places cost {money.shown(total, 'USD')} with fees."
    )
    set_month_cap(environment="memory", cap_cents=total, by=None)
    assert operation.account(launch).severity == "good", "just enough"
    set_month_cap(environment="memory", cap_cents=None, by=None)
    assert operation.account(launch).severity == "good"


def test_a_change_of_study_stimuli_or_recruiter_makes_the_result_stale(study: Study, settings: Any) -> None:
    run_preflight(study=study, to="link")
    assert standing_of(study, "link").name == "green"
    seen = {fingerprint_of(study, "link")}
    services.revise_study(study=study, configuration=configuration(design=DESIGN, seed=7))
    assert standing_of(study, "link").name == "stale"
    seen.add(fingerprint_of(study, "link"))
    Study.objects.filter(pk=study.pk).update(stimulus_set=make_stimulus_set("others"))
    study.refresh_from_db()
    seen.add(fingerprint_of(study, "link"))
    settings.PUBLIC_URL = "https://elsewhere.example"
    seen.add(fingerprint_of(study, "link"))
    assert len(seen) == 4


def test_a_changed_picture_is_found_and_its_line_says_what_to_do(study: Study) -> None:
    files = {
        file: media_path(file).read_bytes()
        for file in study.stimulus_set.stimuli.filter(key__in=planned_stimuli(study)).values_list("file", flat=True)
    }
    try:
        for file in files:
            media_path(file).write_bytes(png(90_000))
        made = run_preflight(study=study, to="link")
    finally:
        for file, content in files.items():
            media_path(file).write_bytes(content)
    found = line(made, "stimuli")
    assert found["tone"] == "bad" and "was changed" in found["detail"]
    assert found["url"] == reverse("stimuli:stimulus_sets") and "backup" in found["remedy"]
    assert line(made, "dry-run")["tone"] == "bad"  # bytes that nobody knows
    assert standing_of(study, "link").name == "red"
    assert not Preview.objects.exists()
    with pytest.raises(StudyRefused, match="things to put right first, the first: Stimuli"):
        publish(study=study, terms=LaunchTerms(to="link", assignments=1))


def test_without_a_server_the_entry_page_and_the_dry_run_fail(study: Study, settings: Any) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:9"
    made = run_preflight(study=study, to="link")
    assert {entry["key"] for entry in made.faults} == {"entry-page", "dry-run"}
    assert "Start the web server" in line(made, "entry-page")["remedy"]


def test_amazon_wants_https_keys_and_a_runner(study: Study, settings: Any, monkeypatch: Any) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    settings.MTURK_SANDBOX_URL = "http://127.0.0.1:9"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    made = run_preflight(study=study, to="sandbox")
    assert {"address", "clocks", "account", "job-runner"} <= {entry["key"] for entry in made.faults}


def test_a_header_that_a_proxy_adds_is_named(study: Study) -> None:
    class Reply:
        headers = {"X-Frame-Options": "DENY"}

    launch = Launch(study=study, to="marketplace")
    said = _framing(launch, Reply())  # type: ignore[arg-type]
    assert said.severity == "bad" and "X-Frame-Options: DENY" in said.text
    Reply.headers = {"Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'"}
    said = _framing(launch, Reply())  # type: ignore[arg-type]
    assert said.severity == "bad" and "may be framed by 'none'" in said.text


def test_the_entry_page_of_no_campaign_is_shown_and_opens_nothing(study: Study, client: Client) -> None:
    name = preview_entry(study=study, to="marketplace")
    page = client.get(f"/take/{name}/")
    assert page.status_code == 200 and study.title in page.content.decode()
    assert "frame-ancestors http://localhost:8001" in page["Content-Security-Policy"]
    opened = client.post(f"/take/{name}/open/", {"consent": True}, content_type="application/json")
    assert opened.status_code == 404
    assert client.get(f"/take/{name}x/").status_code == 404
    assert not Session.objects.exists() and not Campaign.objects.exists()


def test_the_page_runs_the_check_as_a_job_and_leads_on(study: Study, user: User, client: Client) -> None:
    client.force_login(user)
    address = reverse("console:preflight", args=[study.slug]) + "?to=link"
    assert 'data-preflight="none"' in client.get(address).content.decode()
    assert client.post(address, {"to": "link"}).status_code == 302
    request_preflight(study=study, to="link", by=user)
    job = Job.objects.get()  # asked twice, one job
    assert "Waits for the job runner, which is silent" in client.get(address).content.decode()
    runner.run_waiting(kinds=[job.kind])
    job.refresh_from_db()
    assert job.state == JobState.DONE and job.done == job.total > 8
    body = client.get(address).content.decode()
    assert 'data-preflight="green"' in body and "data-launch" in body and 'data-check="dry-run"' in body
    assert f"/studies/{study.slug}/recruit/?to=link" in body
    partial = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in partial and 'id="preflight"' in partial


def test_the_commands_check_and_refuse(study: Study, capsys: Any, settings: Any) -> None:
    with pytest.raises(CommandError, match="Run the pre-flight check"):
        call_command("publish", study.slug, to="link", assignments=1)
    call_command("preflight", study.slug, to="link")
    assert "green: " in capsys.readouterr().out
    call_command("publish", study.slug, to="link", assignments=1)
    settings.PUBLIC_URL = "https://study.example"
    reward = suggested_terms(study).reward_cents
    price = launch.quote(to="production", assignments=1, reward_cents=reward).total_cents
    with pytest.raises(InvalidRequest, match="cannot be skipped"):
        publish(
            study=study,
            terms=LaunchTerms(to="production", assignments=1),
            confirm_total_cents=price,
            skip_preflight=True,
        )


def test_scripted_participants_are_let_onto_our_own_grounds_unchecked(user: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(approvals, "GATES", [refuse])
    make_stimulus_set()
    scripted = draft_study(by=user, design=DESIGN, population="scripted")
    assert not publish(study=scripted, terms=LaunchTerms(to="link", assignments=1)).capabilities.vouches
    assert not approvals.is_asked(scripted, "link") and approvals.is_asked(scripted, "sandbox")
