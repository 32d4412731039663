from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from analysis.labels.files import default_labels
from analysis.study.study import StudyConfiguration
from analysis.study.toml import line_of
from humanexp.core.errors import InputRefused
from humanexp.core.models import User
from humanexp.studies.models import Study, StudyFamily
from humanexp.studies.pages.design import strip_of
from humanexp.studies.pages.forms import SETTINGS, stated, to_fields, to_values
from humanexp.studies.pages.views import draft_of, refusals_of, values_of_file
from humanexp.studies.plans import session_plan
from humanexp.studies.presets import PRESETS, preset, values_of
from humanexp.studies.services import start_collecting
from tests.factories import SIZE_PX, add_sentinels, configuration, make_stimulus_set, new_session
from tests.labels import of_the_sixteen

SMALL = f"[protocol]\nsize_px = {SIZE_PX}\n"


@pytest.fixture
def researcher(client, db):
    user = User.objects.create_user("anna")
    client.force_login(user)
    return user


def filled(**changes):
    """What a browser sends of a small naming study."""
    return {
        "title": "Small study", "stimuli": "pictures", "task": "categorisation", "protocol": "vcr", "rules": "vcr",
        "population": "people", "language": "en", "sessions": "4", "main_trials": "16", "practice_trials": "2",
        "consistency_pairs": "1", "contact": "lab@example.org", "more": SMALL, **changes,
    }  # fmt: skip


@pytest.mark.parametrize("one", PRESETS, ids=lambda one: one.key)
def test_a_preset_goes_through_the_form_unchanged(one):
    values = values_of(one, stimuli="pictures")
    again = to_values(to_fields(values))
    assert StudyConfiguration.from_dict(again).to_dict() == StudyConfiguration.from_dict(values).to_dict()


def test_the_documented_words_of_imagenet_d_are_those_of_its_preset():
    text = (Path(__file__).resolve().parents[2] / "docs/study-file.md").read_text(encoding="utf-8")
    block = re.search(r"\n(\[judging\].*?)```", text, re.DOTALL)
    assert block and tomllib.loads(block[1])["judging"] == preset("imagenet-d").values["judging"]


@of_the_sixteen
def test_a_file_with_everything_in_it_goes_through_the_form_unchanged():
    text = """\
title = "All of it"
stimuli = "pictures"
slug = "all-of-it"
family = "a-family"
population = "scripted"
seed = 7
language = "de"
rules = "none"
max_sessions_per_worker = 2
consent = "Yes?"
consent_version = "3"
debrief = "Thank you."
calibrate_size = true
gold_originals = ["cat-1", "dog-2"]
[protocol]
name = "geirhos2018-batch2"
stimulus_ms = 150
[design]
sessions = 9
main_trials = 20
overlap = 0.25
corruption_order = "blocked"
light_visual_change = 0.2
[design.discrimination]
form = "abx"
trials = 6
pairs = [["gaussian_blur", "gaussian_noise"]]
[recruitment]
contact = "lab@example.org"
reward_cents = 150
[wanted.chair]
link = "https://example.org/chair"
"""
    values = tomllib.loads(text)
    fields = to_fields(values_of_file(text))
    assert fields["task"] == "both" and fields["protocol"] == "geirhos2018-batch2" and fields["overlap"] == 0.25
    for name in ("gold_originals", "stimulus_ms", "light_visual_change", "pairs", "reward_cents", "chair"):
        assert name in fields["more"]
    again = StudyConfiguration.from_dict(to_values(fields))
    assert again.to_dict() == StudyConfiguration.from_dict(values).to_dict()


def test_what_has_a_field_may_not_stand_in_the_further_settings():
    draft = draft_of({"title": "A", "stimuli": "b", "more": 'title = "B"\n'})
    assert draft.refusals[0].field == "more" and "title has a field of its own" in draft.refusals[0].message
    draft = draft_of({"title": "A", "stimuli": "b", "more": "x = ?"})
    assert draft.refusals[0].field == "more" and "line 1" in draft.refusals[0].message


