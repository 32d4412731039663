"""A plain link, and the public page: people come by themselves, nobody stands between us and them, and no money
flows through us.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import ClassVar, NoReturn

from django.utils import timezone

from analysis.entry import Entry
from analysis.study.link import Link as LinkSettings
from humanexp.core import clock
from humanexp.core.errors import NotAtRecruiter, RecruiterError
from humanexp.participation.models import SessionState
from humanexp.participation.openings import receipt_for
from humanexp.recruiters.models import Assignment, Hit
from humanexp.recruiters.money import NO_FEES, FeeTable
from humanexp.recruiters.port import (
    BonusReport,
    Capabilities,
    OfferOrder,
    OfferReport,
    OfferTerms,
    PaymentOrder,
    Proof,
    QualificationOrder,
    Recruiter,
    SubmissionReport,
)
from humanexp.recruiters.presets import SiteTerms, terms_of
from humanexp.recruiters.registry import Account, Kind
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiters.tickets import Ticket, Words

CAPABILITIES = Capabilities(vouches=False, is_own_ground=True)


class Link(Kind):
    """A plain link, which anybody can hand out."""

    code, name, namespace, way = "link", "plain link", "link", "link"
    is_at_hand, fields = True, frozenset({"link_preset"})
    Terms: ClassVar[type[Entry]] = SiteTerms
    words = Words(
        price="no money goes through a plain link",
        launch="Open the link",
        approval="",
        no_account="It needs no account: you hand out the link yourself.",
    )

    def terms_for(self, account: Account, *, reward_cents: int, link: LinkSettings) -> SiteTerms | None:
        return terms_of(link) if link.preset else None

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def fees(self) -> FeeTable:
        return NO_FEES

    def recruiter(self, account: Account) -> Recruiter:
        return LinkRecruiter(account.code, self.capabilities)

    def ticket(self, query: Mapping[str, str]) -> Ticket:
        return Ticket(person=query.get("p", ""))


class LinkRecruiter:
    """There is no other side: HITs and assignments are our own rows, and who has finished has submitted."""

    bonus_calls = None
    breath_s = 0.0
    token_memory = timedelta.max  # our own rows
    fees: FeeTable = NO_FEES

    def __init__(self, environment: str, capabilities: Capabilities) -> None:
        self.environment, self.capabilities = environment, capabilities

    def balance_cents(self) -> int | None:
        return None

    def publish_terms(self, terms: OfferTerms) -> str:
        return ""

    def publish(self, order: OfferOrder) -> str:
        return order.annotation

    def find(self, annotation: str) -> OfferReport | None:
        try:
            return self.offer(annotation)
        except NotAtRecruiter:
            return None

    def offer(self, offer_id: str) -> OfferReport:
        hit = self._row(offer_id)
        finished = sum(1 for _ in self.submissions(offer_id))
        under_way = hit.assignments_taken.filter(session__state=SessionState.OPEN, session__left_at=None).count()
        is_over = hit.expires_at is not None and hit.expires_at <= timezone.now()
        return OfferReport(
            offer_id=offer_id,
            annotation=offer_id,
            is_open=not is_over,
            places=hit.max_assignments,
            available=0 if is_over else max(0, hit.max_assignments - finished - under_way),
            pending=under_way,
            completed=0,  # nobody decides here
            expires_at=hit.expires_at,
        )

    def offers(self, offer_ids: Collection[str]) -> Iterator[OfferReport]:
        for offer_id in offer_ids:
            with suppress(NotAtRecruiter):
                yield self.offer(offer_id)

    def change(self, offer_id: str, *, places: int | None = None, until: datetime | None = None, token: str) -> None:
        if places is not None:
            raise RecruiterError("A plain link cannot be extended: open another one with more places.")
        if until is not None:
            Hit.objects.filter(pk=self._row(offer_id).pk).update(expires_at=until)

    def close(self, offer_id: str) -> None:
        now = clock.now()
        Hit.objects.filter(pk=self._row(offer_id).pk).exclude(expires_at__lte=now).update(expires_at=now)

    def submissions(
        self, offer_id: str, *, states: Collection[str] = (), since: datetime | None = None
    ) -> Iterator[SubmissionReport]:
        finished = self._row(offer_id).assignments_taken.filter(
            session__state__in=[SessionState.COMPLETED, SessionState.SUBMITTED], person__isnull=False
        )
        for assignment in finished.select_related("person", "session").order_by("pk"):
            yield _report(assignment, offer_id)

    def submission(self, submission_id: str) -> SubmissionReport | None:
        found = Assignment.objects.filter(environment=self.environment, assignment_id=submission_id).first()
        if found is None or found.hit is None:
            return None
        reports = (report for report in self.submissions(found.hit.hit_id) if report.submission_id == submission_id)
        return next(reports, None)

    def _pays_nobody(self, *_asked: object, **_named: object) -> NoReturn:
        raise RecruiterError("No money goes through a plain link: pay or refuse people where they were found.")

    pay = reject = _pays_nobody

    def evidence(self, order: PaymentOrder) -> Proof:
        return Proof.NOT_PAID

    def bonuses(self, offer_id: str) -> Iterator[BonusReport]:
        return iter(())

    def publish_qualification(self, order: QualificationOrder) -> str:
        return order.name  # whom it is open to, our own check at the entry decides

    def _marks_nobody(self, *_asked: object, **_named: object) -> NoReturn:
        raise RecruiterError("A plain link keeps no qualifications.")

    grant = revoke = _marks_nobody

    def holds(self, type_id: str, person_id: str) -> bool:
        return False

    def ask_for_hints(self, terms_id: str) -> None:
        return

    def hints(self) -> list[str]:
        return []

    def notify(self, person_ids: list[str], *, subject: str, text: str, offer_id: str = "") -> list[str]:
        return list(person_ids)  # a link has nobody's address

    def _row(self, offer_id: str) -> Hit:
        hit = Hit.objects.filter(environment=self.environment, hit_id=offer_id).first()
        if hit is None:
            raise NotAtRecruiter(f"There is no link {offer_id}.")
        return hit


def _report(assignment: Assignment, offer_id: str) -> SubmissionReport:
    session, person = assignment.session, assignment.person
    if session is None or person is None:
        raise NotAtRecruiter
    return SubmissionReport(
        submission_id=assignment.assignment_id,
        person_id=person.worker_id,
        offer_id=offer_id,
        state=AssignmentState.SUBMITTED,
        submitted_at=session.completed_at or session.opened_at,
        answers={"receipt": receipt_for(session=session)},
    )


#: Not our own ground: strangers come, so that a launch passes the same gates as a paid one.
PUBLIC_CAPABILITIES = Capabilities(vouches=False, is_public=True)


class Volunteer(Link):
    """Offers and submissions are our own rows, as with a link; nobody comes with an id."""

    code, name, namespace = "volunteer", "volunteers", "volunteer"
    is_at_hand, fields = False, frozenset({"compared_with"})
    words = Words(
        price="volunteers are not paid",
        launch="Open the study to volunteers",
        launched="The study is open to volunteers.",
        approval="",
        no_account="It needs no account: your studies are listed on a public page, where anybody may begin.",
    )

    @property
    def capabilities(self) -> Capabilities:
        return PUBLIC_CAPABILITIES

    def ticket(self, query: Mapping[str, str]) -> Ticket:
        return Ticket()  # whoever writes an id into the address is still nobody whom we know
