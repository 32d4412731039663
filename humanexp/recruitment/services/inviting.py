"""Personal links for a list of people: one signed link each, which expires, can be taken back, and is one person's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.urls import reverse

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest, StudyRefused, TokenRefused
from humanexp.core.fingerprints import pseudonym_key
from humanexp.core.keys import pseudonym, random_code
from humanexp.core.models import User
from humanexp.recruitment.models import Campaign, Invitation, LinkTerms
from humanexp.studies import permissions
from humanexp.studies.roles import Action

MOST_PEOPLE, LONGEST_LABEL = 2_000, 200
DAYS, MOST_DAYS = 14, 90


@dataclass(frozen=True, kw_only=True)
class Invited:
    """One line of the file for a mail merge. The label is told once and stored nowhere."""

    label: str
    invitation: Invitation

    @property
    def address(self) -> str:
        """The proof stands behind the #: it reaches no log with the page's address. Empty once it was taken back."""
        if self.invitation.revoked_at is not None:
            return ""
        path = reverse("recruitment:take", args=[self.invitation.campaign.entry])
        return f"{settings.PUBLIC_URL.rstrip('/')}{path}#{_signer().sign(str(self.invitation.pk))}"


@transaction.atomic
def invite(*, campaign: Campaign, labels: Iterable[str], days: int = DAYS, by: User) -> list[Invited]:
    """A link for everybody on the list; who had one keeps it, and it lives on from now. One bad line refuses all."""
    permissions.check(by, Action.LAUNCH, campaign.study)
    _check_campaign(campaign)
    if not 1 <= days <= MOST_DAYS:
        raise InvalidRequest(f"A personal link lives for 1 to {MOST_DAYS} days.", fields={"days": f"1 to {MOST_DAYS}"})
    wanted = _checked(labels)
    now = clock.now()
    known = {one.label_hash: one for one in campaign.invitations.select_for_update()}
    hashes = {label: _hash(campaign, label) for label in wanted}
    Invitation.objects.bulk_create(
        Invitation(
            campaign=campaign,
            code=random_code("I", 10),
            label_hash=hashes[label],
            made_at=now,
            made_by=by,
            expires_at=now + timedelta(days=days),
        )
        for label in wanted
        if hashes[label] not in known
    )
    again = campaign.invitations.filter(label_hash__in=set(hashes.values()) & set(known), revoked_at=None)
    again.update(expires_at=now + timedelta(days=days))
    rows = {one.label_hash: one for one in campaign.invitations.select_related("campaign")}
    made = [Invited(label=label, invitation=rows[hashes[label]]) for label in wanted]
    _record("invite-people", campaign, by, people=len(made), new=len(wanted) - len(set(hashes.values()) & set(known)))
    return made


@transaction.atomic
def revoke_invitations(*, campaign: Campaign, said: str = "", by: User) -> int:
    """Take links back: of one person by label or code, or all of them. Whoever has begun can still finish."""
    permissions.check(by, Action.LAUNCH, campaign.study)
    found = campaign.invitations.filter(revoked_at=None)
    if said:
        one = found.filter(code=said.strip().upper())
        found = one if one.exists() else found.filter(label_hash=_hash(campaign, said))
    count = found.update(revoked_at=clock.now())
    if count:
        _record("revoke-invitations", campaign, by, links=count)
    return count


def invited(*, campaign: Campaign, link: str) -> str:
    """The code of the person whom a personal link names. Raises TokenRefused."""
    try:
        pk = int(_signer().unsign(link))
    except (signing.BadSignature, ValueError) as error:
        raise TokenRefused from error
    found = campaign.invitations.filter(pk=pk).first()
    if found is None or not found.is_open(clock.now()):
        raise TokenRefused("This personal link has expired, or was taken back: ask for another one.", reason="expired")
    return found.code


def takes_invitations(campaign: Campaign) -> bool:
    """Whether people can come by a list: not where a site names every single participation, and not volunteers."""
    terms, can = LinkTerms.of(campaign), campaign.capabilities
    return not (can.vouches or can.is_public) and (terms is None or not terms.submission_parameter)


def _check_campaign(campaign: Campaign) -> None:
    if not takes_invitations(campaign):
        raise StudyRefused("People whom a panel sends come by its own address: personal links are for your own list.")


def _checked(labels: Iterable[str]) -> list[str]:
    wanted = [label.strip() for label in labels if label.strip()]
    if not 1 <= len(wanted) <= MOST_PEOPLE:
        raise InvalidRequest(f"Enter 1 to {MOST_PEOPLE} people, one on a line.", fields={"labels": "one on a line"})
    for number, label in enumerate(wanted, start=1):
        if len(label) > LONGEST_LABEL or not label.isprintable():
            raise InvalidRequest(
                f"Line {number} is longer than {LONGEST_LABEL} characters or has signs that cannot be printed; no link "
                "was made.",
                fields={"labels": f"line {number}"},
            )
    if len({label.casefold() for label in wanted}) < len(wanted):
        raise InvalidRequest("Someone is on the list twice; no link was made.", fields={"labels": "each once"})
    return wanted


def _hash(campaign: Campaign, label: str) -> str:
    return pseudonym(pseudonym_key(), "invitation", campaign.entry, label.strip().casefold(), prefix="N", length=30)


def _signer() -> signing.Signer:
    return signing.Signer(salt="humanexp.invitation")


def _record(action: str, campaign: Campaign, by: User, **facts: object) -> None:
    record(action=action, subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by, **facts)