REFUSED = [
    ("title", 'title = ""\nstimuli = "pictures"', 1),
    ("title", 'stimuli = "pictures"', None),
    ("stimuli", 'title = "A"\nstimuli = "nothing"', 2),
    ("stimuli", 'title = "A"', None),
    ("slug", 'title = "A"\nstimuli = "pictures"\nslug = "Not This"', 3),
    ("family", 'title = "A"\nstimuli = "pictures"\nfamily = "Not This"', 3),
    ("population", 'title = "A"\nstimuli = "pictures"\npopulation = "cats"', 3),
    ("seed", 'title = "A"\nstimuli = "pictures"\nseed = -1', 3),
    ("language", 'title = "A"\nstimuli = "pictures"\nlanguage = "Farsi"', 3),
    ("consent_version", 'title = "A"\nstimuli = "pictures"\nconsent_version = ""', 3),
    ("protocol", 'title = "A"\nstimuli = "pictures"\nprotocol = "none such"', 3),
    ("rules", 'title = "A"\nstimuli = "pictures"\nrules = "none such"\n' + SMALL, 3),
    ("max_sessions_per_worker", 'title = "A"\nstimuli = "pictures"\nmax_sessions_per_worker = 0', 3),
    ("sessions", 'title = "A"\nstimuli = "pictures"\n[design]\nsessions = 0', 4),
    ("main_trials", 'title = "A"\nstimuli = "pictures"\n[design]\n\nmain_trials = "many"', 5),
    ("overlap", 'title = "A"\nstimuli = "pictures"\n[design]\noverlap = 2', 4),
    ("corruption_order", 'title = "A"\nstimuli = "pictures"\ndesign.corruption_order = "mixed"', 3),
    ("discrimination_trials", 'title = "A"\nstimuli = "pictures"\n[design.discrimination]\ntrials = 7', 4),
    ("discrimination_form", 'title = "A"\nstimuli = "pictures"\n[design.discrimination]\nform = "x"', 4),
    ("new_pictures", 'title = "A"\nstimuli = "pictures"\n[design.validation]\nnew_pictures = 2', 4),
    ("shown", 'title = "A"\nstimuli = "pictures"\n[design.validation]\nshown = "some"', 4),
    ("shows", 'title = "A"\nstimuli = "pictures"\n[design.validation]\n[judging]\nshows = "A {lable}?"', 5),
    ("instructions", 'title = "A"\nstimuli = "pictures"\n[design.validation]\n[judging]\ninstructions = ["a", " "]', 5),
    ("absent", 'title = "A"\nstimuli = "pictures"\n[design.validation]\nabsent = "no"', 4),
    ("more", 'title = "A"\nstimuli = "pictures"\nsides = 3', 3),
    ("more", 'title = "A"\nstimuli = "pictures"\n[design]\ntrails = 3', 4),
    ("more", 'title = "A"\nstimuli = "pictures"\n[design.discrimination]\ntrails = 3', 4),
    ("more", 'title = "A"\nstimuli = "pictures"\n[protocol]\nname = "vcr"\nstimulus_ms = -5', 5),
    ("more", 'title = "A"\nstimuli = "pictures"\n[wanted.chair]\nlink = "nowhere"', 4),
    ("more", 'title = "A"\nstimuli = "pictures"\ngold_originals = ["no such"]\n' + SMALL, 3),
]


#: An empty field of the form means the default, and its choices offer nothing else.
FILE_ALONE = {"population", "consent_version"}


@pytest.mark.verify
def test_every_refusal_names_its_field_and_its_line_and_writes_nothing(client, researcher, stimulus_set):
    for field, text, line in REFUSED:
        by_form = draft_of(to_fields(tomllib.loads(text)))
        if field not in FILE_ALONE:
            assert [one.field for one in by_form.refusals] == [field], (field, text, by_form)
        reply = client.post("/studies/new/", {"text": text})
        body = reply.content.decode()
        assert reply.status_code == 422 and "study.toml:" not in body, text
        if line is not None:
            assert f"Line {line}: " in body or f"Line {line}, " in body, text
    assert not Study.objects.exists() and not StudyFamily.objects.exists()


def test_broken_toml_names_its_line(client, researcher, stimulus_set):
    reply = client.post("/studies/new/", {"text": 'title = "A"\nstimuli = \n', "read": "1"})
    assert reply.status_code == 422 and "at line 2" in reply.content.decode()


@pytest.mark.parametrize(
    "hostile",
    [
        "seed = nan",
        "[recruitment]\ncontact = 1979-05-27",
        'debrief = "\\u0000"',
        "gold_originals = 3",
        "when = 12:00:00",
    ],
)
def test_what_toml_can_say_and_no_study_is_refused_in_words(client, researcher, stimulus_set, hostile):
    text = f'title = "T"\nstimuli = "demo"\n{hostile}\n'
    for sent in ({"text": text}, {"text": text, "read": ""}, filled(more=hostile)):
        assert client.post("/studies/new/", sent).status_code == (200 if "gold" in hostile and "read" in sent else 422)
    assert not Study.objects.exists()


