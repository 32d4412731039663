"""A researcher lets a person back into an unfinished session: by a release, or by a personal link.

Both void every token and secret given out before, so that whoever else held one is out. A finished session has no way
back: whoever needs its code asks, and a researcher looks it up.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.urls import reverse

from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, StudyRefused, TokenRefused
from humanexp.core.models import User, record
from humanexp.participation.models import SessionState
from humanexp.participation.openings import issue_handoff, revoke_tokens
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.models import WayBack, WayBackKind
from humanexp.studies import permissions
from humanexp.studies.models import Action


def open_ways_back(assignment: Assignment) -> list[WayBack]:
    """Those that still let somebody in."""
    now = clock.now()
    ways = assignment.ways_back.filter(expires_at__gt=now, revoked_at=None)
    return [way for way in ways.select_related("made_by", "assignment__campaign") if way.is_open(now)]


def may_be_let_in(assignment: Assignment) -> bool:
    return assignment.session is not None and assignment.session.state == SessionState.OPEN


RELEASED_FOR = timedelta(minutes=30)
LINK_DAYS, MOST_LINK_DAYS = 7, 30
_NOT_OPEN = "Only a session under way has a way back. Of a finished one the code can be looked up."


@transaction.atomic
def release(*, assignment: Assignment, by: User) -> WayBack:
    """The next opening under the same id goes on with the session, once, within half an hour."""
    return _make(assignment, WayBackKind.RELEASE, by, lives=RELEASED_FOR)


@transaction.atomic
def make_personal_link(*, assignment: Assignment, by: User, days: int = LINK_DAYS) -> WayBack:
    """An address with which one person goes on; `address_of` tells it."""
    if not 1 <= days <= MOST_LINK_DAYS:
        raise InvalidRequest(f"A personal link lives for 1 to {MOST_LINK_DAYS} days.")
    return _make(assignment, WayBackKind.LINK, by, lives=timedelta(days=days))


@transaction.atomic
def revoke(*, way: WayBack, by: User) -> WayBack:
    """From now on it lets nobody in; who came in by it before stays in."""
    _check(way.assignment, by)
    if WayBack.objects.filter(pk=way.pk, revoked_at=None).update(revoked_at=clock.now()):
        _record("revoke-way-back", way, by)
    way.refresh_from_db()
    return way


def address_of(way: WayBack) -> str:
    """What the researcher sends. The proof stands behind the #: it reaches no log with the page's address."""
    path = reverse("recruitment:personal", args=[way.assignment.campaign.entry])
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}#{_signer().sign(str(way.pk))}"


@transaction.atomic
def follow(*, campaign: Campaign, link: str) -> str:
    """Go on by a personal link: a one-time code for the window of the study."""
    try:
        pk = int(_signer().unsign(link))
    except (signing.BadSignature, ValueError) as error:
        raise TokenRefused from error
    ways = WayBack.objects.select_for_update(of=("self",)).select_related("assignment__campaign", "assignment__session")
    way = ways.filter(pk=pk, kind=WayBackKind.LINK, assignment__campaign=campaign).first()
    if way is None or not way.is_open(clock.now()):
        raise TokenRefused("This personal link has expired, or was taken back: ask for another one.", reason="expired")
    if not _let_in(way):
        raise StudyRefused("Nothing is left to do behind this link: the study was finished, or left. Thank you.")
    session = way.assignment.session
    if session is None:
        raise TokenRefused
    return issue_handoff(session=session, keep_as=way.assignment.resume_name)


def use_release(*, assignment: Assignment) -> bool:
    """Whether a researcher has released the session; the release is used up, and earlier tokens are void."""
    now = clock.now()
    open_ways = WayBack.objects.filter(
        assignment=assignment, kind=WayBackKind.RELEASE, used_at=None, revoked_at=None, expires_at__gt=now
    )
    way = open_ways.select_related("assignment__campaign__study", "assignment__session").first()
    if way is None:
        return False
    way.assignment = assignment
    return _let_in(way)


def _let_in(way: WayBack) -> bool:
    """False where the session is not under way any more."""
    assignment = way.assignment
    if assignment.session is None or assignment.session.state != SessionState.OPEN:
        return False
    unused = WayBack.objects.filter(pk=way.pk, revoked_at=None)
    if way.kind == WayBackKind.RELEASE:
        unused = unused.filter(used_at=None)
    if not unused.update(used_at=clock.now()):
        return False
    revoke_tokens(session=assignment.session)
    assignment.opening_hash = ""
    assignment.save(update_fields=["opening_hash"])
    _record("use-way-back", way, None)
    return True


def _signer() -> signing.Signer:
    return signing.Signer(salt="humanexp.personal-link")


def _make(assignment: Assignment, kind: WayBackKind, by: User, *, lives: timedelta) -> WayBack:
    _check(assignment, by)
    if assignment.session is None or assignment.session.state != SessionState.OPEN:
        raise StudyRefused(_NOT_OPEN)
    now = clock.now()
    # one of a kind: a second press prolongs, it does not leave two doors open
    assignment.ways_back.filter(kind=kind, revoked_at=None, expires_at__gt=now).update(revoked_at=now)
    way = WayBack.objects.create(assignment=assignment, kind=kind, made_by=by, made_at=now, expires_at=now + lives)
    _record("make-way-back", way, by)
    return way


def _check(assignment: Assignment, by: User) -> None:
    permissions.check(by, Action.REVIEW, assignment.campaign.study)


def _record(action: str, way: WayBack, by: User | None) -> None:
    study = way.assignment.campaign.study.slug
    record(action=action, subject=f"assignment:{way.assignment_id}", study=study, by=by, kind=way.kind)
