"""What happens when a person agrees to take part. Nothing before that is written."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import AlreadyTookPart, InvalidRequest, StudyRefused, TokenRefused
from humanexp.core.languages import digest_of
from humanexp.entry.admission import (
    BEGUN,
    TooYoung,
    check_approval,
    check_first_time,
    check_open,
    check_opening,
    check_welcome,
)
from humanexp.entry.identity import (
    GoOnRefused,
    Proof,
    admit,
    go_on_under,
    handoff_for,
    name_of,
    participation_id,
    remember_opening,
    session_behind,
    visitor_id,
)
from humanexp.participation import endings
from humanexp.participation.models import FINISHED, Session, SessionState
from humanexp.participation.openings import Agreement, SentBy, issue_token, note_deadline, open_session
from humanexp.participation.sessions import session_for_token
from humanexp.recruiters.campaigns import Consent, consent_of, facts_of, minutes_told, recruiter_of, sessions_allowed
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson, id_here
from humanexp.recruiters.people import assignment_of, check_worker_id, person_for
from humanexp.recruiters.presets import SiteTerms
from humanexp.recruiters.registry import kind_of
from humanexp.recruiters.states import LISTED, AssignmentState, advance
from humanexp.recruiters.tickets import Ticket
from humanexp.recruiting.attendance import (
    go_on_elsewhere,
    keep_beside,
    may_begin_anew,
    may_go_on_elsewhere,
    move_session,
    own_rival,
    refuse_another,
    request_verification,
    set_aside,
    speaks_of_hits,
)
from humanexp.recruiting.models import AgreedText
from humanexp.studies.models import Population

NO_PROOF = Proof()
#: Whose address names nobody.
NOBODY = Ticket()


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """What a page tells of somebody who wants to begin or to go on.

    The ids come from the page's address and prove nothing: they open a session, they lead back into none, and they
    never pay anybody.
    """

    consents: bool
    ticket: Ticket = NOBODY
    scripted: bool = False
    #: go on here with the session of another HIT
    continue_here: bool = False
    #: what was begun under this worker id elsewhere and is listed by nobody, or under this assignment before any
    #: answer counted, is left aside
    begin_here: bool = False
    #: in which the person has read what they agree to
    language: str = "en"
    #: SHA-256 of the text that the page has shown, and the minutes that it has stated; empty and 0: it did not say
    consent_digest: str = ""
    minutes: int = 0
    #: the person says that they are younger than those who agree for themselves, and that a guardian agrees, too
    is_minor: bool = False
    guardian_agrees: bool = False
    proof: Proof = NO_PROOF
    #: nothing is kept with which the next person could go on
    shared_computer: bool = False
    #: what the person says of having taken part before, also through another recruiter; None: they were not asked
    took_part: bool | None = None
    #: the browser keeps a note that the study was begun in it by way of another recruiter
    seen_before: bool = False
    #: who calls, as far as it may be known (`core.caller_hash`), held to limits of openings
    caller: str = ""


@dataclass(frozen=True, kw_only=True)
class Entered:
    """A session to go on with: a bearer for this page, and a one-time code for the window of the study."""

    session: Session
    token: str
    handoff: str


def enter(*, campaign: Campaign, arrival: Arrival) -> Entered:
    """Open a session, or give back the one that this page proves to be its own."""
    if not arrival.consents:
        raise InvalidRequest("Nothing is stored without your consent.", fields={"consent": "This is required."})
    consent = _agreed_text(campaign, arrival)
    _check_age(consent, arrival)
    if arrival.scripted != (campaign.study.population == Population.SCRIPTED):
        raise StudyRefused("Scripted participants and people do not take part in the same study.")
    kind_of(campaign.environment).check_submission(arrival.ticket.submission)
    arrival, terms = _ids_checked(campaign, arrival)
    resume_name = "" if arrival.shared_computer else name_of(campaign, arrival.ticket.person)
    # Without a panel's id the visitor is new, unless the browser shows that it has been here.
    worker_id = arrival.ticket.person or visitor_id(campaign=campaign, proof=arrival.proof)
    check_worker_id(campaign.environment, worker_id)
    if terms is not None:
        worker_id = id_here(terms.preset, worker_id)
    with transaction.atomic():
        person = _lock(
            person_for(
                environment=campaign.environment,
                worker_id=worker_id,
                family=campaign.study.family,
                scripted=arrival.scripted,
            )
        )
        place = _place_for(campaign, person, arrival)
        assignment = place.assignment
        session = place.beside or _session_for(campaign, person, assignment, arrival, consent)
        if place.aside is not None:
            keep_beside(place.aside, session)
        _note_deadline(campaign, assignment, session)
        if place.beside is None:
            remember_opening(assignment=assignment, proof=arrival.proof, resume_name=resume_name)
        if not session.is_verified:
            request_verification(campaign=campaign)
        token, handoff = issue_token(session=session), handoff_for(session=session, assignment=assignment)
    return Entered(session=session, token=token, handoff=handoff)


def _ids_checked(campaign: Campaign, arrival: Arrival) -> tuple[Arrival, SiteTerms | None]:
    """Somebody whom a site has sent is named by the site; anybody else is nobody's participation there."""
    if campaign.capabilities.is_public:
        return replace(arrival, ticket=NOBODY), None
    terms = campaign.site
    if terms is not None:
        terms.check(arrival.ticket)
    if campaign.capabilities.vouches:
        return arrival, None
    if terms is None:
        arrival = replace(arrival, ticket=Ticket(person=arrival.ticket.person))
    return arrival, terms