def test_lines_are_found_in_tables_dotted_keys_and_quotes():
    text = (
        '# a\n[design]\nsessions = 3\n"main_trials" = 4\n\n[design.validation] # b\nshown = "all"\n[x]\nsessions = 1\n'
    )
    assert line_of(text, "design.sessions") == 3
    assert line_of(text, "design.main_trials") == 4
    assert line_of(text, "design.validation.shown") == 7
    assert line_of(text, "design.validation.positive") == 6
    assert line_of(text, "nowhere") is None
    assert [one.field for one in refusals_of(InputRefused("Something else."))] == [""]


def test_lines_are_found_behind_texts_and_lists_of_several_lines():
    text = """\
title = "A"
consent = '''
seed = 3
'''
gold_originals = [
  "a",
  "b",
]
rules = "vcr"

[[rule.settings.bounds]]
right = 1
[[rule.settings.bounds]]
right = 2
text = "Really?"
"""
    places = {
        "consent": 2, "gold_originals": 5, "rules": 9, "rule": 11, "rule.settings.bounds.2": 13,
        "rule.settings.bounds.2.text": 15, "rule.settings.bounds.2.options": 13, "seed": None,
    }  # fmt: skip
    assert {place: line_of(text, place) for place in places} == places


def test_a_long_file_is_searched_quickly():
    lines = [f'note{number} = """\n{"x" * 70}\n"""\n' for number in range(1200)]
    assert line_of("".join(lines), "note600") == 1801


def test_every_mistake_is_told_with_its_line(client, researcher, stimulus_set):
    text = 'title = ""\nstimuli = "pictures"\nseed = -1\n[design]\nsessions = 0\noverlap = "much"\n'
    body = client.post("/studies/new/", {"text": text}).content.decode()
    for line, place in ((1, "title"), (3, "seed"), (5, "design.sessions"), (6, "design.overlap")):
        assert f"Line {line}: {place} must be" in body
    draft = client.post("/studies/new/draft/", filled(sessions="0", seed="-1")).content.decode()
    assert 'data-refusal="sessions"' in draft and 'data-refusal="seed"' in draft


def test_sentences_can_be_reworded_without_any_page_noticing(client, researcher, stimulus_set, monkeypatch):
    """Fields and lines come from where a refusal is, never from its words: every sentence is another one here."""
    from analysis.study import base

    monkeypatch.setattr(base, "_sentence", lambda *_: "Das geht so nicht.")
    monkeypatch.setattr(base.refusal, "__str__", lambda _: "Das geht so nicht.")
    for field, text, line in REFUSED:
        if line is None or field in {"stimuli", "rules"} or "no such" in text:
            continue  # refused by the database, in words of its own
        reply = client.post("/studies/new/", {"text": text}).content.decode()
        assert f"Line {line}, " in reply and "Das geht so nicht." in reply, text
        if field not in FILE_ALONE:
            assert [one.field for one in draft_of(to_fields(tomllib.loads(text))).refusals] == [field]


def test_every_field_of_the_form_is_a_setting(stimulus_set):
    from humanexp.studies.pages.forms import StudyForm

    form = StudyForm(sets=[stimulus_set])
    assert set(SETTINGS) | {"task", "more"} == set(form.fields)


def test_the_form_makes_the_study_and_shows_it_before(client, researcher, stimulus_set):
    page = client.get("/studies/new/").content.decode()
    for words in ("data-study-form", 'data-start="imagenet-d"', "qualification_trials = 16", "data-create"):
        assert words in page
    before = client.post("/studies/new/draft/", filled()).content.decode()
    assert 'data-draft="good"' in before and "4 sessions of" in before and "<html" not in before
    assert "sessions = 4" in before and "contact = &quot;lab@example.org&quot;" in before
    assert 'class="is-gold"' in before and before.count("<img") > 3
    assert not Study.objects.exists()
    made = client.post("/studies/new/", filled())
    assert made.status_code == 302 and made.url == "/studies/small-study/design/"
    study = Study.objects.get()
    assert study.created_by == researcher and study.memberships.get().role == "owner"
    assert study.configuration["recruitment"] == {"contact": "lab@example.org"}
    refused = client.post("/studies/new/draft/", filled()).content.decode()  # the name is taken now
    assert 'data-refusal="slug"' in refused


