"""The entry page of a campaign that is not launched yet: what a person would see, with no row behind it.

The name in the address is signed and lives for an hour. Only pages that write nothing take it: opening a session
refuses it.
"""

from __future__ import annotations

from django.core import signing

from humanexp.recruitment import recruiters, selectors
from humanexp.recruitment.models import Campaign
from humanexp.studies.models import Study

LIVES_S = 3600
_SALT = "humanexp.rehearsal"


def entry_of(*, study: Study, to: str) -> str:
    """The name of the page in addresses."""
    return signing.dumps([study.pk, to], salt=_SALT)


def campaign_of(entry: str) -> Campaign | None:
    """The campaign as it would be launched with the suggested terms, unsaved; None for any other name."""
    try:
        pk, to = signing.loads(entry, salt=_SALT, max_age=LIVES_S)
    except signing.BadSignature:
        return None
    study = Study.objects.select_related("family").filter(pk=pk).first()
    if study is None or not recruiters.is_known(to):
        return None
    terms = selectors.suggested_terms(study)
    return Campaign(
        study=study,
        environment=to,
        entry=entry,
        title=terms.title,
        description=terms.description,
        reward_cents=terms.reward_cents if recruiters.capabilities_of(to).pays else 0,
        assignments=max(1, terms.assignments),
        estimated_minutes=terms.estimated_minutes,
        contact=terms.contact,
    )
