"""What becomes of an ethics approval, said by a member of the study, and what may not begin without one."""

from __future__ import annotations

from datetime import date

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest, StudyRefused
from humanexp.core.models import User
from humanexp.recruitment import launch_gates
from humanexp.recruitment.consent import consent_version_of, has_blocks
from humanexp.recruitment.models import ApprovalChange, Campaign
from humanexp.recruitment.selectors.approvals import approval_of
from humanexp.studies import permissions
from humanexp.studies.models import Population, Study
from humanexp.studies.roles import Action


@transaction.atomic
def withdraw_approval(*, study: Study, by: User | None) -> ApprovalChange:
    """No one can start from now on; people under way finish."""
    permissions.check(by, Action.LAUNCH, study)
    return _changed(study, by, is_withdrawn=True)


@transaction.atomic
def renew_approval(
    *, study: Study, until: date | None, by: User | None, covers_shown_text: bool = False
) -> ApprovalChange:
    """The approval has another last day, or none, and is no longer withdrawn.

    `covers_shown_text`: the board has approved the consent text that people read now.
    """
    permissions.check(by, Action.LAUNCH, study)
    if until is not None and until < clock.now().date():
        raise InvalidRequest(
            f"{until} is over: enter the last day of the approval that holds now.", fields={"until": "a day to come"}
        )
    return _changed(study, by, until=until, consent=consent_version_of(study) if covers_shown_text else "")


def _changed(
    study: Study, by: User | None, *, until: date | None = None, is_withdrawn: bool = False, consent: str = ""
) -> ApprovalChange:
    change = ApprovalChange.objects.create(
        study=study, is_withdrawn=is_withdrawn, until=until, consent=consent, changed_by=by, changed_at=clock.now()
    )
    action = "withdraw-approval" if is_withdrawn else "renew-approval"
    facts = {} if is_withdrawn else {"until": str(until or "no end")}
    if consent:
        facts["consent"] = consent
    record(action=action, subject=f"study:{study.slug}", study=study.slug, by=by, **facts)
    return change


def check_approval(study: Study) -> None:
    """Refuse to launch, to extend or to go on without an approval in force of the text that people read."""
    approval = approval_of(study)
    if approval.is_withdrawn:
        raise StudyRefused(
            "The ethics approval of this study was withdrawn: no one can be recruited. Once it is given again, enter "
            "its last day on the page Recruit."
        )
    if approval.is_expired:
        raise StudyRefused(
            f"The ethics approval of this study ended on {approval.until} (approved_until under [ethics]): no one can "
            "be recruited. Once it is extended, enter its new last day on the page Recruit."
        )
    if approval.has_another_text:
        raise StudyRefused(
            f"The ethics approval of this study covers the consent text {approval.approved_consent} (approved_consent "
            f"under [ethics]), and people would read {approval.shown_consent}. Have that text approved, and say so on "
            "the page Recruit."
        )


def check_continuing(campaign: Campaign) -> None:
    """The same before a campaign gets more places or time; what it lacks may have been no matter at its launch.

    At a launch the pre-flight check asks for the approval by name; a rehearsal may do without one until strangers come.
    """
    study = campaign.study
    check_approval(study)
    needs_name = study.population == Population.PEOPLE and has_blocks(study)
    if needs_name and not approval_of(study).words.strip() and not launch_gates.is_rehearsal(campaign.environment):
        raise StudyRefused(
            "This study names no ethics approval, so no one from outside can be recruited. State under approval in "
            "[ethics] of the study file who approved it and the number, or who decided that it is exempt."
        )
