"""A task is a value that is registered: no other module has to know of it to show, ask, judge and store."""

from __future__ import annotations

import pytest

from humanexp.participation.answers import iter_trial_rows
from humanexp.participation.models import Session, Trial
from humanexp.stimuli.choices import Choice
from humanexp.studies.tasks import TASKS, Task, register
from tests.factories import SIZE_PX, Tab, collecting_study, new_session

pytestmark = pytest.mark.usefixtures("unhurried")

PROTOCOL = {"name": "vcr", "size_px": SIZE_PX, "fixation_ms": 0, "stimulus_ms": 1, "mask_ms": 0}


def ask(wanted, wording, space):
    return {"wanted": wanted, "label": "Toy", "definition": "", "link": "", "questions": ["Is it?", "Really?"]}


@pytest.fixture
def toy():
    task = Task(
        name="toy",
        label="Is it pretty?",
        choices=(Choice(name="pretty", label="Pretty"), Choice(name="plain", label="Plain")),
        showings=2,
        is_timed=False,
        sentinels={},
        ask=ask,
    )
    register(task)
    yield task
    del TASKS["toy"]


@pytest.fixture
def sitting(client, stimulus_set, toy):
    """A session whose first block asks the toy question, as a planner of its own would have it."""
    study = collecting_study(protocol=PROTOCOL)
    session = new_session(study)
    other = session.trials.last().stimulus
    Trial.objects.filter(session=session, block=0).update(
        task="toy", correct_response="pretty", second_stimulus=other, wanted="cat"
    )
    blocks = [{**block, "task": "toy"} if block["index"] == 0 else block for block in session.blocks]
    Session.objects.filter(pk=session.pk).update(blocks=blocks)
    tab = Tab(client, session)
    tab.take_lease()
    return tab, session


def test_it_is_shown_asked_judged_and_stored(sitting):
    tab, session = sitting
    told = tab.get("session/").json()
    assert [choice["name"] for choice in told["choices"]["toy"]] == ["pretty", "plain"]
    assert [tab.get(f"trials/0/stimulus/{showing}/").status_code for showing in (0, 1, 2)] == [200, 200, 404]
    assert tab.get("trials/0/mask/").status_code == 404, "without a time there is no mask"
    assert tab.get("trials/0/question/").json()["label"] == "Toy"
    assert tab.answer(0, "cat").status_code == 422
    assert tab.answer(0, "na").status_code == 422, "without a time there is no miss"
    assert tab.answer(0, "plain").json()["feedback"] == {"correct": False, "category": "pretty"}
    assert tab.answer(1, "pretty").json()["feedback"]["correct"] is True
    rows = list(iter_trial_rows(session.study))
    assert [(row["task"], row["response"], row["correct"]) for row in rows] == [
        ("toy", "plain", False),
        ("toy", "pretty", True),
    ]


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="There is a task 'categorisation' already"):
        register(TASKS["categorisation"])


def test_choices_of_one_name_are_refused():
    twice = (Choice(name="a", label="A"), Choice(name="a", label="B"))
    with pytest.raises(ValueError, match="'toy' has two choices of one name"):
        register(Task(name="toy", label="", choices=twice, showings=1, is_timed=True, sentinels={}))
    assert "toy" not in TASKS
