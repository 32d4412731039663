"""Models that are asked in words: a fake endpoint with known faults, over real HTTP."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import subprocess
from io import StringIO
from pathlib import Path
from typing import ClassVar

import cv2
import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.labels.files import default_labels
from analysis.labels.space import Label, LabelSpace
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import AskPlan
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.evaluations import chat, selectors
from humanexp.evaluations.budget import Budget, CapReached, Caps
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services import asked_observers
from humanexp.evaluations.services.asked_observers import ask, estimated
from humanexp.jobs import runner
from humanexp.jobs.models import Job
from humanexp.stimuli.models import Stimulus, StimulusSet
from tests.evaluations.fake_model import FakeModel
from tests.evaluations.sets import picture_set
from tests.limits import LIMIT, until
from tests.stimuli.killing import end_lease, program, rows, run

pytestmark = pytest.mark.django_db(transaction=True)

ALL = dict.fromkeys(default_labels().ids, 2)


@pytest.fixture(autouse=True)
def media(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    monkeypatch.setattr(chat, "PAUSE_S", 0.001)


def truth_of(stimulus_set: StimulusSet) -> dict[str, tuple[str, float]]:
    found = {}
    for one in Stimulus.objects.filter(stimulus_set=stimulus_set).select_related("source_image"):
        pixels = cv2.imread(str(media_path(one.file)), cv2.IMREAD_COLOR_RGB)
        found[hashlib.sha256(pixels.tobytes()).hexdigest()] = (one.source_image.category, one.visual_change)
    return found


def asked(stimulus_set: StimulusSet, model: FakeModel, **changes: object) -> tuple[EvaluationRun, Job]:
    arguments = {"protocol": AskProtocol(), "caps": Caps(), "allow_upload": True, **changes}
    run, job = ask(stimulus_set=stimulus_set, spec=f"openai:{model.url}#fake", **arguments)
    runner.run_waiting(kinds=[asked_observers.ASK_KIND])
    job.refresh_from_db()
    run.refresh_from_db()
    return run, job


def answers_of(run: EvaluationRun) -> pd.DataFrame:
    return pd.read_parquet(media_path(run.answers_file))


@pytest.mark.process
class TestRecovery:
    def test_what_was_planted_comes_back(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=320)

        def right(change: float) -> float:
            return 0.95 - 0.9 * change

        model = FakeModel(
            truth_of(stimulus_set), right, first_option=0.3, refuses=0.05, babbles=0.02, too_many=0.05, cut=0.03,
            closed=0.02,
        )  # fmt: skip
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            run, job = asked(stimulus_set, model)
            assert job.state == "done", job.error
        table, found = answers_of(run), run.asking["summary"]
        assert len(table) == (320 + 32) * 4 == found["asked"] == sum(found["kinds"].values())
        # the closed form over all orders: a sixteenth of what goes to the first option is right
        expected = 0.93 * (0.3 / 16 + 0.7 * right(table["visual_change"].to_numpy(dtype=float)))
        for low in np.arange(0.0, 1.0, 0.25):
            mine = (table["visual_change"] >= low) & (table["visual_change"] < low + 0.25)
            truth, n = expected[mine].mean(), int(mine.sum())
            # answers to one picture share nothing here: the fake draws each by itself
            assert abs(table["correct"][mine].mean() - truth) < 3.5 * np.sqrt(truth * (1 - truth) / n)
        assert abs(found["preference"] - 0.3) < 0.06
        low, high = found["preference_interval"]
        assert low < 0.3 < high
        assert abs(found["kinds"]["refusal"] / len(table) - 0.05) < 3.5 * np.sqrt(0.05 * 0.95 / len(table))
        assert abs(found["kinds"]["unreadable"] / len(table) - 0.02) < 3.5 * np.sqrt(0.02 * 0.98 / len(table))
        assert set(model.answered.values()) == {1}, "no question is asked again once it was answered"

    def test_without_a_preference_none_is_claimed(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=160)
        model = FakeModel(truth_of(stimulus_set), lambda change: 0.5)
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            run, _job = asked(stimulus_set, model)
        assert run.asking["summary"]["preference"] < 0.08

    def test_the_first_answer_stands_for_the_stimulus_in_the_table_of_predictions(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=32)
        model = FakeModel(truth_of(stimulus_set), lambda change: 0.8, refuses=0.3)
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            run, _job = asked(stimulus_set, model)
        predictions = selectors.predictions_for(stimulus_set).set_index("stimulus")
        first = answers_of(run).query("wording == 'describes' and order == 0").set_index("stimulus")
        assert len(predictions) == 64
        assert (predictions["response"] == first["response"]).all()
        assert (predictions["response"] == "na").sum() == (first["kind"] == "refusal").sum() > 5
        assert not predictions[predictions["response"] == "na"]["correct"].any()
        assert predictions["confidence"].isna().all()


class TestRefusals:
    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ("openai:http://example.com/v1#m", "on this machine"),
            ("openai:https://example.com/v1", "names no model"),
            ("openai:https://me:secret@example.com/v1#m", "never stands in the address"),
            ("openai:https://example.com/v1?key=1#m", "names no model"),
            ("openai:ftp://example.com/v1#m", "names no model"),
            ("openai:https://example.com/v1#m", "not in OBSERVER_HOSTS"),
        ],
    )
    def test_addresses(self, spec: str, message: str) -> None:
        with pytest.raises(InvalidRequest, match=message):
            ask(stimulus_set=picture_set(), spec=spec, protocol=AskProtocol(), caps=Caps(9), allow_upload=True)
        assert not EvaluationRun.objects.exists()

    @pytest.mark.process
    def test_nothing_leaves_without_a_word(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set()
        model = FakeModel(truth_of(stimulus_set), lambda change: 1.0)
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            with pytest.raises(InvalidRequest, match="--allow-upload"):
                ask(stimulus_set=stimulus_set, spec=f"openai:{model.url}#m", protocol=AskProtocol(), caps=Caps())
        assert model.calls == 0

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"caps": Caps(most_calls=10)}, "64 calls, more than --most-calls 10"),
            ({"caps": Caps(most_cost=1.0)}, "needs prices"),
            ({"protocol": AskProtocol(plan=AskPlan(repeats=2))}, "copies"),
        ],
    )
    def test_what_would_go_wrong_is_said_before_anything_is_sent(
        self,
        settings,
        changes: dict,
        message: str,  # noqa: ANN001
    ) -> None:
        stimulus_set = picture_set()
        settings.OBSERVER_HOSTS = ["127.0.0.1:9"]
        with pytest.raises(InvalidRequest, match=message):
            ask(
                stimulus_set=stimulus_set, spec="openai:http://127.0.0.1:9/v1#m",
                **{"protocol": AskProtocol(), "caps": Caps(), "allow_upload": True, **changes},
            )  # fmt: skip

    def test_another_machine_is_asked_within_a_cap_alone(self, settings) -> None:  # noqa: ANN001
        settings.OBSERVER_HOSTS = ["example.com"]
        with pytest.raises(InvalidRequest, match="another machine"):
            ask(
                stimulus_set=picture_set(), spec="openai:https://example.com/v1#m", protocol=AskProtocol(), caps=Caps(),
                allow_upload=True,
            )  # fmt: skip

    @pytest.mark.process
    def test_the_key_is_read_from_the_named_variable_and_stands_nowhere(
        self,
        settings,
        monkeypatch: pytest.MonkeyPatch,  # noqa: ANN001
    ) -> None:
        monkeypatch.setenv("FAKE_KEY", "sesame-open")
        stimulus_set = picture_set()
        model = FakeModel(truth_of(stimulus_set), lambda change: 1.0)
        with model.listening():
            settings.OBSERVER_HOSTS = [f"{model.host}=FAKE_KEY"]
            run, job = asked(stimulus_set, model)
        assert set(model.keys) == {"Bearer sesame-open"}
        stored = [path.read_bytes() for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]
        assert not any(b"sesame" in content for content in stored)
        assert "sesame" not in f"{job.parameters} {run.asking}"


class TestCaps:
    @pytest.mark.process
    def test_the_cap_of_calls_holds_over_attempts_and_restarts(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=32)
        model = FakeModel(truth_of(stimulus_set), lambda change: 1.0, too_many=0.3)
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            _run, job = asked(stimulus_set, model, caps=Caps(most_calls=256))
            assert job.state == "failed" and "cap of 256 calls is reached" in job.error
            assert model.calls == 256
            kept = len(model.answered)
            _run, job = asked(stimulus_set, model, caps=Caps(most_calls=256))
            assert job.state == "failed" and model.calls == 256, "a new start gets no new calls"
            run, job = asked(stimulus_set, model, caps=Caps(most_calls=600))
        assert job.state == "done" and run.asking["calls"] == model.calls <= 600
        assert len(model.answered) == 256 > kept and set(model.answered.values()) == {1}

    def test_the_cap_of_cost_holds_before_the_next_call(self, tmp_path: Path) -> None:
        budget = Budget(tmp_path / "calls", Caps(most_cost=0.01, price_in=10.0, price_out=10.0), 64)
        with pytest.raises(CapReached, match="over the cap of 0.01"), budget.call():
            pass
        budget = Budget(tmp_path / "calls", Caps(most_cost=0.04, price_in=10.0, price_out=10.0), 64)
        with budget.call() as tokens:
            tokens.extend((300, 3))
        assert budget.cost == pytest.approx(0.00303)
        lost = Budget(tmp_path / "calls", budget.caps, 64)
        with pytest.raises(OSError, match="gone"), lost.call():
            raise OSError("gone")
        # of a call that nothing came back from, the most that it can have cost
        assert Budget(tmp_path / "calls", budget.caps, 64).cost == pytest.approx(0.00303 + 0.00364)

    @pytest.mark.process
    def test_what_is_kept_costs_nothing_again(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=16)
        model = FakeModel(truth_of(stimulus_set), lambda change: 0.6)
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            spec = f"openai:{model.url}#fake"
            assert estimated(stimulus_set, spec, AskProtocol()).calls == 192
            first, _job = asked(stimulus_set, model)
            before = answers_of(first).to_csv()
            assert estimated(stimulus_set, spec, AskProtocol()).calls == 0
            assert estimated(stimulus_set, spec, AskProtocol(plan=AskPlan(orders=3))).calls == 96
            second, job = asked(stimulus_set, model, caps=Caps(most_calls=1))
            assert job.state == "done"
        assert model.calls == 192 and answers_of(second).to_csv() == before


@pytest.mark.process
class TestCommand:
    def test_it_says_what_would_be_asked_and_what_was_answered(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=16)
        model = FakeModel(truth_of(stimulus_set), lambda change: 1.0, babbles=0.1)
        out, err = StringIO(), StringIO()
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            spec = f"openai:{model.url}#fake"
            call_command(
                "evaluate", stimuli="pets", classifier=spec, allow_upload=True, letters=True, stdout=out, stderr=err
            )
        assert "48 stimuli, 192 questions, 0 answered already: 192 calls." in err.getvalue()
        assert "192 questions" in out.getvalue() and "unreadable" in out.getvalue()
        with pytest.raises(CommandError, match="Wordings are"):
            call_command("evaluate", stimuli="pets", classifier=spec, allow_upload=True, wordings="nonsense")


@pytest.mark.slow
def test_killed_it_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    media = tmp_path / "site"
    run(media, "migrate", "-v0", compute="serial")
    made = program(media, "-m", "tests.evaluations.many_stimuli", "asked", "120", compute="serial")
    subprocess.run(**made, check=True, timeout=LIMIT)
    truth = {}
    for file in (media / "stimuli" / "asked").glob("*.png"):
        truth[hashlib.sha256(cv2.imread(str(file), cv2.IMREAD_COLOR_RGB).tobytes()).hexdigest()] = ("cat", 0.5)
    model = FakeModel(truth, lambda change: 0.5, too_many=0.1)
    with model.listening():
        arguments = program(
            media, "manage.py", "evaluate", "--stimuli", "asked", "--classifier", f"openai:{model.url}#fake",
            "--name", "fake", "--allow-upload", compute="serial",
        )  # fmt: skip
        arguments["env"] = {**arguments["env"], "OBSERVER_HOSTS": model.host}
        arguments |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(**arguments)
        until(lambda: model.answered.total() >= 400, "it asks")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        answered = model.answered.total()
        end_lease(media)
        assert subprocess.run(**arguments, timeout=LIMIT).returncode == 0
    ((file,),) = rows(media, "SELECT answers_file FROM evaluations_evaluationrun WHERE name = 'fake'")
    table = pd.read_parquet(media / file)
    assert 400 <= answered < 2000 < len(table) and not (table["kind"] == "error").any()
    assert (table["purpose"] == "trial").sum() == 120 and (table["purpose"] == "canary").sum() == 50
    # what was under way at the kill is asked again; nothing else is
    assert len(table) <= model.answered.total() <= len(table) + 8


PETS = LabelSpace(
    name="household",
    labels=(
        Label(id="felis", words={"en": "Cat"}, synonyms={"en": ("pussycat",)}),
        Label(id="canis", words={"en": "Dog"}),
    ),
)


class Synonyms(FakeModel):
    """Says what it sees by a synonym, and remembers the questions."""

    questions: ClassVar[set[str]] = set()

    def words(self, asked: str, text: str, picture: str) -> str:
        self.questions.add(text)
        pixels = cv2.imdecode(np.frombuffer(base64.b64decode(picture), np.uint8), cv2.IMREAD_COLOR_RGB)
        category, change = self.truth[hashlib.sha256(pixels.tobytes()).hexdigest()]
        return (
            "A pussycat, I think." if category == "felis" and change < 0.5 else "felis or canis?" if change else "dog"
        )


class TestLabels:
    @pytest.mark.process
    def test_words_are_asked_for_and_ids_are_stored(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals={"felis": 3, "canis": 3}, count=16, space=PETS)
        model = Synonyms(truth_of(stimulus_set), lambda change: 1.0)
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            run, job = asked(stimulus_set, model, protocol=AskProtocol(plan=AskPlan(orders=2, wordings=("describes",))))
        assert job.state == "done", job.error
        assert {text.splitlines()[1] for text in Synonyms.questions} <= {"Cat, Dog", "Dog, Cat"}
        table = answers_of(run).set_index("stimulus")
        assert set(table["shown"]) == {"felis canis", "canis felis"}
        truth = {key: (category, change) for key, category, change in stimulus_set.stimuli.values_list(
            "key", "source_image__category", "visual_change"
        )}  # fmt: skip
        for key, row in table.iterrows():
            category, change = truth[str(key)]
            expected = "felis" if category == "felis" and change < 0.5 else "na" if change else "canis"
            assert (row["response"], row["correct"]) == (expected, expected == category)
        predictions = selectors.predictions_for(stimulus_set)
        assert set(predictions["label_space"]) == {2}
        assert (run.label_space, run.labels_identity) == (2, PETS.identity)

    def test_more_labels_than_a_question_offers_are_refused_before_anything_is_sent(self, settings) -> None:  # noqa: ANN001
        settings.OBSERVER_HOSTS = ["localhost"]
        many = LabelSpace(name="many", labels=tuple(Label(id=f"label-{number:02}") for number in range(31)))
        stimulus_set = picture_set(originals={"label-00": 1}, count=1, space=many)
        asking = {"stimulus_set": stimulus_set, "spec": "openai:http://localhost/v1#m", "caps": Caps()}
        with pytest.raises(InvalidRequest, match="many has 31 labels; a question offers at most 30 behind bare words"):
            ask(**asking, protocol=AskProtocol(), allow_upload=True)
        with pytest.raises(InvalidRequest, match="at most 26 behind letters"):
            ask(**asking, protocol=AskProtocol(plan=AskPlan(style="letters")), allow_upload=True)
        assert not EvaluationRun.objects.exists()
