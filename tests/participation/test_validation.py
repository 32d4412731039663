"""Validation through the participant's API: wanted categories, two answers in one, several sessions a worker."""

from __future__ import annotations

from collections import Counter

import pytest

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.study.study import StudyConfiguration
from analysis.study.validation import JUDGEMENTS
from analysis.tables.trials import TRIALS
from humanexp.console.demo_steps import STUDIES
from humanexp.core.errors import InputRefused, StudyRefused
from humanexp.core.models import User
from humanexp.participation.answers import session_rows
from humanexp.participation.models import Response
from humanexp.participation.openings import issue_handoff, withdraw_session
from humanexp.participation.tallies import answer_counts
from humanexp.screening.services import judge_session
from humanexp.studies.selectors import configuration_of
from humanexp.studies.services import create_study, start_collecting
from humanexp.studies.tasks import TASKS, WANTED, question
from tests.factories import SIZE_PX, Tab, collecting_study, new_session
from tests.labels import of_the_sixteen
from tests.markup import words

DESIGN = {"sessions": 12, "validation": {"answers_per_picture": 3, "shown": "clean"}}


def wanted_study(**changes):
    values = {
        "title": "Really one?",
        "stimuli": "pictures",
        "protocol": {"name": "vcr", "size_px": SIZE_PX},
        "design": DESIGN,
        "debrief": "It was about pictures.",
    }
    made = create_study(configuration=StudyConfiguration.from_dict({**values, **changes}))
    return start_collecting(study=made)


@pytest.fixture
def study(stimulus_set):
    return wanted_study()


def truth(session):
    return {trial.position: trial for trial in session.trials.select_related("stimulus__source_image")}


def answer_all(client, session, choose=lambda trial: trial.correct_response or "yes-yes"):
    tab = Tab(client, session)
    assert tab.take_lease().status_code == 200
    for position, trial in truth(session).items():
        assert tab.answer(position, choose(trial)).status_code == 201
    assert tab.post("complete/", {}).status_code == 200
    session.refresh_from_db()
    return tab


def test_a_study_of_validation_has_defaults_of_its_own(study):
    asked = configuration_of(study)
    assert (asked.rules, asked.max_sessions_per_worker, asked.design.main_trials) == (
        "imagenet-d",
        5,
        0,
    )
    assert study.is_validation
    assert StudyConfiguration.from_toml(asked.to_toml()) == asked


def test_every_screen_brings_its_wanted_category_and_nothing_else(client, study):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    told = tab.get("session/").json()
    assert [(block["kind"], block["task"], block["feedback"]) for block in told["blocks"]] == [
        ("practice", "validation", True),
        ("main", "validation", False),
    ]
    assert told["total"] == 22
    trials = truth(session)
    for block in told["blocks"]:
        for position in range(block["first"], block["last"] + 1):
            assert tab.get(f"trials/{position}/stimulus/0/").status_code == 200
            assert tab.get(f"trials/{position}/mask/").status_code == 404, "nothing is masked without a time limit"
            asked = tab.get(f"trials/{position}/question/")
            assert asked.headers["Cache-Control"] == "no-store"
            assert set(asked.json()) == {"wanted", "label", "definition", "link", "questions"}
            assert asked.json() == question(trials[position].wanted, {}, default_labels())
        for position in range(block["first"], block["last"] + 1):
            reply = tab.answer(position, "yes-no").json()
            assert ("feedback" in reply) == block["feedback"]
            if block["feedback"]:
                expected = trials[position].correct_response
                assert reply["feedback"] == {"correct": False, "category": expected}
                assert expected in ("yes-yes", "no-no")
    assert tab.get("trials/5/question/").status_code == 404, "answered"


def test_nothing_tells_a_picture_or_a_role_but_the_question_that_is_asked(client, stimulus_set):
    study = wanted_study(design={"sessions": 12, "validation": {"answers_per_picture": 3, "shown": "corrupted"}})
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    trials = truth(session)
    sets_of_headers = set()
    replies = [tab.get("session/")]
    for block in session.blocks:
        positions = range(block["first"], block["last"] + 1)
        for position in positions:
            picture = tab.get(f"trials/{position}/stimulus/0/")
            headers = {k: v for k, v in picture.headers.items() if k not in ("Content-Length", "X-Request-ID")}
            sets_of_headers.add(tuple(sorted(headers.items())))
            replies.append(tab.get(f"trials/{position}/question/"))
        replies += [tab.answer(position, "yes-yes") for position in positions]
    replies.append(tab.get("status/"))
    assert len(sets_of_headers) == 1
    roles = {"gold", "negative", "consistency", "sentinel", "clean", "positive", "role", "original", "corruption"}
    for reply in replies:
        text = reply.content.decode().lower()
        assert not [role for role in roles if role in text]
        for trial in trials.values():
            picture = trial.stimulus.source_image
            secrets = (trial.stimulus.key, trial.stimulus.sha256, trial.stimulus.file, picture.key, picture.sha256)
            assert not [secret for secret in (*secrets, trial.stimulus.corruption + "_") if secret in text]
    # The same question, letter by letter, whether the picture is new, a sentinel, or shown a second time.
    asked = [reply.json() for reply in replies if "questions" in reply.content.decode()]
    assert len(asked) == len(trials)
    by_wanted = {}
    for said in asked:
        assert by_wanted.setdefault(said["wanted"], said) == said


