"""What becomes of an ethics approval, said by a member of the study, and what may not begin without one."""

from __future__ import annotations

from datetime import date

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest, StudyRefused
from humanexp.core.models import User
from humanexp.recruitment.models import ApprovalChange
from humanexp.recruitment.selectors.approvals import approval_of
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action


@transaction.atomic
def withdraw_approval(*, study: Study, by: User | None) -> ApprovalChange:
    """No one can start from now on; people under way finish."""
    permissions.check(by, Action.LAUNCH, study)
    return _changed(study, by, is_withdrawn=True)


@transaction.atomic
def renew_approval(*, study: Study, until: date | None, by: User | None) -> ApprovalChange:
    """The approval has another last day, or none, and is no longer withdrawn."""
    permissions.check(by, Action.LAUNCH, study)
    if until is not None and until < clock.now().date():
        raise InvalidRequest(
            f"{until} is over: enter the last day of the approval that holds now.", fields={"until": "a day to come"}
        )
    return _changed(study, by, until=until)


def _changed(study: Study, by: User | None, *, until: date | None = None, is_withdrawn: bool = False) -> ApprovalChange:
    change = ApprovalChange.objects.create(
        study=study, is_withdrawn=is_withdrawn, until=until, changed_by=by, changed_at=clock.now()
    )
    action = "withdraw-approval" if is_withdrawn else "renew-approval"
    facts = {} if is_withdrawn else {"until": str(until or "no end")}
    record(action=action, subject=f"study:{study.slug}", study=study.slug, by=by, **facts)
    return change


def check_approval(study: Study) -> None:
    """Refuse to launch or to extend without an approval in force."""
    approval = approval_of(study)
    if approval.is_withdrawn:
        raise StudyRefused(
            "The ethics approval of this study was withdrawn: no one can be recruited. Once it is given again, enter "
            "its last day on the page Recruit."
        )
    if approval.is_expired:
        raise StudyRefused(
            f"The ethics approval of this study ended on {approval.until}: no one can be recruited. Once it is "
            "extended, enter its new last day on the page Recruit."
        )
