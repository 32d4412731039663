"""Everything about one person can be handed to them, or deleted; ids go after their time, and answers stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import models
from django.test import Client
from django.urls import reverse

from humanexp.core import clock
from humanexp.core.errors import Conflict, NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.core.personal_data import WITHHELD
from humanexp.ledger import sender
from humanexp.ledger.reconciliation import reconcile
from humanexp.ledger.settlement import settle
from humanexp.participation.models import Participant, Response, Session
from humanexp.recruiters.models import Assignment, Exclusion, RecruitedPerson
from humanexp.recruiters.people import is_excluded
from humanexp.recruiting.extension import stop
from humanexp.recruiting.personal_data import (
    delete_participant,
    forget_by_policies,
    forget_ids,
    holdings,
    personal_data,
    take_personal_data,
)
from humanexp.recruiting.polling import sync
from humanexp.studies import services
from humanexp.studies.models import Study, StudyMembership
from tests.factories import new_session
from tests.recruitment.studies import make_study

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "operate" / "data-protection.md"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def researcher(study: Study) -> User:
    made = User.objects.create_user("ada", password="x")
    study.memberships.create(user=made, role="owner")
    return made


def send() -> None:
    sender.send(environment="marketplace")


@pytest.fixture
def paid(launch: Callable[..., Any], new_worker: Callable[..., Any]) -> Any:
    """A person who did a study, and was paid for it; another one is under way."""
    campaign, worker = launch(), new_worker()
    worker.do(campaign)
    sync(study=campaign.study)
    settle(study=campaign.study)
    send()
    return campaign, worker


def another_study() -> Study:
    return services.start_collecting(study=make_study("other"))


def later(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(days=days))


class TestACopy:
    def test_it_holds_the_id_the_answers_and_the_pay_and_nothing_of_others(self, paid: Any) -> None:
        campaign, worker = paid
        stranger = new_session(another_study(), code="P-STRANGER00")
        code = Participant.objects.exclude(code="P-STRANGER00").get().code
        data = personal_data(code)
        text = json.dumps(data.to_dict(), default=str)
        assert worker.worker_id in text and stranger.code not in text and "P-STRANGER00" not in text
        assert [row["response"] for row in data.rows["experiments_response"]] == list(
            Response.objects.filter(session__participant__code=code).values_list("response", flat=True)
        )
        assert {row["kind"] for row in data.rows["recruitment_call"]} == {"grant", "reward"}
        assert [one.slug for one in data.studies] == [campaign.study.slug]

    def test_no_right_answer_and_no_secret_is_in_it(self, paid: Any) -> None:
        code = Participant.objects.get().code
        session = Session.objects.get()
        data = personal_data(code)
        names = {name for rows in data.rows.values() for row in rows for name in row}
        assert not names & WITHHELD
        assert session.token_nonce not in json.dumps(data.to_dict(), default=str)

    def test_what_opens_something_is_withheld_wherever_it_stands(self) -> None:
        """Written by hand: a new field about people that sounds like a secret is named here or withheld."""
        fields = {name for one in holdings()["participants"] for name in one.fields}
        sounding = {name for name in fields if re.search("nonce|token|secret|hash|key$|lease|correct", name)}
        assert sounding - WITHHELD == {
            "key",  # of a difference between two books: campaign and assignment
            "token",  # by which a recruiter takes a write once
        }

    def test_the_command_writes_a_file_that_is_not_there_yet(self, paid: Any, tmp_path: Path) -> None:
        code = Participant.objects.get().code
        file = tmp_path / "copy.json"
        call_command("personal_data", code, to=file)
        told = json.loads(file.read_text())
        assert told["participant"] == code and len(told["tables"]["experiments_response"]) == 3
        assert AuditEvent.objects.get(action="take-personal-data").subject == f"participant:{code}"
        with pytest.raises(CommandError, match="does not exist"):
            call_command("personal_data", code, to=file)


class TestTheMap:
    def test_every_table_that_leads_to_a_person_is_in_the_document(self, capsys: pytest.CaptureFixture[str]) -> None:
        call_command("personal_data")
        assert capsys.readouterr().out.strip() in DOCUMENT.read_text(encoding="utf-8"), (
            "python manage.py personal_data prints the tables: put them there"
        )

    def test_tables_of_text_without_a_key_to_a_person_are_named_by_hand(self) -> None:
        """A free text, or JSON, may hold anything: each such table leads to people or is listed in the document."""
        listed = {one.table for some in holdings().values() for one in some}
        kinds = (models.TextField, models.JSONField)
        others = {
            model._meta.db_table
            for model in apps.get_models()
            if model._meta.db_table not in listed
            and any(isinstance(field, kinds) for field in model._meta.concrete_fields)
            and not model._meta.app_label.startswith(("auth", "sessions", "contenttypes", "admin"))
        }
        document = DOCUMENT.read_text(encoding="utf-8")
        assert {table for table in others if f"`{table}`" not in document} == set()


class TestThePage:
    def url(self, name: str = "person") -> str:
        session = Session.objects.get()
        return reverse(f"recruitment:{name}", args=[session.study.slug, session.participant.code])

    def test_it_tells_hands_out_and_deletes(self, paid: Any, researcher: User) -> None:
        campaign, worker = paid
        code = Participant.objects.get().code
        client = Client()
        client.force_login(researcher)
        page = client.get(self.url()).text
        assert code in page and worker.worker_id not in page and "3 answers" in page
        copy = client.post(self.url("person-json"))
        assert copy["Content-Disposition"] == f'attachment; filename="{code}.json"'
        assert worker.worker_id in copy.text
        refused = client.post(self.url(), {"code": "P-ANOTHER"})
        assert refused.status_code == 400 and "nothing was deleted" in refused.text
        assert Participant.objects.exists()
        assert client.post(self.url(), {"code": code.lower()}).status_code == 302
        assert not Participant.objects.exists()
        assert AuditEvent.objects.filter(action="delete-participant", by=researcher).exists()

    def test_who_is_owed_something_stays(
        self, launch: Callable[..., Any], new_worker: Callable[..., Any], researcher: User
    ) -> None:
        campaign = launch()
        new_worker().do(campaign)
        sync(study=campaign.study)
        client = Client()
        client.force_login(researcher)
        assert "has not been paid yet" in client.get(self.url()).text
        assert client.post(self.url(), {"code": Participant.objects.get().code}).status_code == 400
        assert Participant.objects.exists()

    def test_of_a_person_of_two_studies_an_owner_of_one_deletes_and_takes_nothing(
        self, paid: Any, researcher: User
    ) -> None:
        campaign, _worker = paid
        other = another_study()
        participant = Participant.objects.get()
        new_session(other, code=participant.code)
        StudyMembership.objects.filter(study=other, user=researcher).delete()
        for act in (delete_participant, take_personal_data):
            with pytest.raises(NotAllowed, match="other"):
                act(code=participant.code, by=researcher)
        assert Participant.objects.filter(pk=participant.pk).exists()

    def test_nobody_reads_of_a_person_of_another_study(self, paid: Any, researcher: User) -> None:
        stranger = new_session(another_study(), code="P-STRANGER00")
        campaign, _worker = paid
        client = Client()
        client.force_login(researcher)
        address = reverse("recruitment:person", args=[campaign.study.slug, stranger.participant.code])
        assert client.get(address).status_code == 404


class TestForgetting:
    def test_the_id_goes_and_the_answers_and_the_ban_on_a_second_time_stay(
        self, paid: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        campaign, worker = paid
        family = campaign.study.family
        stop(study=campaign.study)
        send()
        later(monkeypatch, 31)
        before = forget_ids(family=family, days=30, dry_run=True)
        assert (before.erased, RecruitedPerson.objects.count()) == (1, 1), "a dry run erases nothing"
        assert forget_ids(family=family, days=30).erased == 1
        assert not RecruitedPerson.objects.exists() and Response.objects.count() == 3
        assert is_excluded(family, environment=campaign.environment, worker_id=worker.worker_id)
        assert worker.worker_id not in json.dumps(personal_data(Participant.objects.get().code).to_dict(), default=str)
        sync(study=campaign.study)
        assert not RecruitedPerson.objects.exists(), "polling does not bring it back"
        assert reconcile(environment=campaign.environment)[0].adds_up

    def test_not_while_the_family_recruits(self, paid: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        later(monkeypatch, 31)
        with pytest.raises(Conflict, match="still recruits"):
            forget_ids(family=paid[0].study.family, days=30)
        assert RecruitedPerson.objects.count() == 1

    def test_not_of_who_was_here_lately(self, paid: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        stop(study=paid[0].study)
        send()
        later(monkeypatch, 29)
        done = forget_ids(family=paid[0].study.family, days=30)
        assert (done.erased, done.recent) == (0, 1) and RecruitedPerson.objects.count() == 1

    def test_not_of_who_is_owed_something(
        self, launch: Callable[..., Any], new_worker: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        campaign = launch()
        new_worker().do(campaign)
        sync(study=campaign.study)
        stop(study=campaign.study)
        later(monkeypatch, 31)
        done = forget_ids(family=campaign.study.family, days=30)
        assert (done.erased, done.owed) == (0, 1) and RecruitedPerson.objects.count() == 1

    @pytest.mark.parametrize(("ahead", "days", "left"), [(400, 31, 0), (-400, 29, 1)])
    def test_a_recruiters_wrong_clock_moves_no_day(
        self, paid: Any, ahead: int, days: int, left: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stop(study=paid[0].study)
        send()
        Session.objects.update(submitted_at=clock.now() + timedelta(days=ahead))
        later(monkeypatch, days)
        forget_ids(family=paid[0].study.family, days=30)
        assert RecruitedPerson.objects.count() == left

    @pytest.mark.parametrize(("days", "left"), [(0, 1), (30, 0), (90, 1)])
    def test_a_study_says_after_how_many_days(
        self, paid: Any, days: int, left: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = paid[0].study
        study.configuration = {**study.configuration, "ethics": {"ids_kept_days": days}}
        study.save(update_fields=["configuration"])
        stop(study=study)
        send()
        later(monkeypatch, 31)
        forget_by_policies()
        assert RecruitedPerson.objects.count() == left
        assert Exclusion.objects.count() == 1 - left

    def test_the_command_says_first_what_would_go(self, paid: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        family = paid[0].study.family.slug
        stop(study=paid[0].study)
        send()
        later(monkeypatch, 31)
        with pytest.raises(CommandError, match="Nothing was erased"):
            call_command("forget_ids", family, after=30)
        assert RecruitedPerson.objects.count() == 1
        call_command("forget_ids", family, after=30, yes=True)
        assert not RecruitedPerson.objects.exists() and Assignment.objects.get().person is None
