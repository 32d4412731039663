"""Models in words answer the comparisons planned for people: over HTTP, to the numbers beside people's."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import cv2
import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.study.study import StudyConfiguration
from analysis.timing.rules import TIMING_RULE
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations import selectors
from humanexp.evaluations.models import EvaluationRun
from humanexp.participation.models import Participant, Response, Session, SessionState, Trial
from humanexp.results.report import methods_of
from humanexp.results.selectors import latest_run
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study
from humanexp.studies.plans import session_plan
from humanexp.studies.services import create_study
from tests.evaluations.fake_model import FakeModel
from tests.evaluations.test_asking import media
from tests.factories import SIZE_PX, make_stimulus_set, stored_png
from tests.results.collected import TIMING

__all__ = ["media"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process]
MAIN, PLAIN = 48, 16


def study_of(form: str) -> Study:
    make_stimulus_set(per_category=6, per_function=96, picture=stored_png.__wrapped__)
    return create_study(
        configuration=StudyConfiguration.from_dict(
            {
                "title": "Whose corruption?",
                "stimuli": "pictures",
                "protocol": {"name": "vcr", "size_px": SIZE_PX},
                "design": {
                    "sessions": 4,
                    "main_trials": 0,
                    "discrimination": {"form": form, "trials": MAIN // 4, "sentinels": PLAIN // 4, "practice": 2},
                },
            }
        )
    )


def one_person(study: Study) -> None:
    """A session of the plan's first place, all answered as a person who says the same throughout."""
    plan, now = session_plan(study, 0)[1], clock.now()
    person = Participant.objects.create(family=study.family, code="P-TEST0")
    session = Session.objects.create(
        study=study, participant=person, code="S-0", slot=0, state=SessionState.SUBMITTED, token_nonce="0",
        cursor=len(plan.trials), total=len(plan.trials), opened_at=now, completed_at=now, submitted_at=now,
    )  # fmt: skip
    keys = dict(study.stimulus_set.stimuli.values_list("key", "pk"))
    for one in plan.trials:
        trial = Trial.objects.create(
            session=session, position=one.position, block=one.block, task=one.task, role=one.role,
            stimulus_id=keys[one.stimulus], second_stimulus_id=keys[one.second_stimulus],
            third_stimulus_id=keys[one.third_stimulus] if one.third_stimulus else None,
            correct_response=one.correct_response, mask_seed=0,
        )  # fmt: skip
        Response.objects.create(
            session=session, trial=trial, position=one.position, response=one.correct_response, correct=True,
            rt_ms=700.0, timing=TIMING, timing_ok=True, timing_rule=TIMING_RULE, received_at=now,
        )  # fmt: skip


@dataclass
class Comparer(FakeModel):
    """It sees which function changed each picture, and answers as `says` has it: (is it the same or A?, first word)."""

    says: Callable[[bool, str], str] = lambda is_first, word: word
    functions: dict[str, str] = field(default_factory=dict)

    def words(self, asked: str, text: str, picture: str) -> str:
        del asked
        seen = [
            cv2.imdecode(np.frombuffer(base64.b64decode(one), np.uint8), cv2.IMREAD_COLOR_RGB)
            for one in picture.split()
        ]
        kinds = [self.functions[hashlib.sha256(one.tobytes()).hexdigest()] for one in seen]
        return self.says(kinds[0] == kinds[-1], text.splitlines()[2].split(",")[0])


def functions_of() -> dict[str, str]:
    found = {}
    for one in Stimulus.objects.all():
        pixels = cv2.imread(str(media_path(one.file)), cv2.IMREAD_COLOR_RGB)
        found[hashlib.sha256(pixels.tobytes()).hexdigest()] = one.corruption
    return found


def asked(study: Study, model: Comparer, name: str, **changes: object) -> str:
    out = StringIO()
    arguments = {
        "allow_upload": True,
        "task": "comparisons",
        "name": name,
        "stdout": out,
        "stderr": StringIO(),
        **changes,
    }
    call_command("evaluate", study=study.slug, classifier=f"openai:{model.url}#m", **arguments)
    return " ".join(out.getvalue().split())


def comparisons_of(name: str) -> pd.DataFrame:
    return pd.read_parquet(media_path(EvaluationRun.objects.get(name=name).answers_file))


