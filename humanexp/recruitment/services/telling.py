"""What a payer is told of people by the ids of a site. Each use leaves a line in the record, which names no id."""

from __future__ import annotations

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.recruitment.models import LinkTerms
from humanexp.recruitment.selectors.site_people import SitePerson, credited, people_of_site
from humanexp.studies import permissions
from humanexp.studies.roles import Action


@transaction.atomic
def list_finished(*, terms: LinkTerms, by: User) -> list[SitePerson]:
    """Everybody who came from the site."""
    permissions.check(by, Action.PAY, terms.campaign.study)
    found = list(people_of_site(terms))
    _record("list-finished", terms, by, people=len(found))
    return found


@transaction.atomic
def list_credited(*, terms: LinkTerms, by: User) -> list[str]:
    """Those who have earned credit, for whoever gives it: sorted, so that it tells no order."""
    permissions.check(by, Action.PAY, terms.campaign.study)
    found = sorted(set(credited(terms)))
    _record("list-finished", terms, by, people=len(found))
    return found


@transaction.atomic
def look_up(*, terms: LinkTerms, said: str, by: User) -> SitePerson | None:
    """One person, by an id that they or the site have named."""
    permissions.check(by, Action.PAY, terms.campaign.study)
    said = said.strip()
    if not 1 <= len(said) <= 64:
        raise InvalidRequest("Enter one id, as the site shows it.", fields={"id": "1 to 64 characters"})
    found = next(people_of_site(terms, said), None)
    _record("look-up-id", terms, by, found=found is not None)
    return found


def _record(action: str, terms: LinkTerms, by: User, **facts: object) -> None:
    study = terms.campaign.study.slug
    record(action=action, subject=f"campaign:{terms.campaign_id}", study=study, by=by, **facts)
