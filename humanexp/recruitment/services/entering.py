"""What happens when a person agrees to take part. Nothing before that is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import AlreadyTookPart, InvalidRequest, StudyRefused, TokenRefused
from humanexp.participation import selectors as participation_selectors, services as participation
from humanexp.participation.models import Session, SessionState
from humanexp.recruitment import selectors
from humanexp.recruitment.consent import Consent, consent_of
from humanexp.recruitment.facts import facts_of
from humanexp.recruitment.models import AgreedText, Assignment, Campaign, LinkTerms, RecruitedPerson, id_here
from humanexp.recruitment.models.people import INVITED
from humanexp.recruitment.recruiters import kind_of
from humanexp.recruitment.recruiters.tickets import Ticket
from humanexp.recruitment.services.inviting import invited
from humanexp.recruitment.services.openings import BEGUN, check_opening
from humanexp.recruitment.services.participations import go_on_under, participation_id
from humanexp.recruitment.services.people import check_worker_id, person_for
from humanexp.recruitment.services.resuming import (
    GoOnRefused,
    Proof,
    admit,
    handoff_for,
    name_of,
    remember_opening,
)
from humanexp.recruitment.services.standing import request_verification
from humanexp.recruitment.services.turning_away import NotEligible, NotOpen, PlacesTaken, TooYoung
from humanexp.recruitment.services.visitors import visitor_id
from humanexp.recruitment.services.volunteering import promise_curve
from humanexp.recruitment.states import LISTED, AssignmentState, CampaignState, advance
from humanexp.studies.models import Population

NO_PROOF = Proof()


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """What a page tells of somebody who wants to begin or to go on.

    The ids come from the page's address and prove nothing: they open a session, they lead back into none, and they
    never pay anybody.
    """

    consents: bool
    assignment_id: str = ""
    worker_id: str = ""
    scripted: bool = False
    #: go on here with the session of another HIT
    continue_here: bool = False
    #: what was begun under this worker id elsewhere, or under this assignment without an answer, and is listed by
    #: nobody, is left aside
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
    #: what a personal link has said, in place of an id
    invitation: str = ""
    #: nothing is kept with which the next person could go on
    shared_computer: bool = False
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
    if campaign.is_compensation:
        raise StudyRefused("This HIT pays for work that was done before: submit it where you accepted it.")
    if arrival.scripted != (campaign.study.population == Population.SCRIPTED):
        raise StudyRefused("Scripted participants and people do not take part in the same study.")
    kind_of(campaign.environment).check_submission(arrival.assignment_id)
    arrival, terms = _ids_checked(campaign, arrival)
    resume_name = "" if arrival.shared_computer else name_of(campaign, arrival.worker_id)
    # Without a panel's id the visitor is new, unless the browser shows that it has been here.
    worker_id = arrival.worker_id or visitor_id(campaign=campaign, proof=arrival.proof)
    check_worker_id(campaign.environment, worker_id)
    if arrival.invitation:
        worker_id = id_here(INVITED, worker_id)
    elif terms is not None:
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
        assignment = _assignment_for(campaign, person, arrival)
        session = _session_for(campaign, person, assignment, arrival, consent)
        _note_deadline(campaign, assignment, session)
        remember_opening(assignment=assignment, proof=arrival.proof, resume_name=resume_name)
        if not session.is_verified:
            request_verification(campaign=campaign)
        token, handoff = participation.issue_token(session=session), handoff_for(session=session, assignment=assignment)
    return Entered(session=session, token=token, handoff=handoff)


def _ids_checked(campaign: Campaign, arrival: Arrival) -> tuple[Arrival, LinkTerms | None]:
    """Somebody whom a site has sent is named by the site; anybody else is nobody's participation there."""
    if campaign.capabilities.is_public:
        return replace(arrival, worker_id="", assignment_id="", invitation=""), None
    terms = LinkTerms.of(campaign)
    if campaign.capabilities.vouches:
        if terms is not None:
            selectors.check_ticket(terms, Ticket(person=arrival.worker_id, submission=arrival.assignment_id))
        return arrival, None
    if arrival.invitation:
        return replace(arrival, worker_id=invited(campaign=campaign, link=arrival.invitation), assignment_id=""), terms
    if terms is None:
        return replace(arrival, assignment_id=""), None
    selectors.check_ticket(terms, Ticket(person=arrival.worker_id, submission=arrival.assignment_id))
    return arrival, terms


def _agreed_text(campaign: Campaign, arrival: Arrival) -> Consent:
    """The text as the page has shown it; refused where that is another one than it shows now."""
    facts = facts_of(campaign, minutes=arrival.minutes or selectors.minutes_told(campaign))
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
    session = participation_selectors.session_for_token(token)
    if session.study_id != campaign.study_id:
        raise TokenRefused(reason="foreign", session_id=session.pk)
    assignment = Assignment.objects.filter(session=session).first()
    return handoff_for(session=session, assignment=assignment)


def _note_deadline(campaign: Campaign, assignment: Assignment, session: Session) -> None:
    """Until when the recruiter takes the work: it counts from the acceptance, which came no later than the opening."""
    if not campaign.capabilities.vouches or assignment.opened_at is None:
        return
    participation.note_deadline(session=session, due_at=assignment.opened_at + campaign.assignment_duration)


def _lock(person: RecruitedPerson) -> RecruitedPerson:
    """One entry of a person at a time: a double click is one session."""
    return RecruitedPerson.objects.select_for_update(of=("self",)).select_related("participant").get(pk=person.pk)