def _agreed_text(campaign: Campaign, arrival: Arrival) -> Consent:
    """The text as the page has shown it; refused where that is another one than it shows now."""
    facts = facts_of(campaign, minutes=arrival.minutes or minutes_told(campaign))
    consent = consent_of(campaign.study, arrival.language, facts)
    if arrival.consent_digest and arrival.consent_digest != consent.digest:
        raise StudyRefused(
            "The information about this study has changed since you opened this page. Nothing is stored. Load the page "
            "again and read it before you decide."
        )
    return consent


def _check_age(consent: Consent, arrival: Arrival) -> None:
    if not arrival.is_minor:
        return
    if not consent.ethics.guardian_consent:
        raise TooYoung
    if not arrival.guardian_agrees:
        raise InvalidRequest(
            "A parent or guardian must agree, too. Nothing is stored without that.",
            fields={"guardianAgrees": "This is required."},
        )


def new_handoff(*, campaign: Campaign, token: str) -> str:
    """A fresh one-time code for the window of the study, after a reload or a closed window."""
    session = session_for_token(token)
    if session.study_id != campaign.study_id:
        raise TokenRefused(reason="foreign", session_id=session.pk)
    return handoff_for(session=session, assignment=assignment_of(session))


def _note_deadline(campaign: Campaign, assignment: Assignment, session: Session) -> None:
    """Until when the recruiter takes the work: it counts from the acceptance, which came no later than the opening."""
    if not campaign.capabilities.vouches or assignment.opened_at is None:
        return
    note_deadline(session=session, due_at=assignment.opened_at + campaign.assignment_duration)


