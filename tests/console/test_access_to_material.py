"""Pictures, stimuli, predictions and searches: every address with its owner, a colleague, a role, a stranger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from humanexp.console.access import MATERIAL, MATERIALS
from humanexp.core.errors import NotAllowed
from humanexp.core.models import AuditEvent, Lab, User
from humanexp.core.ownership import Right, may
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services import evaluations
from humanexp.jobs import services as jobs
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.services.generation import request_deletion, start_generation
from humanexp.stimuli.services.sources import delete_source_set, describe_source_set, freeze_source_set
from humanexp.studies.models import Study
from tests.factories import draft_study, make_stimulus_set

pytestmark = pytest.mark.django_db

#: What sending to each address takes, written out a second time and by hand; "-": there is no row yet.
WANTED = {
    "-": """
        stimuli:stimulus_sets stimuli:new stimuli:estimate stimuli:example
        stimuli:new_source stimuli:labels stimuli:new_labels evaluations:classifiers
        evaluations:new evaluations:upload evaluations:take evaluations:upload_model counterfactuals:leaderboard
        counterfactuals:new counterfactuals:across counterfactuals:group counterfactuals:transfer
        counterfactuals:group-file
    """,
    "stimulus_set change": """
        stimuli:stimulus_set stimuli:generate stimuli:manifest stimuli:coverage_json stimuli:coverage_file
        stimuli:delete stimuli:browse stimuli:stimulus
        console:set-figures console:set-figure
    """,
    "source_set change": """
        stimuli:source_set stimuli:describe_source stimuli:freeze_source stimuli:delete_source
        evaluations:select_gold
    """,
    "labels change": "stimuli:label_space stimuli:labels_file stimuli:delete_labels",
    "original change": "stimuli:original",
    "stimulus change": "stimuli:picture stimuli:small",
    "evaluation change": "evaluations:run evaluations:kind evaluations:delete",
    "retraining change": """
        evaluations:retraining evaluations:learning_curve console:retraining-figures console:retraining-figure
    """,
    "counterfactual change": "counterfactuals:picture",
    "search change": """
        counterfactuals:search counterfactuals:freeze counterfactuals:stimuli counterfactuals:export
        console:search-figures console:search-figure
    """,
    # whoever may launch the study of a round goes on with it, and the service asks for that
    "round read": "counterfactuals:close-round",
}


def addresses() -> set[str]:
    def walk(patterns: list[Any], namespace: str) -> Iterator[str]:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, ":".join(filter(None, [namespace, pattern.namespace or ""])))
            elif isinstance(pattern, URLPattern):
                yield f"{namespace}:{pattern.name}"

    apps = ("stimuli:", "evaluations:", "counterfactuals:")
    figures = ("-figures", "-figure")
    found = walk(get_resolver().url_patterns, "")
    return {name for name in found if name.startswith(apps) or name.endswith(figures)}


@pytest.fixture
def people(db: None) -> dict[str, User]:
    Lab.objects.create(name="elsewhere")
    made = {name: User.objects.create_user(name) for name in ("owner", "stranger", "viewer", "analyst")}
    made["elsewhere"] = User.objects.create_user("elsewhere", lab_id="elsewhere")
    made["head"] = User.objects.create_user("head", is_staff=True)
    return made


@pytest.fixture
def stimulus_set(people: dict[str, User]) -> StimulusSet:
    found = make_stimulus_set()
    StimulusSet.objects.filter(pk=found.pk).update(created_by=people["owner"])
    SourceSet.objects.filter(pk=found.source_set_id).update(created_by=people["owner"], frozen_at=None)
    found.refresh_from_db()
    return found


@pytest.fixture
def study(stimulus_set: StimulusSet, people: dict[str, User]) -> Study:
    made = draft_study(by=people["owner"])
    made.memberships.create(user=people["viewer"], role="viewer")
    made.memberships.create(user=people["analyst"], role="researcher")
    return made


def test_the_table_names_every_address_as_it_was_decided() -> None:
    assert addresses() == set(MATERIAL)
    wanted = {name: kind for kind, names in WANTED.items() for name in names.split()}
    found = {name: f"{kind} {MATERIALS[kind].to_send.value}" if kind else "-" for name, kind in MATERIAL.items()}
    assert found == wanted


def test_what_each_person_may_with_a_stimulus_set(study: Study, people: dict[str, User]) -> None:
    stimulus_set = study.stimulus_set
    expected = {
        "owner": {"read", "add", "change"},
        "head": {"read", "add", "change"},
        "analyst": {"read", "add"},
        "viewer": {"read"},
        "stranger": {"read"},
        "elsewhere": set(),
    }
    for name, rights in expected.items():
        assert {right.value for right in Right if may(people[name], right, stimulus_set)} == rights, name


def test_what_nobody_owns_is_changed_by_administrators(study: Study, people: dict[str, User]) -> None:
    stimulus_set = study.stimulus_set
    StimulusSet.objects.filter(pk=stimulus_set.pk).update(created_by=None)
    stimulus_set.refresh_from_db()
    for right in (Right.ADD, Right.CHANGE):
        assert {name for name, user in people.items() if may(user, right, stimulus_set)} == {"head"}


def test_the_services_refuse_without_any_page(study: Study, people: dict[str, User]) -> None:
    stimulus_set, stranger = study.stimulus_set, people["stranger"]
    source_set = stimulus_set.source_set
    run, _job = evaluations.evaluate(
        stimulus_set=stimulus_set, spec="export:fixtures/classifiers/clean.pt2", name="net", by=people["owner"]
    )
    refused = (
        lambda: freeze_source_set(source_set=source_set, by=stranger),
        lambda: describe_source_set(source_set=source_set, provenance="", licence="mine", by=stranger),
        lambda: delete_source_set(source_set=source_set, by=stranger),
        lambda: start_generation(stimulus_set=stimulus_set, by=stranger),
        lambda: request_deletion(stimulus_set=stimulus_set, by=stranger),
        lambda: evaluations.evaluate(stimulus_set=stimulus_set, spec=run.spec, name="net", by=stranger),
        lambda: evaluations.evaluate(stimulus_set=stimulus_set, spec=run.spec, name="other", by=people["viewer"]),
        lambda: evaluations.delete(run=run, by=people["analyst"]),
        lambda: evaluations.select_gold(source_set=source_set, specs=[run.spec], by=stranger),
    )
    for ask in refused:
        with pytest.raises(NotAllowed, match="belongs to owner"):
            ask()
    source_set.refresh_from_db()
    assert not source_set.is_frozen and source_set.licence != "mine"
    assert list(EvaluationRun.objects.values_list("name", flat=True)) == ["net"]
    assert evaluations.evaluate(stimulus_set=stimulus_set, spec=run.spec, name="mine", by=people["analyst"])


def test_acts_on_them_stand_in_the_record(study: Study, people: dict[str, User]) -> None:
    stimulus_set, owner = study.stimulus_set, people["owner"]
    spec = "export:fixtures/classifiers/clean.pt2"
    run, job = evaluations.evaluate(stimulus_set=stimulus_set, spec=spec, name="net", by=owner)
    jobs.cancel(job=job)
    EvaluationRun.objects.filter(pk=run.pk).update(completed_at=study.created_at)
    _run, job = evaluations.evaluate(stimulus_set=stimulus_set, spec=spec, name="net", by=owner)
    jobs.cancel(job=job)
    run.refresh_from_db()
    evaluations.delete(run=run, by=owner)
    describe_source_set(source_set=stimulus_set.source_set, provenance="ours", licence="", by=owner)
    freeze_source_set(source_set=stimulus_set.source_set, by=owner)
    told = list(AuditEvent.objects.filter(by=owner).exclude(study=study.slug).values_list("action", flat=True))
    assert told[::-1] == [
        "evaluate", "replace-predictions", "delete-predictions", "describe-pictures", "freeze-pictures",
    ]  # fmt: skip


def test_jobs_of_no_study_are_stopped_by_who_started_them(people: dict[str, User], client: Client) -> None:
    job = jobs.submit("stimuli.generate", subject="stimulus set:1", by=people["owner"], stimulus_set_id=1)
    for name, status in (("stranger", 403), ("head", 302), ("owner", 302)):
        client.force_login(people[name])
        assert client.get(f"/jobs/{job.pk}/").status_code == 200
        assert client.post(reverse("jobs:cancel", args=[job.pk])).status_code == status, name
