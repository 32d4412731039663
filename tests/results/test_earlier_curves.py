"""Which curves volunteers see next to their own: of studies that are over, as they were; never of the running one."""

from __future__ import annotations

import pytest

from analysis.findings.model.entry import HUMANS
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.participation.models import EarlierCurves
from humanexp.participation.own_curves import Earlier, earlier_choices, freeze_earlier
from humanexp.results import selectors
from humanexp.results.models import AnalysisRun
from humanexp.studies.models import Origin, Population, Study, StudyFamily, StudyState
from tests.results.collected import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def over(analysed: AnalysisRun, user: User) -> Study:
    study = analysed.study
    Study.objects.filter(pk=study.pk).update(state=StudyState.STOPPED)
    study.memberships.get_or_create(user=user, role="owner")
    study.refresh_from_db()
    return study


@pytest.fixture
def running(user: User) -> Study:
    return make_study(by=user, slug="next")


@pytest.mark.verify
def test_people_and_networks_of_a_study_that_is_over(over: Study, running: Study, user: User) -> None:
    assert earlier_choices(user, running) == [(over.slug, over.title)]
    frozen = freeze_earlier(study=running, name=over.slug, by=user)
    found = Earlier.model_validate(frozen.content)
    assert found.title == over.title
    assert found.lines[0].kind == "people" and {line.kind for line in found.lines[1:]} == {"network"}
    run = selectors.latest_run(over)
    assert run is not None
    curves = [
        one
        for one in selectors.findings(run).curves
        if one.population == HUMANS and one.property == "accuracy" and one.abscissa == "visual_change"
    ]
    for v in (0.0, 0.5, 1.0):
        nearest = [
            min(zip(one.band.v, one.band.estimate, strict=True), key=lambda at: abs(at[0] - v)) for one in curves
        ]
        drawn = dict(zip(found.lines[0].visual_change, found.lines[0].rate, strict=True))[v]
        assert drawn == pytest.approx(sum(rate for _, rate in nearest) / len(nearest), abs=0.02)


def test_what_is_frozen_does_not_follow_the_study(over: Study, running: Study, user: User) -> None:
    frozen = freeze_earlier(study=running, name=over.slug, by=user)
    content = frozen.content
    assert freeze_earlier(study=running, name=over.slug, by=user).pk == frozen.pk, "the same curves are kept once"
    Study.objects.filter(pk=over.pk).update(title="Another title")
    AnalysisRun.objects.filter(study=over).delete()
    assert EarlierCurves.objects.get().content == content


@pytest.mark.parametrize(
    "changes",
    [
        {"state": StudyState.COLLECTING},
        {"state": StudyState.PAUSED},
        {"state": StudyState.DRAFT},
        {"population": Population.SCRIPTED},
    ],
)
def test_a_study_under_way_or_of_scripted_people_is_refused(
    over: Study, running: Study, user: User, changes: dict[str, str]
) -> None:
    Study.objects.filter(pk=over.pk).update(**changes)
    assert earlier_choices(user, running) == []
    with pytest.raises(InvalidRequest, match="cannot be shown"):
        freeze_earlier(study=running, name=over.slug, by=user)


def test_the_family_of_the_running_study_is_refused(over: Study, running: Study, user: User) -> None:
    """What people see must never depend on answers that they or others give in the meantime."""
    Study.objects.filter(pk=over.pk).update(family=running.family, version=2)
    assert earlier_choices(user, running) == []
    for name in (over.slug, running.slug):
        with pytest.raises(InvalidRequest, match="another family"):
            freeze_earlier(study=running, name=name, by=user)
    assert not EarlierCurves.objects.exists()


def test_imported_trials_are_over(over: Study, running: Study, user: User) -> None:
    Study.objects.filter(pk=over.pk).update(origin=Origin.IMPORTED, state=StudyState.COLLECTING)
    assert earlier_choices(user, running) == [(over.slug, over.title)]


def test_the_public_sees_only_what_the_researcher_may_take_away(over: Study, running: Study) -> None:
    viewer = User.objects.create_user("viewer")
    over.memberships.create(user=viewer, role="viewer")
    assert earlier_choices(viewer, running) == []
    with pytest.raises(InvalidRequest, match="may"):
        freeze_earlier(study=running, name=over.slug, by=viewer)


def test_a_corruption_function_without_a_curve_is_refused(over: Study, running: Study, user: User) -> None:
    assert running.stimulus_set is not None
    running.stimulus_set.corruptions = [*running.stimulus_set.corruptions, "fog"]
    with pytest.raises(InvalidRequest, match="every corruption function"):
        freeze_earlier(study=running, name=over.slug, by=user)


def test_a_study_without_an_analysis_is_not_offered(running: Study, user: User) -> None:
    bare = make_study(by=user, slug="bare")
    Study.objects.filter(pk=bare.pk).update(state=StudyState.STOPPED, family=StudyFamily.objects.create(slug="apart"))
    bare.memberships.get_or_create(user=user, role="owner")
    assert earlier_choices(user, running) == []