def _lock(person: RecruitedPerson) -> RecruitedPerson:
    """One entry of a person at a time: a double click is one session."""
    return RecruitedPerson.objects.select_for_update(of=("self",)).select_related("participant").get(pk=person.pk)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where somebody begins, or goes on."""

    assignment: Assignment
    #: the session that was begun under the same id and is left aside
    aside: Session | None = None
    #: the session to go on with, beside the one that stands for the id
    beside: Session | None = None


def _place_for(campaign: Campaign, person: RecruitedPerson, arrival: Arrival) -> _Place:
    mine = Assignment.objects.filter(environment=campaign.environment, person=person)
    if not campaign.capabilities.vouches:
        known = mine.filter(campaign=campaign).order_by("pk").last()
        if known is not None and _has_next(campaign, person, known):
            known = None
        assignment_id = participation_id(campaign=campaign, person=person, given=arrival.ticket.submission, known=known)
    else:
        assignment_id = arrival.ticket.submission
        known = mine.filter(assignment_id=assignment_id).first()
    aside = None
    if known is not None and known.session is not None and known.session.state != SessionState.WITHDRAWN:
        if beside := own_rival(known, session_behind(arrival.proof.secret)):
            return _Place(assignment=known, beside=beside)
        try:
            admit(assignment=known, proof=arrival.proof, may_begin_here=may_begin_anew(known))
        except GoOnRefused as refusal:
            if may_go_on_elsewhere(known):
                go_on_elsewhere(known)
                return _Place(assignment=known)
            if not (arrival.begin_here and refusal.may_begin_here):
                raise
            aside = set_aside(known)
        else:
            if known.state == AssignmentState.RETURNED:
                advance(known, AssignmentState.OPENED)  # returned, and accepted again under the same id
            return _Place(assignment=go_on_under(known, assignment_id))
    if aside is None:  # their id has a place here already
        check_open(campaign)
    check_welcome(campaign, person)
    begun = _begun_elsewhere(campaign, person, assignment_id, arrival.begin_here)
    if begun is None:
        check_approval(campaign)
    else:
        is_surely_theirs = begun.session is not None and begun.session.is_verified
        # A volunteer holds no HIT that they would have to return first.
        shown = arrival.proof if arrival.continue_here or campaign.capabilities.is_public else NO_PROOF
        admit(assignment=begun, proof=shown, may_begin_here=not is_surely_theirs)
    if known is None:
        known = Assignment.objects.create(
            environment=campaign.environment,
            assignment_id=assignment_id,
            campaign=campaign,
            hit=None if campaign.capabilities.vouches else campaign.hits.first(),
            person=person,
            opened_at=clock.now(),
        )
    elif known.is_listed:
        if not speaks_of_hits(campaign):
            raise AlreadyTookPart
        raise AlreadyTookPart("You have already submitted this HIT. Thank you.")
    elif known.state == AssignmentState.RETURNED:
        advance(known, AssignmentState.OPENED, opened_at=clock.now())
    if begun is not None:
        move_session(begun, known)
    return _Place(assignment=known, aside=aside)


def _has_next(campaign: Campaign, person: RecruitedPerson, known: Assignment) -> bool:
    """Volunteers come back to the same page for the next session of their family."""
    if not campaign.capabilities.is_public or known.session is None or known.session.state not in FINISHED:
        return False
    had = Session.objects.filter(participant=person.participant).exclude(state=SessionState.WITHDRAWN).count()
    return had < sessions_allowed(person)


def _begun_elsewhere(
    campaign: Campaign, person: RecruitedPerson, assignment_id: str, begin_here: bool
) -> Assignment | None:
    """The person's unfinished business from another assignment; refuses who has no session left in the family.

    A session that does not count yet may be somebody else's, begun in this person's name: they are asked about it, and
    it keeps nobody from a session of their own.
    """
    held = Assignment.objects.filter(person__participant=person.participant, session__isnull=False).exclude(
        assignment_id=assignment_id, environment=person.environment
    )
    held = held.exclude(session__state=SessionState.WITHDRAWN).select_related("session", "campaign")
    taken = list(held)
    allowed = sessions_allowed(person)
    has_none_left = sum(1 for other in taken if other.session and other.session.is_verified) >= allowed
    movable = [
        other
        for other in taken
        if other.state not in LISTED
        and other.environment == person.environment
        and other.session
        and other.session.state in (SessionState.OPEN, SessionState.COMPLETED)
        and (other.session.is_verified or not (begin_here or has_none_left))
    ]
    # One session at a time, however many are allowed.
    under_way = [other for other in movable if other.session and other.session.state == SessionState.OPEN]
    if under_way:
        return under_way[0]
    if movable and len(taken) >= allowed:
        return movable[0]
    if has_none_left:
        refuse_another(campaign)
    return None


def _session_for(
    campaign: Campaign, person: RecruitedPerson, assignment: Assignment, arrival: Arrival, consent: Consent
) -> Session:
    session = assignment.session
    if session is not None and session.state != SessionState.WITHDRAWN:
        return session
    if not arrival.scripted:
        check_first_time(campaign, arrival.took_part)
    is_limited = bool(arrival.caller) and not arrival.scripted
    if is_limited:
        check_opening(campaign=campaign, caller=arrival.caller)
    session = open_session(
        study=campaign.study,
        participant=person.participant,
        scripted=arrival.scripted,
        agreement=Agreement(
            version=consent.version,
            digest=consent.digest,
            language=consent.language,
            catalogue=digest_of(consent.language),
            by_guardian=arrival.is_minor,
        ),
        # A link has nobody who lists people; elsewhere an id in an address proves nothing.
        is_verified=not campaign.capabilities.vouches,
        sent_by=SentBy(recruiter=recruiter_of(campaign), seen_before=arrival.seen_before),
    )
    promise_curve(campaign=campaign, session=session)
    AgreedText.objects.get_or_create(
        digest=consent.digest,
        defaults={
            "version": consent.version,
            "language": consent.language,
            "html": consent.html,
            "first_agreed_at": clock.now(),
        },
    )
    assignment.session = session
    assignment.save(update_fields=["session"])
    if is_limited:
        BEGUN.add(arrival.caller, campaign, session.pk)
    return session


def promise_curve(*, campaign: Campaign, session: Session) -> None:
    """Part of the transaction that opens the session."""
    if campaign.capabilities.is_public:
        endings.promise_curve(session=session, compared_with=campaign.compared_with)
