"""Whether a study's ethics approval is in force: as its file says, or as a member of the study has said since."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date

from humanexp.core import clock
from humanexp.recruitment.consent import consent_version_of, ethics_of
from humanexp.recruitment.models import ApprovalChange
from humanexp.studies.models import Population, Study


@dataclass(frozen=True, kw_only=True)
class Approval:
    """An approval as it is today."""

    #: who approved the study, or who said that it is exempt; empty where the study does not say
    words: str = ""
    #: last day; None where it does not end
    until: date | None = None
    is_withdrawn: bool = False
    #: version of the consent text that was approved, and of the one that people read; empty: not compared
    approved_consent: str = ""
    shown_consent: str = ""

    @property
    def is_expired(self) -> bool:
        return self.until is not None and clock.now().date() > self.until

    @property
    def has_another_text(self) -> bool:
        """Whether people would read another consent text than the approved one."""
        return bool(self.approved_consent) and self.approved_consent != self.shown_consent

    @property
    def is_in_force(self) -> bool:
        """Whether people may start. Studies that name no approval are judged by the pre-flight check."""
        return not (self.is_withdrawn or self.is_expired)


def approval_of(study: Study) -> Approval:
    """The newest word on it. Scripted participants need none."""
    return approvals_of([study])[study.pk]


def approvals_of(studies: Collection[Study]) -> Mapping[int, Approval]:
    """The same of many studies, by their keys."""
    asked = [study for study in studies if study.population != Population.SCRIPTED]
    changes: dict[int, list[ApprovalChange]] = {}
    for change in ApprovalChange.objects.filter(study__in=[study.pk for study in asked]) if asked else ():
        changes.setdefault(change.study_id, []).append(change)
    found = {study.pk: _approval(study, changes.get(study.pk, [])) for study in asked}
    return {study.pk: found.get(study.pk, Approval()) for study in studies}


def _approval(study: Study, changes: list[ApprovalChange]) -> Approval:
    ethics = ethics_of(study)
    changed = changes[-1] if changes else None
    covering = next((change for change in reversed(changes) if change.consent), None)
    return Approval(
        words=ethics.approval,
        until=ethics.last_day if changed is None else changed.until,
        is_withdrawn=changed is not None and changed.is_withdrawn,
        approved_consent=ethics.approved_consent if covering is None else covering.consent,
        shown_consent=consent_version_of(study),
    )