def _assignment_for(campaign: Campaign, person: RecruitedPerson, arrival: Arrival) -> Assignment:
    mine = Assignment.objects.filter(environment=campaign.environment, person=person)
    if not campaign.capabilities.vouches:
        known = mine.filter(campaign=campaign).order_by("pk").last()
        assignment_id = participation_id(campaign=campaign, person=person, given=arrival.assignment_id, known=known)
    else:
        assignment_id = arrival.assignment_id
        known = mine.filter(assignment_id=assignment_id).first()
    if known is not None and known.session is not None and known.session.state != SessionState.WITHDRAWN:
        try:
            admit(assignment=known, proof=arrival.proof, may_begin_here=_is_nobodys_work(known.session))
        except GoOnRefused as refusal:
            if not (arrival.begin_here and refusal.may_begin_here):
                raise
            _leave_aside(known, known.session)
        else:
            if known.state == AssignmentState.RETURNED:
                advance(known, AssignmentState.OPENED)  # returned, and accepted again under the same id
            return go_on_under(known, assignment_id)
    _check_open(campaign)
    _check_welcome(campaign, person)
    begun = _begun_elsewhere(campaign, person, assignment_id, arrival.begin_here)
    if begun is None:
        _check_approval(campaign)
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
        raise AlreadyTookPart("You have already submitted this HIT. Thank you.")
    elif known.state == AssignmentState.RETURNED:
        advance(known, AssignmentState.OPENED, opened_at=clock.now())
    if begun is not None:
        move_session(begun, known)
    return known


def _is_nobodys_work(session: Session) -> bool:
    """Nobody has listed who it is of, and nothing was answered: whoever holds the HIT may begin anew under it."""
    return session.state == SessionState.OPEN and not session.is_verified and session.cursor == 0


def _leave_aside(assignment: Assignment, session: Session) -> None:
    """Nobody goes on with it: its windows hear so at once, and can begin here in their turn."""
    participation.revoke_tokens(session=session)
    participation.release_slot(session=session)
    assignment.session = None
    assignment.save(update_fields=["session"])


def _check_open(campaign: Campaign) -> None:
    if campaign.state == CampaignState.LIVE:
        if campaign.capabilities.vouches or selectors.places_left(campaign) > 0:
            return
        raise PlacesTaken
    # Who accepted a HIT before the stop may still do it.
    latest = campaign.stopped_at and campaign.stopped_at + campaign.assignment_duration
    if not campaign.capabilities.vouches:
        raise NotOpen("This study has ended and takes no new participants. Thank you for your interest.")
    if latest is None or clock.now() > latest:
        raise StudyRefused("This study has ended. If you hold a HIT of it, please return it; that does you no harm.")


def _check_approval(campaign: Campaign) -> None:
    """Whoever is under way may finish; no one else starts without an approval in force."""
    if selectors.approval_of(campaign.study).is_in_force:
        return
    if not campaign.capabilities.vouches:
        raise NotOpen("This study is paused and takes no new participants at the moment. Nothing is stored.")
    raise StudyRefused(
        "This study is paused and takes no new participants at the moment. Nothing is stored. If you hold a HIT of it, "
        "please return it; that does you no harm."
    )


def _check_welcome(campaign: Campaign, person: RecruitedPerson) -> None:
    """Lists and qualifications of our own; what the recruiter asks for by itself it has seen to."""
    names = {person.worker_id, person.given_id} - {""}
    if any(selectors.is_excluded(person.family, environment=person.environment, worker_id=name) for name in names):
        if not campaign.capabilities.vouches:
            raise NotEligible
        raise AlreadyTookPart(
            "This study is not open to you. Please return the HIT if you hold one; that does you no harm."
        )
    if campaign.needs_qualification and not selectors.has_passed(campaign, person.worker_id):
        if not campaign.capabilities.vouches:
            raise NotEligible("This study is for people who have passed its qualification.")
        raise AlreadyTookPart(
            "This study is for people who have passed its qualification, which is a HIT of its own. "
            "Please return this one; that does you no harm."
        )


def _refuse_another(campaign: Campaign) -> NoReturn:
    """This person has had all their sessions; whoever holds a HIT hears what to do with it."""
    if not campaign.capabilities.vouches:
        raise AlreadyTookPart
    raise AlreadyTookPart(
        "You have already taken part in this study. Please return this HIT: that does you no harm. Thank you."
    )


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
    allowed = selectors.sessions_allowed(person)
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
        _refuse_another(campaign)
    return None


def move_session(old: Assignment, new: Assignment) -> None:
    """A person's session goes on, or was submitted, under another assignment, and only there is it owed for."""
    if old.campaign.study_id != new.campaign.study_id:
        _refuse_another(new.campaign)
    session = old.session
    old.session = None
    old.save(update_fields=["session"])
    new.session = session
    new.save(update_fields=["session"])
    if old.state == AssignmentState.OPENED:
        advance(old, AssignmentState.RETURNED)


def _session_for(
    campaign: Campaign, person: RecruitedPerson, assignment: Assignment, arrival: Arrival, consent: Consent
) -> Session:
    session = assignment.session
    if session is not None and session.state != SessionState.WITHDRAWN:
        return session
    is_limited = bool(arrival.caller) and not arrival.scripted
    if is_limited:
        check_opening(campaign=campaign, caller=arrival.caller)
    session = participation.open_session(
        study=campaign.study,
        participant=person.participant,
        scripted=arrival.scripted,
        agreement=participation.Agreement(
            version=consent.version,
            digest=consent.digest,
            language=consent.language,
            by_guardian=arrival.is_minor,
        ),
        # A link has nobody who lists people; elsewhere an id in an address proves nothing.
        is_verified=not campaign.capabilities.vouches,
        recruiter=selectors.recruiter_of(campaign),
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
