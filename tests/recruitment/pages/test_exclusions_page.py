from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from humanexp.core.models import AuditEvent, User
from humanexp.recruiters.models import Exclusion
from humanexp.recruiters.people import exclude_people, is_excluded
from humanexp.studies.models import Study
from tests.markup import words
from tests.recruitment.studies import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def listed(study: Study) -> Exclusion:
    exclude_people(family=study.family, worker_ids=["AWORKER1SECRET"], environment="marketplace", note="pilot of May")
    return study.family.exclusions.get()


def test_the_list_holds_codes_and_reasons_and_is_searched(study: Study, listed: Exclusion, console: Client) -> None:
    address = f"/studies/{study.slug}/recruit/exclusions/"
    page = console.get(address).content.decode()
    assert "1 person cannot take part in the family noise" in page
    assert listed.code in page and "pilot of May" in page and "AWORKER1SECRET" not in page
    assert listed.code in console.get(address, {"query": "of May"}).content.decode()
    assert "No one on the list matches" in console.get(address, {"query": "June"}).content.decode()
    assert address in console.get(f"/studies/{study.slug}/recruit/").content.decode()


def test_taking_somebody_off_is_asked_first_and_recorded(
    study: Study, listed: Exclusion, console: Client, researcher: User
) -> None:
    entry = f"/studies/{study.slug}/recruit/exclusions/{listed.pk}/"
    assert f"Let {listed.code} take part?" in console.get(entry).content.decode()
    assert study.family.exclusions.exists()
    page = words(console.post(entry, follow=True).content)
    assert f"{listed.code} may take part from now on" in page and "0 people cannot take part" in page
    assert not is_excluded(study.family, environment="marketplace", worker_id="AWORKER1SECRET")
    line = AuditEvent.objects.get(action="lift-exclusion")
    assert (line.study, line.by, line.facts["code"]) == (study.slug, researcher, listed.code)
    assert console.post(entry).status_code == 404


def test_it_takes_the_role_in_every_study_of_the_family(
    study: Study, listed: Exclusion, console: Client, member: Callable[[str], Client]
) -> None:
    address = f"/studies/{study.slug}/recruit/exclusions/"
    assert member("viewer").get(address).status_code == 403
    reviewer = member("reviewer")
    assert "Take off the list" not in reviewer.get(address).content.decode()
    assert reviewer.post(f"{address}{listed.pk}/").status_code == 403
    elsewhere = make_study("blur")
    assert console.get(f"/studies/{elsewhere.slug}/recruit/exclusions/{listed.pk}/").status_code == 404
    Study.objects.filter(pk=elsewhere.pk).update(family=study.family, version=2)
    refused = console.post(f"{address}{listed.pk}/", follow=True).content.decode()
    assert "also that of the study blur" in refused and study.family.exclusions.exists()
