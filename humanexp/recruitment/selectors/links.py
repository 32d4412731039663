"""Links to a site: its terms, whom an address names, and how somebody goes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from humanexp.participation.models import FINISHED, DamagedPicture, Session, SessionState
from humanexp.recruitment.models import Assignment, LinkTerms
from humanexp.recruitment.recruiters import presets
from humanexp.recruitment.recruiters.presets import Preset, TicketRefused
from humanexp.recruitment.recruiters.tickets import Outcome, Ticket, WayOut


def site_of(terms: LinkTerms) -> Preset:
    return presets.preset_called(terms.preset)


def ticket_in(terms: LinkTerms, query: Mapping[str, str]) -> Ticket:
    return presets.ticket_of(terms.parameters, query)


def is_unfilled(terms: LinkTerms, ticket: Ticket) -> bool:
    """Whether the site has not put people's ids into the address: placeholders stand there, or what it never gives."""
    site = site_of(terms)
    given = [id_ for id_ in (ticket.person, ticket.submission) if id_]
    return presets.is_unfilled(ticket, site) or not all(re.fullmatch(site.ids, id_) for id_ in given)


def check_ticket(terms: LinkTerms, ticket: Ticket) -> None:
    """Refuse who comes without an id, or with one that the site has not given."""
    needed = [ticket.person, ticket.submission] if terms.submission_parameter else [ticket.person]
    if is_unfilled(terms, ticket) or not all(needed):
        raise TicketRefused


def is_stopped(session: Session) -> bool:
    """Whether a damaged picture keeps its person from going on."""
    return DamagedPicture.objects.filter(session=session, mended_at=None).exists()


def outcome_of(session: Session, *, is_stopped: Callable[[Session], bool] = is_stopped) -> Outcome | None:
    """How a session has ended; None while it has not."""
    # whoever has done their part stays owed for it, whatever becomes of the answers afterwards
    is_withdrawn = session.state == SessionState.WITHDRAWN
    has_finished = (session.withdrawn_from if is_withdrawn else session.state) in FINISHED
    if session.out_of_time:
        return Outcome.FINISHED
    if session.left_at is not None or (is_withdrawn and not has_finished):
        return Outcome.LEFT
    if has_finished:
        if session.practised is False:
            return Outcome.PRACTICE_FAILED
        return Outcome.QUALIFICATION_FAILED if session.qualified is False else Outcome.FINISHED
    return Outcome.TECHNICAL_FAILURE if is_stopped(session) else None


def ticket_behind(assignment: Assignment) -> Ticket:
    """The ids that a person came with, as they are kept in the one table."""
    person = assignment.person.given_id if assignment.person is not None else ""
    return Ticket(person=person, submission=assignment.assignment_id)


def way_out(terms: LinkTerms, outcome: Outcome, ticket: Ticket) -> WayOut:
    """How somebody with this outcome goes back, by what was frozen with the campaign."""
    row = terms.campaign.outcome_codes.get(outcome=outcome)
    return presets.way_out(
        outcome=outcome,
        code=row.code,
        site=site_of(terms),
        return_address=terms.return_address,
        ticket=ticket,
    )
