"""Who may take part, at the recruiter and at our own door: against a real marketplace process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analysis.errors import InvalidInput
from analysis.study.terms import WorkerRequirements
from humanexp.core.errors import InvalidRequest, NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.ledger import sender
from humanexp.ledger.models import MARKS, Call
from humanexp.ledger.outbox import plan_grant
from humanexp.participation.models import Session
from humanexp.recruiters.models import Assignment, Campaign, Exclusion, QualificationType, RecruitedPerson
from humanexp.recruiters.people import (
    exclude_family,
    exclude_people,
    exclusion_code,
    exclusions,
    is_excluded,
    lift_exclusion,
    participant_hashes,
)
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Role, StudyFamily
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.studies import Visitor, make_study
from tests.recruitment.workers import Worker

Launch = Callable[..., Campaign]
NewWorker = Callable[[], Worker]


def send() -> Any:
    return sender.send(environment="marketplace")


def sees(worker: Worker, campaign: Campaign) -> bool:
    return any(group["hit_type_id"] == campaign.hit_type_id for group in worker.client.groups())


@pytest.fixture
def ada(transactional_db: None) -> User:
    return User.objects.create_user("ada", password="x")


class TestTookPart:
    def test_once_listed_nobody_sees_the_study_twice(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign, worker, other = launch(assignments=4, assignments_per_hit=2), new_worker(), new_worker()
        visitor = worker.accept(campaign)
        visitor.open()
        assert send().told == 0  # until the recruiter names them, anybody can have typed that id
        assert sees(worker, campaign)  # the second HIT
        worker.submit(visitor, visitor.answer_all()["receipt"])
        assert sync(study=campaign.study).submitted == 1
        assert send().told == 1
        assert not sees(worker, campaign)
        assert sees(other, campaign)

    @pytest.mark.parametrize("fault", ["drop_after_commit", "drop_before"])
    def test_a_lost_reply_marks_them_all_the_same(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, fault: str
    ) -> None:
        campaign, worker = launch(), new_worker()
        worker.do(campaign)
        sync(study=campaign.study)
        marketplace.arm("AssociateQualificationWithWorker", fault)
        assert send().told == 0
        assert send().told == 1
        assert not sees(worker, campaign)

    def test_it_goes_for_the_whole_family_and_for_a_campaign_made_later(
        self, launch: Launch, new_worker: NewWorker, study: Any
    ) -> None:
        campaign, worker = launch(), new_worker()
        worker.do(campaign)
        sync(study=campaign.study)
        send()
        sister = make_study("noise-2", family="noise")
        later = publish(
            study=sister, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=10, title="Later")
        )
        send()
        later.refresh_from_db()
        assert not sees(worker, later)
        stranger = publish(
            study=make_study("blur"), terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=10)
        )
        send()
        stranger.refresh_from_db()
        assert sees(worker, stranger)

    def test_who_may_come_several_times_is_marked_with_the_last(
        self, transactional_db: None, marketplace: Any, new_worker: NewWorker
    ) -> None:
        twice = make_study("twice", max_sessions_per_worker=2)
        campaign = publish(
            study=twice,
            terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=10, assignments_per_hit=1, title="Twice"),
        )
        send()
        campaign.refresh_from_db()
        worker = new_worker()
        worker.do(campaign, 1)
        sync(study=twice)
        assert not Call.objects.filter(kind__in=MARKS).exists()
        worker.do(campaign, 2)
        sync(study=twice)
        assert send().told == 1

    def test_a_session_that_was_given_up_leaves_the_study_open(self, launch: Launch, new_worker: NewWorker) -> None:
        campaign, worker = launch(), new_worker()
        visitor = worker.accept(campaign)
        visitor.open()
        worker.client.give_back(visitor.person["assignmentId"])
        Assignment.objects.update(opened_at=timezone.now() - campaign.assignment_duration - timedelta(hours=1))
        Session.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
        assert sync(study=campaign.study).returned == 1
        assert send().told == 0
        assert sees(worker, campaign)
        assert not Call.objects.filter(kind__in=MARKS).exists()

    def test_a_mark_from_before_is_taken_back_with_the_session(self, launch: Launch, new_worker: NewWorker) -> None:
        """Earlier versions marked people at consent."""
        campaign, worker = launch(), new_worker()
        visitor = worker.accept(campaign)
        visitor.open()
        person = RecruitedPerson.objects.get()
        plan_grant(person=person, qualification=QualificationType.objects.get())
        assert send().told == 1
        assert not sees(worker, campaign)
        worker.client.give_back(visitor.person["assignmentId"])
        Assignment.objects.update(opened_at=timezone.now() - campaign.assignment_duration - timedelta(hours=1))
        Session.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
        sync(study=campaign.study)
        assert send().told == 1
        assert sees(worker, campaign)

    def test_an_id_that_nobody_has_costs_no_call(self, marketplace: MarketplaceServer, launch: Launch) -> None:
        campaign = launch()
        forger = Visitor(campaign, worker_id="AFORGED", assignment_id="A1", submit_to=marketplace.url)
        assert forger.open().status_code == 201
        forger.answer_all()
        sync(study=campaign.study)
        assert send().told == 0
        assert not Call.objects.filter(kind__in=MARKS).exists()


class TestRequirements:
    def test_what_the_recruiter_knows_is_asked_of_it(self, launch: Launch, other_side: Any) -> None:
        campaign = launch(
            requirements=WorkerRequirements(
                approval_percent=95, hits_approved=100, countries=("US", "DE"), adult=True, masters=True
            )
        )
        hit = other_side.get_hit(HITId=campaign.hits.get().hit_id)["HIT"]
        asked = {one["QualificationTypeId"]: one for one in hit["QualificationRequirements"]}
        assert asked["000000000000000000L0"]["IntegerValues"] == [95]
        assert asked["00000000000000000040"]["IntegerValues"] == [100]
        assert [place["Country"] for place in asked["00000000000000000071"]["LocaleValues"]] == ["US", "DE"]
        assert asked["00000000000000000060"]["IntegerValues"] == [1]
        assert asked["2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"]["Comparator"] == "Exists"
        assert len(asked) == 6  # and "already took part"
        assert campaign.quoted_cents == 2 * (120 + 30)  # masters: 25 %

    @pytest.mark.parametrize(
        "wrong",
        [{"approval_percent": 101}, {"hits_approved": -1}, {"countries": ("usa",)}, {"countries": ("US", "US")}],
    )
    def test_what_makes_no_sense_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput) as caught:
            WorkerRequirements(**wrong)
        assert list(caught.value.fields) == list(wrong)

    def test_they_are_stored_without_loss(self) -> None:
        asked = WorkerRequirements(approval_percent=99, countries=("FR",))
        assert WorkerRequirements.from_dict(asked.to_dict()) == asked
        with pytest.raises(InvalidInput):
            WorkerRequirements.from_dict({"shoe_size": 43})


@pytest.mark.django_db
class TestExclusions:
    def test_excluded_people_are_told_and_asked_to_return_a_hit(self, ada: User, settings: Any) -> None:
        study = make_study()
        campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=3))
        report = exclude_people(
            family=study.family,
            worker_ids=["panel-1", " panel-2 ", "panel-1"],
            environment="link",
            note="pilot",
            by=ada,
        )
        assert (report.added, report.known) == (2, 0)
        assert exclude_people(family=study.family, worker_ids=["panel-2"], environment="link").known == 1
        refused = Visitor(campaign, worker_id="panel-2").open()
        assert (refused.status_code, refused.json()["type"]) == (409, "already-took-part")
        assert refused.json()["detail"].startswith("This study is not open to you. Thank you")
        paid = publish(study=study, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=10))
        exclude_people(family=study.family, worker_ids=["AEXCLUDED"], environment="marketplace")
        holder = Visitor(paid, worker_id="AEXCLUDED", assignment_id="A1", submit_to=settings.MARKETPLACE_URL)
        assert "does you no harm" in holder.open().json()["detail"]
        assert not RecruitedPerson.objects.exists()
        assert Visitor(campaign, worker_id="panel-3").open().status_code == 201
        excluded = exclusions(study.family).get(code=code("link", "panel-2"))
        with pytest.raises(NotAllowed, match="The list is also that of the study noise"):
            lift_exclusion(exclusion=excluded, by=ada)
        study.memberships.create(user=ada, role=Role.OWNER)
        lift_exclusion(exclusion=excluded, by=ada)
        assert Visitor(campaign, worker_id="panel-2").open().status_code == 201
        assert "panel" not in str(list(Exclusion.objects.values()) + list(AuditEvent.objects.values()))

    def test_who_is_under_way_may_finish(self) -> None:
        study = make_study()
        campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=3))
        visitor = Visitor(campaign, worker_id="panel-1")
        visitor.open()
        exclude_people(family=study.family, worker_ids=["panel-1"], environment="link")
        again = Visitor(campaign, worker_id="panel-1")
        assert again.open(secret=visitor.secret()).status_code == 201

    def test_a_list_is_carried_to_another_family_as_hashes(self) -> None:
        study, other = make_study(), make_study("blur")
        campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=3))
        Visitor(campaign, worker_id="panel-1").open()
        hashes = participant_hashes(study.family)
        assert hashes == [code("link", "panel-1")]
        assert exclude_people(family=other.family, hashes=hashes).added == 1
        third = StudyFamily.objects.create(slug="third")
        assert exclude_family(family=third, other=study.family).added == 1
        assert is_excluded(third, environment="link", worker_id="panel-1")
        later = publish(study=other, terms=LaunchTerms(to="link", assignments=1))
        assert Visitor(later, worker_id="panel-1").open().status_code == 409

    def test_the_same_id_elsewhere_is_somebody_else_but_sandbox_and_production_are_one(self) -> None:
        codes = {name: code(name, "AWORKER1") for name in ("link", "marketplace", "sandbox", "production")}
        assert codes["sandbox"] == codes["production"]
        assert len(set(codes.values())) == 3

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"worker_ids": ["A1", "no id!"], "environment": "marketplace"}, "worker_ids"),
            ({"worker_ids": ["A1"], "environment": "mars"}, "worker_ids"),
            ({"hashes": ["X-123"]}, "hashes"),
        ],
    )
    def test_one_bad_line_refuses_all(self, given: dict[str, Any], field: str) -> None:
        family = StudyFamily.objects.create(slug="noise")
        with pytest.raises(InvalidRequest) as caught:
            exclude_people(family=family, **given)
        assert list(caught.value.fields) == [field]
        assert "no id!" not in caught.value.message
        assert not Exclusion.objects.exists()


def code(environment: str, worker_id: str) -> str:
    return exclusion_code(environment=environment, worker_id=worker_id)
