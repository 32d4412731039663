from __future__ import annotations

import pytest

from analysis.study.study import StudyConfiguration
from humanexp.core.models import User
from humanexp.studies.models import Study
from tests.factories import configuration, draft_study, new_session
from tests.markup import words


@pytest.fixture
def researcher(client, db):
    user = User.objects.create_user("anna")
    client.force_login(user)
    return user


@pytest.fixture
def own_study(study, researcher):
    study.memberships.create(user=researcher, role="owner")
    return study


def test_the_run_page_is_the_same_for_everybody_and_holds_nothing(client, study):
    before = client.get("/run/").content
    new_session(study)
    page = client.get("/run/")
    assert page.status_code == 200 and page.content == before
    assert '{"api": "/api/v1/run/"}' in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert not page.cookies


def test_the_design_page_says_the_plan(client, own_study):
    page = client.get(f"/studies/{own_study.slug}/design/")
    text = page.content.decode()
    assert page.status_code == 200
    assert "6 sessions of" in text and "96 answers on corrupted pictures" in text
    for note in own_study.plan_notes:
        assert note.split(":")[0][:40] in text
    for said in ("gold and negative", "Protocol vcr", "changed here", "gold trials failed", "Not frozen yet"):
        assert said in text
    new_session(own_study)
    assert "Frozen since the first session" in client.get(f"/studies/{own_study.slug}/design/").content.decode()


def test_the_study_file_can_be_downloaded_and_read_back(client, own_study):
    reply = client.get(f"/studies/{own_study.slug}/design/study.toml")
    assert reply["Content-Disposition"] == 'attachment; filename="small-study.toml"'
    assert StudyConfiguration.from_toml(reply.content.decode()) == configuration()


def test_pages_of_other_peoples_studies_are_not_there(client, study, researcher):
    assert client.get(f"/studies/{study.slug}/design/").status_code == 404
    assert client.get(f"/studies/{study.slug}/design/study.toml").status_code == 404
    client.logout()
    assert client.get(f"/studies/{study.slug}/design/").status_code == 302


def test_a_study_is_made_in_the_console(client, researcher, stimulus_set):
    assert "pictures" in client.get("/studies/new/").content.decode()
    refused = client.post("/studies/new/", {"text": configuration(stimuli="nothing").to_toml()})
    assert refused.status_code == 422 and "There is no stimulus set" in refused.content.decode()
    assert not Study.objects.exists()
    made = client.post("/studies/new/", {"text": configuration().to_toml()})
    assert made.status_code == 302 and made.url == "/studies/small-study/design/"
    assert Study.objects.get().created_by == researcher


def test_a_discrimination_study_has_its_pairs_on_the_page(client, researcher, db):
    from tests.factories import make_stimulus_set

    make_stimulus_set(per_category=12, per_function=192)
    design = {"sessions": 3, "main_trials": 16, "discrimination": {"trials": 6, "sentinels": 2, "practice": 1}}
    draft_study(by=researcher, design=design)
    text = words(client.get("/studies/small-study/design/").content)
    assert "18 comparisons of pairs" in text and "gaussian blur / gaussian noise" in text