def test_the_form_asks_for_sentinels_of_persons_and_states_their_cost(client, researcher, stimulus_set):
    page = client.get("/studies/new/").content.decode()
    assert 'name="person_trials"' in page and "Cue conflict: the shape of one category" in page
    without = client.post("/studies/new/draft/", filled(person_trials="2")).content.decode()
    assert 'data-refusal="person_trials"' in without and "has no sentinels of persons" in without
    add_sentinels(stimulus_set, families=("high_pass",))
    draft = client.post("/studies/new/draft/", filled(person_families=["cue_conflict"])).content.decode()
    assert 'data-draft="good"' in draft and "[design.persons]" in draft
    # By hand: 4 a session in 4 sessions. A trial takes 50 + 300 + 200 + 200 + 150 + 316 ms and an answer of
    # 850 + .03 (4000 - 850) ms: 2.16 s, so 34.6 s and 14.4 cents at 15.00 an hour.
    assert "16 trials in all sessions together. They take 35 s, which costs about 0.15" in " ".join(draft.split())
    too_many = client.post("/studies/new/draft/", filled(person_trials="5")).content.decode()
    assert 'data-refusal="person_trials"' in too_many and "from 0 to 4" in too_many
    other = client.post("/studies/new/draft/", filled(person_families=["silhouette"])).content.decode()
    assert 'data-refusal="person_families"' in other and "the stimulus set has only" in other
    made = client.post("/studies/new/", filled(person_trials="3", person_families=["cue_conflict"]))
    assert made.status_code == 302
    study = Study.objects.get()
    assert study.configuration["design"]["persons"] == {"per_session": 3, "families": ["cue_conflict"]}
    shown = client.get("/studies/small-study/design/").content.decode()
    assert "sentinels of persons, cue conflict" in shown and "data-persons" in shown
    again = client.get("/studies/small-study/design/change/").content.decode()
    assert "checked" in again.split('value="cue_conflict"')[1].split(">")[0]
    assert "checked" not in again.split('value="high_pass"')[1].split(">")[0]
    assert 'value="3"' in again


def test_the_form_asks_for_alternatives_foils_and_none_of_these(client, researcher, stimulus_set):
    page = client.get("/studies/new/").content.decode()
    assert all(f'name="{name}"' in page for name in ("alternatives", "foils", "none_of_these"))
    n_labels = len(default_labels())
    asked = {"alternatives": "3", "foils": "other-group", "none_of_these": "on"}
    draft = client.post("/studies/new/draft/", filled(**asked)).content.decode()
    assert 'data-draft="good"' in draft and "a guess is right in 1 of 3" in draft and "never right" in draft
    for wrong, place, said in (
        ({"alternatives": "1"}, "alternatives", "leaves nothing to choose"),
        ({"alternatives": f"{n_labels + 1}"}, "alternatives", f"are only {n_labels}"),
        ({"foils": "group"}, "foils", "all are"),
        ({"alternatives": "2", "foils": "competing"}, "foils", "no picture says what competes"),
    ):
        refused = client.post("/studies/new/draft/", filled(**wrong)).content.decode()
        assert f'data-refusal="{place}"' in refused and said in refused
    assert client.post("/studies/new/", filled(**asked)).status_code == 302
    design = Study.objects.get().configuration["design"]
    assert [design[name] for name in asked] == [3, "other-group", True]
    again = client.get("/studies/small-study/design/change/").content.decode()
    assert 'value="other-group" selected' in again and "checked" in again.split('name="none_of_these"')[1].split(">")[0]


def test_a_refused_form_keeps_what_was_typed(client, researcher, stimulus_set):
    reply = client.post("/studies/new/", filled(sessions="0", title="Kept"))
    body = reply.content.decode()
    assert reply.status_code == 422 and 'value="Kept"' in body
    assert "sessions must be a whole number" in body and not Study.objects.exists()
    reply = client.post("/studies/new/", filled(sessions="three"))
    assert reply.status_code == 422 and "Enter a whole number" in reply.content.decode()


def test_an_uploaded_file_fills_the_form(client, researcher, stimulus_set):
    text = configuration(title="From a file").to_toml()
    file = SimpleUploadedFile("study.toml", text.encode())
    body = client.post("/studies/new/", {"file": file, "read": "1"}).content.decode()
    assert 'value="From a file"' in body and "size_px" in body
    assert not Study.objects.exists()
    not_text = SimpleUploadedFile("study.toml", b"\xff\xfe")
    assert "not UTF-8" in client.post("/studies/new/", {"file": not_text, "read": "1"}).content.decode()
    assert "Paste a study file, or choose one" in client.post("/studies/new/", {"text": ""}).content.decode()