@pytest.mark.parametrize(("form", "words"), [("same-different", ("same", "different")), ("abx", ("first", "second"))])
def test_answers_land_beside_peoples(
    form: str, words: tuple[str, str], settings, client: Client, tmp_path: Path
) -> None:  # noqa: ANN001, E501
    study, target = study_of(form), tmp_path / "found.json"
    models = {
        "sees": Comparer({}, lambda change: 1.0, says=lambda is_first, word: words[0] if is_first else words[1]),
        "always": Comparer({}, lambda change: 1.0, says=lambda is_first, word: words[0]),
        "place": Comparer({}, lambda change: 1.0, says=lambda is_first, word: f"The {word} one."),
        "refuses": Comparer(
            {},
            lambda change: 1.0,
            says=lambda is_first, word: "I'm sorry, I cannot help." if is_first else f"not {words[1]}",
        ),  # noqa: E501
    }
    said = {}
    for name, model in models.items():
        model.functions = functions_of()
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            said[name] = asked(study, model, name)
            assert set(model.answered.values()) == {1}
            if name == "sees":
                before = model.calls
                assert asked(study, model, name) == said[name] and model.calls == before, "nothing is asked twice"
    assert (
        f"sees: {MAIN} of {MAIN} comparisons right, and {PLAIN} of {PLAIN} plain ones; {MAIN + PLAIN} label"
        in said["sees"]
    )
    assert "no limit of viewing time and no mask" in said["sees"] and "without practice or feedback" in said["sees"]
    table = comparisons_of("sees")
    assert len(table) == MAIN + PLAIN and table["correct"].all()
    assert table["third_stimulus"].notna().all() == (form == "abx")
    assert comparisons_of("always")["correct"].mean() == comparisons_of("place")["correct"].mean() == 0.5
    assert set(comparisons_of("refuses")["kind"]) == {"refusal", "unreadable"}
    assert selectors.predictions_for(study.stimulus_set).empty and selectors.answers_for(study.stimulus_set) is None
    assert not selectors.completed_runs(study.stimulus_set), "comparisons are no namings"

    one_person(study)
    printed = StringIO()
    call_command("analyse", study.slug, "--json", str(target), stdout=printed)
    found = json.loads(target.read_text())
    entries = {name: [one for one in found["model_discrimination"] if one["observer"] == name] for name in models}
    assert sum(one["trials"] for one in found["discrimination"]) == MAIN // 4 and not found.get("asked")
    assert sum(one["trials"] for one in entries["sees"]) == MAIN
    assert all(one["accuracy"] == 1.0 and one["different"] and one["form"] == form for one in entries["sees"])
    assert all(one["d_prime"] == pytest.approx(0.0, abs=1e-4) and one["criterion"] > 1 for one in entries["always"])
    assert all(one["first_option"] == 1.0 and one["d_prime"] < 3 for one in entries["place"])
    assert not any(one["different"] for name in ("always", "place", "refuses") for one in entries[name])
    assert all(one.get("d_prime") is None and one["accuracy"] == 0 for one in entries["refuses"])
    assert "Told apart by models (no limit of viewing time)?" in printed.getvalue()

    client.force_login(User.objects.create_superuser("ada"))
    page = client.get(f"/studies/{study.slug}/results/?tab=corruptions").content.decode()
    assert "Models in words: bias" in page and "no limit of viewing time" in page
    methods = " ".join(one.text for one in methods_of(latest_run(study), None))
    assert all(EvaluationRun.objects.get(name=name).asking["methods"] in methods for name in models)
    run = client.get(reverse("evaluations:run", args=[EvaluationRun.objects.get(name="sees").pk])).content.decode()
    assert "Methods in words" in run and "planned for people" in run
    assert client.get(reverse("evaluations:classifiers")).status_code == 200


def test_what_cannot_be_compared_is_refused_before_anything_is_sent(settings) -> None:  # noqa: ANN001
    study = study_of("same-different")
    model = Comparer({}, lambda change: 1.0)
    with model.listening():
        settings.OBSERVER_HOSTS = [model.host]
        for changes, message in (
            ({"allow_upload": False}, "say --allow-upload"),
            ({"letters": True}, "are of questions about one picture"),
            ({"most_calls": 5}, "64 comparisons are 64 calls, more than --most-calls 5"),
        ):
            with pytest.raises((CommandError, InvalidRequest), match=message):
                asked(study, model, "m", **changes)
        with pytest.raises(CommandError, match="for --study, a model that is asked in words"):
            call_command("evaluate", stimuli="pictures", classifier=f"openai:{model.url}#m", task="comparisons")
        EvaluationRun.objects.create(stimulus_set=study.stimulus_set, name="taken", spec="table:x")
        with pytest.raises(CommandError, match="taken has answered something else about these pictures: give another"):
            asked(study, model, "taken")
    assert not model.calls and EvaluationRun.objects.count() == 1
