from __future__ import annotations

import re

from django.db import transaction

from humanexp.core.errors import InvalidRequest
from humanexp.experiments import services as experiments
from humanexp.experiments.models import StudyFamily
from humanexp.recruitment.models import Environment, RecruitedPerson
from humanexp.recruitment.selectors.people import code_of

#: MTurk's CustomerId allows capitals and digits only; a panel's ids are freer, but no addresses: they name people.
_WORKER_ID = re.compile(r"[A-Z0-9]{1,64}")
_PANEL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


def check_worker_id(environment: str, worker_id: str) -> str:
    """The id, if it has the form of one."""
    pattern = _PANEL_ID if environment == Environment.LINK else _WORKER_ID
    if not pattern.fullmatch(worker_id):
        raise InvalidRequest("This link does not say who you are: open the study again from where you found it.")
    return worker_id


@transaction.atomic
def person_for(*, environment: str, worker_id: str, family: StudyFamily, scripted: bool = False) -> RecruitedPerson:
    """The person behind a worker id, known from now on by a code."""
    check_worker_id(environment, worker_id)
    known = RecruitedPerson.objects.filter(environment=environment, worker_id=worker_id, family=family)
    person = known.select_related("participant").first()
    if person is not None:
        return person
    if scripted:
        participant = experiments.scripted_participant(family=family)
    else:
        code = code_of(environment=environment, worker_id=worker_id, family=family)
        participant = experiments.participant_for(family=family, code=code)
    person, _ = RecruitedPerson.objects.get_or_create(
        environment=environment, worker_id=worker_id, family=family, defaults={"participant": participant}
    )
    return person