@of_the_sixteen
@pytest.mark.parametrize("task", ["both", "discrimination", "validation"])
def test_other_tasks_are_made_by_the_form(client, researcher, task, db):
    make_stimulus_set(per_category=12, per_function=192)
    given = filled(
        task=task, sessions="3", discrimination_trials="4", discrimination_sentinels="2", answers_per_picture="2"
    )
    if task == "validation":
        given |= {"rules": "imagenet-d", "shows": "Is it a {label}?", "instructions": "Look.\n\n Say. \n"}
    body = client.post("/studies/new/draft/", given).content.decode()
    assert 'data-draft="good"' in body, body[:800]
    assert client.post("/studies/new/", given).status_code == 302
    study = Study.objects.get()
    tasks = {block["task"] for block in _blocks(study)}
    assert tasks == {"both": {"categorisation", "discrimination"}}.get(task, {task})
    if task == "validation":
        assert study.configuration["judging"] == {"shows": "Is it a {label}?", "instructions": ["Look.", "Say."]}
        assert "Is it a Chair?" in body
        again = client.get(f"/studies/{study.slug}/design/change/").content.decode()
        assert "Look.\nSay.</textarea>" in again.replace("\r", "")


def _blocks(study):
    return [{"task": block.task} for block in session_plan(study, 0)[1].blocks()]


def test_the_strip_covers_the_session_from_end_to_end(study):
    plan = session_plan(study, 0)[1]
    strip = strip_of(plan)
    assert sum(entry.trials for entry in strip.legend) == strip.trials == len(plan.trials)
    last = strip.stretches[-1]
    assert strip.stretches[0].x == 0 and abs(last.x + last.width - 1000) < 0.1
    ends = [stretch.x + stretch.width for stretch in strip.stretches]
    assert all(start.x >= end - 0.05 for start, end in zip(strip.stretches[1:], ends[:-1], strict=True))


def test_without_stimuli_the_page_says_where_to_begin(client, researcher):
    body = client.get("/studies/new/").content.decode()
    assert "No stimuli yet" in body and "/stimuli/new/" in body


def test_a_study_is_stated_as_shortly_as_it_can_be(db):
    make_stimulus_set()
    for changes in (
        {},
        {"design": {"sessions": 3, "validation": {"shown": "clean"}}, "rules": "none", "max_sessions_per_worker": 2},
        {"design": {"main_trials": 0, "discrimination": {"trials": 6, "pairs": [["gaussian_blur", "gaussian_noise"]]}}},
        {"protocol": {"name": "geirhos2018-batch1", "mask_ms": 100}, "recruitment": {"contact": "a@b.org"}, "seed": 3},
    ):
        whole = configuration(**changes)
        short = stated(whole)
        assert StudyConfiguration.from_dict(short).to_dict() == whole.to_dict()
        assert StudyConfiguration.from_dict(to_values(to_fields(short))).to_dict() == whole.to_dict()
        assert "light_visual_change" not in str(short) and "background" not in str(short)


def test_a_draft_is_changed_and_a_study_with_people_gets_a_new_version(client, researcher, stimulus_set):
    assert client.post("/studies/new/", filled()).status_code == 302
    study = Study.objects.get()
    page = f"/studies/{study.slug}/design/change/"
    body = client.get(page).content.decode()
    assert 'data-draft="good"' in body and "what is changed here replaces the plan" in body
    assert "data-start" not in body and 'id="from-file"' not in body
    # name and family stay, whatever is sent
    reply = client.post(page, filled(sessions="3", slug="elsewhere", family="other"))
    assert reply.status_code == 302 and reply.url == f"/studies/{study.slug}/design/"
    study.refresh_from_db()
    assert (study.planned_sessions, study.slug, study.family.slug) == (3, "small-study", "small-study")
    assert client.post(page, filled(sessions="0")).status_code == 422
    start_collecting(study=study)
    assert "The study takes participants as it is" in client.get(page).content.decode()
    new_session(study)
    assert "becomes the next version" in client.get(page).content.decode()
    reply = client.post(page, filled(sessions="2"))
    newer = Study.objects.get(version=2)
    assert reply.url == f"/studies/{newer.slug}/design/" and newer.family == study.family
    assert newer.memberships.get().user == researcher
    study.refresh_from_db()
    assert study.planned_sessions == 3
