from __future__ import annotations

import pytest

from humanexp.console.preflight.check import Launch
from humanexp.console.preflight.terms import paid_qualification
from humanexp.recruitment import services
from humanexp.recruitment.models import Campaign, Purpose
from humanexp.recruitment.services.people import person_for
from humanexp.recruitment.services.qualifying import plan_grant, type_for
from humanexp.studies.models import Study
from tests.recruitment.studies import make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unhurried", "open_gates")]


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def entrance(study: Study) -> Campaign:
    """Another study with pictures of its own, whose pass opens the first one's family."""
    return services.publish(
        study=make_study("entrance"),
        terms=services.LaunchTerms(to="marketplace", assignments=2, reward_cents=40, qualifies=study.family),
    )


def found(study: Study, to: str = "marketplace") -> tuple[str, str]:
    line = paid_qualification(Launch(study=study, to=to))
    return line.tone, line.detail


def test_a_family_without_one_needs_nothing(study: Study) -> None:
    assert found(study) == ("good", "No paid qualification opens this study's family here.")


def test_a_pass_counts_where_it_was_given(study: Study, entrance: Campaign) -> None:
    assert found(study, "link")[0] == "good", "nobody is asked to have passed there"
    tone, detail = found(study, "production")
    assert tone == "warn" and "runs on own marketplace" in detail


def test_it_tells_how_many_have_passed(study: Study, entrance: Campaign) -> None:
    assert found(study) == (
        "warn",
        "No one has passed entrance yet, so no one would see a campaign that requires it.",
    )
    person = person_for(environment="marketplace", worker_id="APASSED", family=entrance.study.family)
    held = type_for(environment="marketplace", family=study.family, purpose=Purpose.PASSED)
    plan_grant(person=person, qualification=held)
    assert found(study) == ("good", "entrance was passed by 1 so far; 24 sessions are free.")
    Campaign.objects.update(state="stopped")
    tone, detail = found(study)
    assert tone == "warn" and "not recruiting any more" in detail


def test_a_qualification_with_the_studys_own_pictures_is_told(study: Study, entrance: Campaign) -> None:
    theirs = {image.key: image.sha256 for image in study.stimulus_set.source_set.images.all()}
    for image in entrance.study.stimulus_set.source_set.images.all():
        type(image).objects.filter(pk=image.pk).update(sha256=theirs[image.key])
    tone, detail = found(study)
    assert tone == "warn" and "originals of this study: who passed has seen them" in detail
