"""Course credit by a site's own call: planned when a part is done, sent at most once, and decided by a person after."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest, OutcomeUnknown, RecruiterError, RecruiterUnavailable
from humanexp.core.models import User
from humanexp.key_files import read_key
from humanexp.participation.models import FINISHED
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Assignment, Credit, LinkTerms
from humanexp.recruitment.models.people import FROM
from humanexp.recruitment.recruiters import credit_call
from humanexp.recruitment.recruiters.presets import HANDLING
from humanexp.recruitment.selectors.desk import credits_to_decide
from humanexp.recruitment.services.outbox import Report
from humanexp.recruitment.states import WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.roles import Action


def token_of(experiment: str) -> str:
    """The secret of one experiment, from the environment or a key file; empty where there is none."""
    given = settings.CREDIT_TOKENS.get(experiment, "")
    return given or read_key(Path(settings.MEDIA_ROOT) / "keys" / f"credit_token_{experiment}") or ""


def check_token(terms: LinkTerms) -> None:
    """Refuse a launch whose credit could not be given."""
    if terms.credit_site and not token_of(terms.experiment):
        raise InvalidRequest(
            f"There is no credit token for experiment {terms.experiment}: set CREDIT_TOKENS={terms.experiment}=TOKEN, "
            f"or write it into the file keys/credit_token_{terms.experiment} below MEDIA_ROOT.",
            fields={"link_experiment": "no credit token is known for it"},
        )


def plan_credits() -> int:
    """A row for everybody who has earned credit by now, and came with an id of the site. Twice is once."""
    earned = Assignment.objects.filter(
        ~Q(campaign__link_terms__credit_site=""),
        campaign__link_terms__isnull=False,
        session__state__in=FINISHED,
        credit=None,
        person__isnull=False,
    ).select_related("campaign__link_terms", "person", "session")
    planned = 0
    for row in earned.iterator():
        outcome = selectors.outcome_of(row.session) if row.session else None
        if outcome is not None and HANDLING[outcome].paid == "full" and _is_of_site(row):
            _credit, is_new = Credit.objects.get_or_create(assignment=row, defaults={"campaign": row.campaign})
            planned += is_new
    return planned


def send_credits() -> Report:
    """Send what is planned, each row once. Never call it in a transaction."""
    report = Report()
    for pk in list(Credit.objects.filter(state=WriteState.PLANNED).values_list("pk", flat=True)):
        # The conditional update decides between two senders; a row that was once sent is never sent by itself again.
        if Credit.objects.filter(pk=pk, state=WriteState.PLANNED).update(
            state=WriteState.SENDING, sent_at=clock.now(), last_error=""
        ):
            _send(Credit.objects.select_related("campaign__link_terms", "assignment__person").get(pk=pk), report)
    return report


@transaction.atomic
def send_credit_again(*, credit: Credit, by: User) -> Credit:
    """A person has looked at the site: the call may be made once more. The site refuses a second credit itself."""
    credit = _for_a_person(credit, by)
    record(action="send-credit-again", subject=f"credit:{credit.pk}", study=credit.campaign.study.slug, by=by)
    return advance(credit, WriteState.PLANNED, decided_by=by, last_error="")


@transaction.atomic
def credit_by_hand(*, credit: Credit, by: User) -> Credit:
    """A person has given the credit on the site, or seen that it is there."""
    credit = _for_a_person(credit, by)
    record(action="credit-by-hand", subject=f"credit:{credit.pk}", study=credit.campaign.study.slug, by=by)
    return advance(credit, WriteState.CONFIRMED, decided_by=by, confirmed_at=clock.now())


def _send(credit: Credit, report: Report) -> None:
    person, terms = credit.assignment.person, credit.campaign.link_terms
    try:
        if person is None:
            raise RecruiterError("The person was deleted before the credit was given.")
        token = token_of(terms.experiment)
        call = selectors.site_of(terms).credit
        if call is None or not token:
            raise RecruiterUnavailable(f"There is no credit token for experiment {terms.experiment}.")
        credit_call.grant(
            call, origin=terms.credit_site, experiment=terms.experiment, token=token, person=person.given_id
        )
    except RecruiterUnavailable as error:  # certainly not done
        advance(credit, WriteState.PLANNED, last_error=error.message)
        report.remark(error.message)
    except OutcomeUnknown as error:
        Credit.objects.filter(pk=credit.pk).update(last_error=error.message)
        report.remark(f"{credit}: {error.message}")
    except RecruiterError as error:
        advance(credit, WriteState.REFUSED, last_error=error.message)
        report.remark(f"{credit}: {error.message}")
    else:
        advance(credit, WriteState.CONFIRMED, confirmed_at=clock.now())


def _is_of_site(row: Assignment) -> bool:
    """Whether the site knows the person; somebody whom a list of our own has invited has no id there."""
    terms: LinkTerms = row.campaign.link_terms
    return row.person is not None and row.person.worker_id.startswith(f"{terms.preset}{FROM}")


def _for_a_person(credit: Credit, by: User) -> Credit:
    permissions.check(by, Action.PAY, credit.campaign.study)
    if not credits_to_decide([credit.campaign.study]).filter(pk=credit.pk).exists():
        raise Conflict("This credit is given, or on its way: nothing has to be decided.")
    return Credit.objects.select_related("campaign__study").get(pk=credit.pk)