def test_questions_are_given_like_pictures_and_in_validation_alone(client, study):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    assert tab.get(f"trials/{session.blocks[1]['first']}/question/").status_code == 404, "a later round"
    assert tab.get("trials/0/question/", **{"X-Lease": "another-tab"}).status_code == 409
    assert tab.get("trials/0/question/", Authorization="Bearer forged").status_code == 401
    assert tab.get("trials/999/question/").status_code == 404


def test_other_tasks_have_no_question_of_their_own(client, stimulus_set):
    made = collecting_study()
    tab = Tab(client, new_session(made))
    tab.take_lease()
    assert tab.get("trials/0/question/").status_code == 404
    assert not made.is_validation


@pytest.mark.parametrize("response", ["yes", "na", "yes-maybe", "No-no", "dog", "same"])
def test_half_an_answer_is_none(client, study, response):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    assert tab.answer(0, response).status_code == 422
    assert not Response.objects.exists()


def test_what_is_right_is_stored_where_it_is_known(client, study):
    session = new_session(study)
    answer_all(client, session, choose=lambda trial: "yes-yes")
    rows = session_rows(session)
    for row in rows:
        if row["role"] in ("gold", "negative", "practice"):
            assert row["correct"] == (row["wanted"] == row["category"])
        else:
            assert row["correct"] is None and row["wanted"] == row["category"]
        assert row["timing_ok"] is None
    frame = TRIALS.frame([{**row, "accepted": True} for row in rows])
    assert frame["correct"].isna().sum() == 18 and set(frame["task"]) == {"validation"}


def test_the_rules_of_imagenet_d_judge_the_session(client, study):
    attentive = new_session(study, "P-1")
    answer_all(client, attentive)
    assert judge_session(session=attentive).accepted
    says_yes = new_session(study, "P-2")
    answer_all(client, says_yes, choose=lambda trial: "yes-yes")
    verdict = judge_session(session=says_yes)
    assert not verdict.accepted and verdict.reasons == ["negative trials failed"]
    changes = new_session(study, "P-3")
    answer_all(
        client,
        changes,
        choose=lambda t: "yes-no" if t.role == "consistency_second" else t.correct_response or "yes-yes",
    )
    assert judge_session(session=changes).reasons == ["inconsistent answers"]


@of_the_sixteen
def test_a_worker_who_comes_again_sees_no_picture_twice(client, study):
    seen, sessions = Counter(), 0
    while True:
        try:
            session = new_session(study, "P-1")
        except StudyRefused as refusal:
            assert "seen all pictures" in str(refusal) or "taken part" in str(refusal)
            break
        trials = truth(session)
        assert len(trials) == 22
        for trial in trials.values():
            category = trial.stimulus.source_image.category
            if trial.correct_response == "no-no":
                assert default_labels().group(category) != default_labels().group(trial.wanted)
            else:
                assert trial.wanted == category
            if trial.role != "consistency_second":
                seen[trial.stimulus.source_image_id] += 1
        answer_all(client, session)
        sessions += 1
        if sessions == 2:  # somebody else takes what would come next
            new_session(study, "P-2")
    assert sessions == 4, "four packets of sixteen"
    assert max(seen.values()) == 1


@pytest.mark.verify
def test_dropouts_give_their_place_back_until_every_count_is_exact(client, study):
    turn = 0
    while True:
        turn += 1
        try:
            session = new_session(study, f"P-{turn}")
        except StudyRefused:
            break
        if turn % 3 == 0:
            tab = Tab(client, session)
            tab.take_lease()
            for position in range(5):
                tab.answer(position, "yes-yes")
            withdraw_session(session=session)
        else:
            answer_all(client, session)
    stored = Response.objects.exclude(session__state="withdrawn").filter(trial__role__in=("main", "consistency_first"))
    counts = Counter(stored.values_list("trial__stimulus__key", flat=True))
    assert set(counts.values()) == {3} and len(counts) == 64
    progress = answer_counts(study).bins
    assert [(part.corruption, part.planned, part.answered) for part in progress if part.planned] == [("none", 192, 192)]


