"""The page of models beside people: sets are chosen, tables and files follow, and nobody sees others' studies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from humanexp.core.models import AuditEvent, User
from humanexp.studies.models import Role, Study, StudyMembership
from tests.labels import of_the_sixteen
from tests.results.edges import media, network, pictures, run, trials

__all__ = ["media", "network", "pictures", "trials"]
pytestmark = [pytest.mark.django_db, of_the_sixteen]
PAGE = "/scores/"


@pytest.fixture
def study(trials: list[Path], pictures: Path, network: str) -> Study:
    run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    run("evaluate", "--study", "edges", "--classifier", network, "--name", "grey")
    return Study.objects.get(slug="edges")


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin"))
    return client


def test_sets_are_chosen_and_their_scores_shown(study: Study, admin: Client) -> None:
    said = admin.get(PAGE).content.decode()
    assert 'value="edges"' in said and "Right answers" not in said and "Files" not in said
    said = admin.get(PAGE, {"on": "edges"}).content.decode()
    assert "Right answers" in said and "grey" in said and "no limit of viewing time" in said
    assert f"{reverse('results:scores_file', args=['pdf'])}?on=edges" in said
    found = json.loads(admin.get("/scores.json", {"on": "edges"}).content)
    assert {one["observer"]: one["accuracy"] for one in found["sets"][0]["scores"]}["grey"] == 0.75
    assert admin.get("/scores.csv", {"on": "edges"}).content.decode().count("\n") == 5
    assert admin.get("/scores.pdf", {"on": "edges"}).content.startswith(b"%PDF")
    taken = AuditEvent.objects.filter(action="export", study="edges").order_by("pk")
    assert [one.subject for one in taken] == ["scores.json", "scores.csv"]


def test_there_is_nothing_to_choose_at_first(admin: Client) -> None:
    assert "No set of pictures has answers yet" in admin.get(PAGE).content.decode()
    assert admin.get("/scores.json").status_code == 404
    assert admin.get("/scores.exe", {"on": "edges"}).status_code == 404


def test_others_see_no_study_of_which_they_are_no_member(study: Study, client: Client) -> None:
    assert client.get(PAGE).status_code == 302
    stranger = User.objects.create_user("stranger")
    client.force_login(stranger)
    assert "edges" not in client.get(PAGE).content.decode()
    for address in (PAGE, "/scores.json", "/scores.csv", "/scores.pdf"):
        assert client.get(address, {"on": "edges"}).status_code == 404
    StudyMembership.objects.create(study=study, user=stranger, role=Role.VIEWER)
    said = client.get(PAGE, {"on": "edges"}).content.decode()
    assert "grey" in said and "scores.json" not in said
    assert client.get("/scores.csv", {"on": "edges"}).status_code == 404


def test_too_many_sets_are_refused(study: Study, admin: Client) -> None:
    same = {"title": "s", "family": study.family, "stimulus_set": study.stimulus_set, "seed": 1}
    for number in range(6):
        Study.objects.create(slug=f"s{number}", version=number + 2, **same)
    answer = admin.get(PAGE, {"on": ["edges", *(f"s{number}" for number in range(6))]})
    assert answer.status_code == 422 and "At most 6 sets" in answer.content.decode()
