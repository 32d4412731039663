"""What must hold before a launch: an ethics approval, the gates of other apps, and the currency of the account.

Apps that know more than recruiting register a gate; `publish` asks all of them. The other side of an account says in
which currency it pays before anything is launched through it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from humanexp.addresses import is_loopback
from humanexp.core import clock
from humanexp.core.errors import (
    Conflict,
    InvalidRequest,
    KeysRefused,
    RecruiterError,
    RecruiterUnavailable,
    StudyRefused,
    WrongCurrency,
)
from humanexp.core.models import User, record
from humanexp.recruiters import money, registry
from humanexp.recruiters.campaigns import consent_version_of, ethics_of
from humanexp.recruiters.models import Campaign, RecruiterAccount
from humanexp.recruiters.money import Quote
from humanexp.recruiters.registry import capabilities_of
from humanexp.recruiting.models import ApprovalChange
from humanexp.studies import permissions
from humanexp.studies.models import Action, Population, Study


class Gate(Protocol):
    """Says in a sentence why a study may not be launched there at this price; nothing when it may."""

    def __call__(self, *, study: Study, to: str, price: Quote) -> str: ...


GATES: list[Gate] = []


def register(gate: Gate) -> None:
    GATES.append(gate)


def is_at_home() -> bool:
    """Whether the platform answers on this machine alone."""
    return is_loopback(urlsplit(settings.PUBLIC_URL).hostname or "")


def is_rehearsal(to: str) -> bool:
    """No stranger can come: nobody but this machine reaches the platform, or the recruiter is a sandbox."""
    return is_at_home() or capabilities_of(to).is_sandbox


def is_asked(study: Study, to: str) -> bool:
    """Scripted participants are no people: their studies open on our own grounds without a check."""
    return not (study.population == Population.SCRIPTED and capabilities_of(to).is_own_ground)


def refusal(*, study: Study, to: str, price: Quote) -> str:
    """The first gate's sentence, or nothing."""
    if not is_asked(study, to):
        return ""
    return next((sentence for gate in GATES if (sentence := gate(study=study, to=to, price=price))), "")


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
    is_named = study.population != Population.PEOPLE or approval_of(study).words.strip()
    if not is_named and not is_rehearsal(campaign.environment):
        raise StudyRefused(
            "This study names no ethics approval, so no one from outside can be recruited. State under approval in "
            "[ethics] of the study file who approved it and the number, or who decided that it is exempt."
        )


#: Those that the recruiters pay in, all with two decimals; sums are kept in each, and nothing is ever converted.
CURRENCIES = tuple(money.SIGNS)


def take_over_currency(*, code: str) -> None:
    """As the other side names it, until something was launched: from then on another one is a fault.

    A limit in the earlier currency was not meant in this one.
    """
    account = registry.account_of(code)
    if not account.kind.names_currency or registry.is_settled(code):
        return
    named = account.kind.named_currency(account)
    if named not in CURRENCIES:
        raise WrongCurrency(f"{account.name} pays in {named}; sums are kept here in {', '.join(CURRENCIES)} alone.")
    with transaction.atomic():
        told = {"currency": named, "balance_at": clock.now()}
        RecruiterAccount.objects.update_or_create(environment=code, defaults=told)
        if named != account.currency:
            RecruiterAccount.objects.filter(environment=code, month_cap_cents__gt=0).update(month_cap_cents=0)
            changed = {"currency": named, "before": account.currency}
            record(action="account-currency", subject=f"recruiter:{code}", by=None, **changed)
    registry.forget(code)


def check_currency_named(code: str) -> None:
    """Before a launch: its sums are in the account's currency for good, so it cannot be one that we only suppose.

    It is asked for where it was not named yet. Never call it in a transaction.
    """
    if registry.is_currency_named(code) or registry.is_settled(code):
        return
    name, supposed = registry.name_of(code), registry.currency_of(code)
    try:
        take_over_currency(code=code)
    except (KeysRefused, WrongCurrency):
        raise
    except RecruiterError as error:
        raise RecruiterUnavailable(
            f"{name} has never said in which currency this account pays, and cannot be asked now ({error.message}) "
            "Nothing was launched. Try again when it answers."
        ) from error
    named = registry.currency_of(code)
    if named != supposed:
        raise Conflict(
            f"{name} says that this account pays in {named}; until now prices were shown in {supposed}. Nothing was "
            "launched: look at the price again, then launch it."
        )
