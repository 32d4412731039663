"""A plain link: people come by themselves, nobody stands between us and them, and no money flows through us."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import NoReturn

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from humanexp.core import clock
from humanexp.core.errors import NotAtRecruiter, RecruiterError
from humanexp.participation import services as participation
from humanexp.participation.models import SessionState
from humanexp.recruitment.models import Assignment, Hit
from humanexp.recruitment.pricing import NO_FEES, FeeTable
from humanexp.recruitment.recruiters.base import (
    AssignmentReport,
    BonusReport,
    Capabilities,
    HitOrder,
    HitReport,
    HitTerms,
    QualificationOrder,
    Recruiter,
)
from humanexp.recruitment.recruiters.registry import Kind
from humanexp.recruitment.recruiters.tickets import Nothing, Outcome, Ticket, WayOut
from humanexp.recruitment.states import AssignmentState

CAPABILITIES = Capabilities(pays=False, vouches=False, is_own_ground=True)


class Link(Kind):
    """A plain link, which anybody can hand out."""

    code, name, namespace, way = "link", _("plain link"), "link", "link"

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def fees(self) -> FeeTable:
        return NO_FEES

    def recruiter(self) -> Recruiter:
        return LinkRecruiter()

    def ticket(self, query: Mapping[str, str]) -> Ticket:
        return Ticket(person=query.get("p", ""))

    def way_out(self, outcome: Outcome, ticket: Ticket) -> WayOut:
        return Nothing()


class LinkRecruiter:
    """There is no other side: HITs and assignments are our own rows, and who has finished has submitted."""

    environment: str = Link.code
    capabilities = CAPABILITIES
    breath_s = 0.0
    token_memory = timedelta.max  # our own rows
    fees: FeeTable = NO_FEES

    def balance_cents(self) -> int | None:
        return None

    def publish_type(self, terms: HitTerms) -> str:
        return ""

    def publish_hit(self, order: HitOrder) -> str:
        return order.annotation

    def find_hit(self, annotation: str) -> HitReport | None:
        try:
            return self.hit(annotation)
        except NotAtRecruiter:
            return None

    def hit(self, hit_id: str) -> HitReport:
        hit = self._row(hit_id)
        finished = sum(1 for _ in self.assignments(hit_id))
        under_way = hit.assignments_taken.filter(session__state=SessionState.OPEN, session__left_at=None).count()
        is_over = hit.expires_at is not None and hit.expires_at <= timezone.now()
        return HitReport(
            hit_id=hit_id,
            annotation=hit_id,
            is_open=not is_over,
            max_assignments=hit.max_assignments,
            available=0 if is_over else max(0, hit.max_assignments - finished - under_way),
            pending=under_way,
            completed=finished,
            expires_at=hit.expires_at,
        )

    def expire_hit(self, hit_id: str) -> None:
        now = clock.now()
        Hit.objects.filter(pk=self._row(hit_id).pk).exclude(expires_at__lte=now).update(expires_at=now)

    def prolong_hit(self, hit_id: str, *, until: datetime) -> None:
        Hit.objects.filter(pk=self._row(hit_id).pk).update(expires_at=until)

    def extend_hit(self, hit_id: str, *, places: int, token: str) -> None:
        raise RecruiterError("A plain link cannot be extended: open another one with more places.")

    def assignments(self, hit_id: str) -> Iterator[AssignmentReport]:
        finished = self._row(hit_id).assignments_taken.filter(
            session__state__in=[SessionState.COMPLETED, SessionState.SUBMITTED], person__isnull=False
        )
        for assignment in finished.select_related("person", "session").order_by("pk"):
            yield _report(assignment, hit_id)

    def assignment(self, assignment_id: str) -> AssignmentReport | None:
        found = Assignment.objects.filter(environment=self.environment, assignment_id=assignment_id).first()
        if found is None or found.hit is None:
            return None
        reports = (report for report in self.assignments(found.hit.hit_id) if report.assignment_id == assignment_id)
        return next(reports, None)

    def _pays_nobody(self, *_asked: object, **_named: object) -> NoReturn:
        raise RecruiterError("No money goes through a plain link: pay or refuse people where they were found.")

    approve = reject = bonus = _pays_nobody

    def bonuses(self, *, hit_id: str = "", assignment_id: str = "") -> Iterator[BonusReport]:
        return iter(())

    def publish_qualification(self, order: QualificationOrder) -> str:
        return order.name  # whom it is open to, our own check at the entry decides

    def _marks_nobody(self, *_asked: object, **_named: object) -> NoReturn:
        raise RecruiterError("A plain link keeps no qualifications.")

    grant = revoke = _marks_nobody

    def score(self, type_id: str, worker_id: str) -> int | None:
        return None

    def ask_for_hints(self, hit_type_id: str) -> None:
        return

    def hints(self) -> list[str]:
        return []

    def notify(self, worker_ids: list[str], *, subject: str, text: str) -> list[str]:
        return list(worker_ids)  # a link has nobody's address

    def _row(self, hit_id: str) -> Hit:
        hit = Hit.objects.filter(environment=self.environment, hit_id=hit_id).first()
        if hit is None:
            raise NotAtRecruiter(f"There is no link {hit_id}.")
        return hit


def _report(assignment: Assignment, hit_id: str) -> AssignmentReport:
    session, person = assignment.session, assignment.person
    if session is None or person is None:
        raise NotAtRecruiter
    return AssignmentReport(
        assignment_id=assignment.assignment_id,
        worker_id=person.worker_id,
        hit_id=hit_id,
        state=AssignmentState.SUBMITTED,
        submitted_at=session.completed_at or session.opened_at,
        answers={"receipt": participation.receipt_for(session=session)},
    )