def test_a_code_can_be_looked_behind_without_using_it_up(client, study):
    session = new_session(study)
    code = issue_handoff(session=session)
    for _ in range(2):
        reply = client.post("/api/v1/run/handoff/look/", {"code": code}, content_type="application/json")
        assert reply.status_code == 200 and reply.json() == {"tasks": ["validation"]}
    used = client.post("/api/v1/run/handoff/", {"code": code}, content_type="application/json")
    assert used.status_code == 200
    for bad in (code, f"{code[:-1]}_", "nonsense"):
        reply = client.post("/api/v1/run/handoff/look/", {"code": bad}, content_type="application/json")
        assert reply.status_code == 401, "used, forged"


@of_the_sixteen
def test_a_study_words_definitions_and_links_for_itself(client, stimulus_set):
    own = {"chair": {"definition": "Something to sit on.", "link": "https://lab.example/chair"}, "dog": {"link": ""}}
    study = wanted_study(wanted=own)
    asked = configuration_of(study)
    assert StudyConfiguration.from_toml(asked.to_toml()) == asked
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    session.trials.filter(position=0).update(wanted="chair")
    session.trials.filter(position=1).update(wanted="dog")
    chair, dog = (tab.get(f"trials/{position}/question/").json() for position in (0, 1))
    assert (chair["definition"], chair["link"]) == ("Something to sit on.", "https://lab.example/chair")
    assert dog["link"] == "" and dog["definition"]


def test_a_study_asks_in_its_own_words_and_shows_its_instructions(client, stimulus_set):
    judging = {"shows": "Is it ({label})?", "instructions": ["Look.", "Answer both."], "instructions_shown": True}
    study = wanted_study(judging=judging)
    tab = Tab(client, new_session(study))
    tab.take_lease()
    told = tab.get("session/").json()
    assert (told["instructions"], told["instructions_shown"]) == (["Look.", "Answer both."], True)
    asked = tab.get("trials/0/question/").json()
    usual = question(asked["wanted"], {}, default_labels())
    assert asked == {**usual, "questions": [f"Is it ({asked['label']})?", usual["questions"][1]]}


def test_a_study_without_words_of_its_own_shows_no_instructions(client, study):
    tab = Tab(client, new_session(study))
    tab.take_lease()
    told = tab.get("session/").json()
    assert (told["instructions"], told["instructions_shown"], told["own_words"]) == ([], False, False)


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"sofa": {}}, r"\[wanted\] has no category 'sofa'"),
        ({"chair": {"picture": "x"}}, r"\[wanted.chair\] has no setting 'picture'"),
        ({"chair": {"link": "javascript:alert(1)"}}, "wanted.chair.link must be an address"),
        ({"chair": {"link": "https://["}}, "wanted.chair.link must be an address"),
        ({"chair": {"definition": "x" * 401}}, "at most 400 characters"),
        ({"chair": "x"}, r"\[wanted.chair\] must be a table"),
    ],
)
def test_wording_that_cannot_be_shown_is_refused(wanted, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        StudyConfiguration.from_dict({"title": "a", "stimuli": "b", "wanted": wanted})


@of_the_sixteen
def test_every_category_is_worded():
    assert set(WANTED) == set(default_labels().ids)
    for category in default_labels().ids:
        asked = question(category, {}, default_labels())
        assert asked["link"].startswith("https://en.wikipedia.org/wiki/")
        assert 20 < len(asked["definition"]) < 120
        article = "an" if category[0] in "aeo" else "a"
        assert asked["questions"][0] == f"Does the picture show {article} {category}?"
        verb = "be taken for" if default_labels().group(category) == "animal" else "be used as"
        assert asked["questions"][1] == f"Could what it shows {verb} {article} {category}?"


def test_the_answers_of_the_task_are_those_of_the_analysis():
    assert tuple(choice.name for choice in TASKS["validation"].choices) == JUDGEMENTS


def test_a_study_file_for_people_of_the_demo_is_read(stimulus_set):
    text = (STUDIES / "validation.toml").read_text()
    asked = StudyConfiguration.from_toml(text)
    assert asked.design.validation.screens == 20 and asked.rules == "imagenet-d"
    with pytest.raises(InputRefused, match="There is no stimulus set 'demo'"):
        create_study(configuration=asked)


@of_the_sixteen
def test_the_design_page_tells_of_packets(client, study):
    user = User.objects.create_user("anna", is_staff=True)
    client.force_login(user)
    text = words(client.get(f"/studies/{study.slug}/design/").content)
    assert "64 pictures, each judged by 3 people" in text
    assert "The pictures form 4 packets" in text
    for told in ("second presentations", "Presentation, without a time limit", "negative trials failed"):
        assert told in text
    assert "noise mask" not in text and "Protocol vcr" not in text
    assert "What people are asked" in text and "Does the picture show a chair?" in text
    assert "https://en.wikipedia.org/wiki/Chair" in text
