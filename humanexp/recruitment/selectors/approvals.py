"""Whether a study's ethics approval is in force: as its file says, or as a member of the study has said since."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from humanexp.core import clock
from humanexp.recruitment.consent import ethics_of
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

    @property
    def is_expired(self) -> bool:
        return self.until is not None and clock.now().date() > self.until

    @property
    def is_in_force(self) -> bool:
        """Whether people may start. Studies that name no approval are judged by the pre-flight check."""
        return not (self.is_withdrawn or self.is_expired)


def approval_of(study: Study) -> Approval:
    """The newest word on it. Scripted participants need none."""
    if study.population == Population.SCRIPTED:
        return Approval()
    ethics = ethics_of(study)
    changed = ApprovalChange.objects.filter(study=study).last()
    if changed is None:
        return Approval(words=ethics.approval, until=ethics.last_day)
    return Approval(words=ethics.approval, until=changed.until, is_withdrawn=changed.is_withdrawn)
