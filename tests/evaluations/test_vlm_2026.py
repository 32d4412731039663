"""The protocol vlm-2026 asked of a fake model with all faults of real ones: over HTTP, and twenty times in process."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import cv2
import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.classifiers.shards import ShownStimulus
from analysis.labels.files import default_labels
from analysis.observers.methods import warnings_of
from analysis.observers.position import accuracy_with_preference
from analysis.observers.protocol import VLM_2026, VLM_2026_THINKING
from analysis.observers.schedule import Planned, Schedule
from analysis.observers.summary import AnswerSummary, summarise
from analysis.tables.trials import ANSWERS
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations import chat, selectors
from humanexp.evaluations.budget import Budget, Caps
from humanexp.evaluations.chat import Address, ChatObserver
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services.asked_observers import _row, estimated
from tests.evaluations.fake_model import FakeModel, InProcess
from tests.evaluations.sets import picture_set
from tests.evaluations.test_asking import ALL, answers_of, asked, media, truth_of
from tests.labels import of_the_sixteen

__all__ = ["media"]
pytestmark = of_the_sixteen

PREFERENCE, REFUSALS, GARBAGE, LISTS, THOUGHTS = 0.3, 0.05, 0.02, 0.01, 0.02
#: Of a reply without a label: its thoughts take all tokens, or else it is refused, garbage or a list.
WITHOUT = 1 - (1 - THOUGHTS) * (1 - REFUSALS - GARBAGE - LISTS)
SEEDS = 20


def right(change: float) -> float:
    return 0.95 - 0.9 * change


def faulty(truth: dict[str, tuple[str, float]], seed: int = 0, **changes: object) -> FakeModel:
    faults: dict[str, object] = {
        "first_option": PREFERENCE, "refuses": REFUSALS, "babbles": GARBAGE, "lists": LISTS,
        "thinks_too_long": THOUGHTS, "too_many": 0.05, "cut": 0.03, "closed": 0.02, "refused": ("temperature",),
        "renamed_after": 1700, "seed": seed,
    }  # fmt: skip
    return FakeModel(truth, right, **{**faults, **changes})  # type: ignore[arg-type]


def expected(change: Sequence[float]) -> np.ndarray:
    return accuracy_with_preference(
        right(np.asarray(change, dtype=float)), preference=PREFERENCE, options=16, without_label=WITHOUT  # type: ignore[arg-type]
    )  # fmt: skip


def errors_by_change(table: pd.DataFrame) -> list[float]:
    """For each tenth of visual change, by how many standard errors accuracy is off the closed form."""
    every = table[table["purpose"].isin(["trial", "wording"])]
    change = every["visual_change"].to_numpy(dtype=float)
    wanted, found = expected(change), []
    for low in np.arange(0.0, 1.0, 0.1):
        mine = (change >= low) & (change < low + 0.1)
        # answers to one picture share nothing here: the fake draws each by itself
        error = np.sqrt((wanted[mine] * (1 - wanted[mine])).sum()) / mine.sum()
        found.append((every["correct"][mine].mean() - wanted[mine].mean()) / error)
    return found


@pytest.mark.django_db(transaction=True)
@pytest.mark.process
class TestOverHttp:
    def test_everything_is_asked_recovered_and_said(self, settings, client: Client, tmp_path: Path) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=320)
        model = faulty(truth_of(stimulus_set))
        out, err, target = StringIO(), StringIO(), tmp_path / "shares.json"
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            call_command(
                "evaluate", stimuli="pets", classifier=f"openai:{model.url}#fake", allow_upload=True, json=target,
                price_in=1.0, price_out=2.0, stdout=out, stderr=err,
            )  # fmt: skip
        run = EvaluationRun.objects.get()
        table, found = answers_of(run), run.asking["summary"]
        assert "352 stimuli, 3506 questions, 0 answered already: 3506 calls." in err.getvalue()
        assert "About 5,259,000 tokens of questions, and at most 224,384 of replies: about 5.71" in err.getvalue()
        assert found["by_purpose"] == {
            "trial": 352, "wording": 704, "consistency": 800, "rotation": 1500, "grey": 50, "wrong": 50, "canary": 50,
        }  # fmt: skip
        assert len(table) == 3506 == len(table.drop_duplicates(ANSWERS.key))
        # one of the originals is as grey as the control: the same question about the same pixels is asked once
        assert model.answered.total() in (3505, 3506)
        assert len(selectors.predictions_for(stimulus_set)) == 352
        assert max(map(abs, errors_by_change(table))) < 3.5
        low, high = found["position"]["interval"]
        assert low < PREFERENCE < high and found["position"]["place"] == 1 and found["position"]["p_value"] < 0.01
        for kind, share in (("refusal", REFUSALS), ("unreadable", GARBAGE + LISTS)):
            low, high = found["rates"][kind]["interval"]
            assert low < (1 - THOUGHTS) * share < high
        # the temperature was refused once or more, and what this service does not know
        for name in ("temperature", "reasoning_effort", "chat_template_kwargs"):
            assert any(name in one for one in model.faults)
        assert len(model.faults) < 30, "a refusal is learnt, not repeated for each question"
        assert set(table["granted"]) == {'{"max_tokens": 64}'}
        assert found["cut_empty"] == (table["finish_reason"] == "length").sum() == (table["kind"] == "miss").sum() > 40
        assert set(table.loc[table["finish_reason"] == "length", "tokens_thought"]) == {64}
        assert [one["version"] for one in found["versions"]] == ["fake-2026-01-01 fp_a1", "fake-2026-09-01 fp_b2"]
        (changed,) = [one for one in warnings_of(run.asking) if "2 names" in one]
        assert re.search(r"it changed after question 1,(69\d|70\d)", changed), changed
        assert run.asking["protocol"]["digest"] == VLM_2026.digest

        told = json.loads(target.read_text())["asked"]["fake"]
        assert told["protocol"]["name"] == "vlm-2026" and told["methods"] in out.getvalue()
        client.force_login(User.objects.create_user("lab", is_staff=True))
        page = client.get(reverse("evaluations:run", args=[run.pk])).content.decode()
        said = " ".join(re.sub(r"<[^>]+>", " ", page).split())
        for sentence in (
            f"vlm-2026, version 1 · {VLM_2026.digest}", "no limit of viewing time", "The model answered under 2 names",
            "The server refused a temperature", "of its labels follows place 1 in the list",
            "reached the most tokens before saying",
            "The server does not take a wish that thinking be off",
        ):  # fmt: skip
            assert sentence in said, sentence

    def test_a_model_without_faults_gets_no_warning(self, settings, client: Client) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=32)
        model = FakeModel(truth_of(stimulus_set), right, beyond=("reasoning_effort", "chat_template_kwargs"))
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            run, job = asked(stimulus_set, model, protocol=VLM_2026)
        assert job.state == "done", job.error
        assert set(answers_of(run)["granted"]) == {'{"max_tokens": 64, "temperature": 1.0, "thinking": "off"}'}
        client.force_login(User.objects.create_user("lab", is_staff=True))
        page = client.get(reverse("evaluations:run", args=[run.pk])).content.decode()
        assert "note--warn" not in page
        assert run.asking["summary"]["rates"]["refusal"]["count"] == 0 and not model.faults

    def test_a_model_that_thinks_is_a_second_observer(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set()
        model = FakeModel(truth_of(stimulus_set), right, beyond=("reasoning_effort",), refused=("max_tokens",))
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            plain, _job = asked(stimulus_set, model, protocol=VLM_2026)
            thinks, _job = asked(stimulus_set, model, protocol=VLM_2026_THINKING)
        assert (plain.name, thinks.name) == ("fake", "fake, thinking") and plain.pk != thinks.pk
        assert {body.get("max_completion_tokens") for body in model.bodies} == {64, 4096}
        efforts = {body["max_completion_tokens"]: body["reasoning_effort"] for body in model.bodies}
        assert efforts == {64: "none", 4096: "medium"}
        assert set(answers_of(thinks)["granted"]) == {'{"max_tokens": 4096, "temperature": 1.0, "thinking": "on"}'}

    def test_a_model_that_only_thinks_stops_before_all_is_paid_for(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=32)
        model = FakeModel(truth_of(stimulus_set), right, thinks_too_long=1.0)
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            _run, job = asked(stimulus_set, model, protocol=VLM_2026)
        assert job.state == "failed" and "Ask with --thinking on" in job.error
        assert model.answered.total() < 100

    def test_a_picture_on_which_the_server_fails_is_an_error_and_no_end(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=32)
        truth = truth_of(stimulus_set)
        model = FakeModel(truth, right, fails_on=[next(iter(truth))])
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            run, job = asked(stimulus_set, model)
            assert job.state == "done", job.error
            assert run.asking["summary"]["kinds"]["error"] == 4
            assert set(answers_of(run).query("kind == 'error'")["correct"]) == {False}
            model.fails_on = []
            calls = model.calls
            run, job = asked(stimulus_set, model)
        assert job.state == "done" and "error" not in run.asking["summary"]["kinds"]
        assert model.calls == calls + 4, "only what is missing is asked again"

    def test_a_server_that_is_down_stops_the_evaluation(self, settings) -> None:  # noqa: ANN001
        stimulus_set = picture_set(originals=ALL, count=32)
        truth = truth_of(stimulus_set)
        model = FakeModel(truth, right, fails_on=list(truth)[20:])
        with model.listening():
            settings.OBSERVER_HOSTS = [model.host]
            _run, job = asked(stimulus_set, model)
        assert job.state == "failed" and "8 attempts" in job.error


def pictures_of(folder: Path, count: int, seed: int) -> tuple[list[ShownStimulus], dict[str, tuple[str, float]]]:
    """Pictures of noise, a file each, and what a model sees in them."""
    rng, labels = np.random.default_rng(seed), default_labels().ids
    stimuli, truth = [], {}
    for number in range(count):
        pixels = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        category, change = labels[int(rng.integers(16))], (number + 0.5) / count
        path = folder / f"{number}.png"
        cv2.imwrite(str(path), pixels[:, :, ::-1])
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        stimuli.append(ShownStimulus(f"s{number:04}", f"o{number:04}", category, "noise", change, str(path), digest))
        truth[hashlib.sha256(pixels.tobytes()).hexdigest()] = (category, change)
    return stimuli, truth


def simulated(folder: Path, seed: int) -> tuple[pd.DataFrame, AnswerSummary, FakeModel]:
    """The protocol, with fewer repeats and rotations, asked of one faulty model: all as it is but the socket."""
    stimuli, truth = pictures_of(folder, 320, seed)
    model = faulty(truth, seed, renamed_after=900)
    budget = Budget(folder / "calls.jsonl", Caps(most_calls=5000), VLM_2026.most_tokens)
    observer = ChatObserver(
        Address("http://localhost/v1", "fake"), folder / "replies", budget,
        temperature=VLM_2026.temperature, most_tokens=VLM_2026.most_tokens, thinking=VLM_2026.thinking,
    )  # fmt: skip
    observer._connections.mount("http://", InProcess(model))
    observer._connections.trust_env = False
    schedule = Schedule(replace(VLM_2026.plan, consistency=(50, 5), rotated=40), stimuli, None, 16)
    pixels = {one.stimulus: cv2.imread(one.file, cv2.IMREAD_COLOR_RGB) for one in stimuli}

    def answered(one: Planned) -> dict[str, object]:
        shown = pixels[one.shown.stimulus] if one.shown is not None else np.full((8, 8, 3), 128, np.uint8)
        return _row("fake", one, observer.answer(shown, one.question))

    for one in schedule.early():
        answered(one)
    table = ANSWERS.frame(answered(one) for one in schedule.everything())
    return table, summarise(table), model


@pytest.mark.verify
def test_planted_accuracy_comes_back_over_twenty_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(chat, "PAUSE_S", 0.0)
    errors, shares, held, refused, drift = [], [], 0, [], []
    for seed in range(1, SEEDS + 1):
        folder = tmp_path / str(seed)
        folder.mkdir()
        table, found, model = simulated(folder, seed)
        assert len(table) == 1910 and model.calls <= 5000
        assert {one.version for one in found.versions} == {"fake-2026-01-01 fp_a1", "fake-2026-09-01 fp_b2"}
        errors.append(errors_by_change(table))
        assert found.position is not None and found.grey is not None and found.wrong is not None
        shares.append(found.position.share)
        held += found.position.interval[0] <= PREFERENCE <= found.position.interval[1]
        refused.append(found.rates["refusal"].share)
        assert found.position.p_value < 0.01 and found.position.place == 1
        assert found.canaries is not None and found.canaries.p_value is not None
        drift.append(found.canaries.p_value)
        assert min(found.grey.p_value, found.wrong.p_value) > 0.001
    print(np.round(errors, 2), np.round(shares, 3), held, np.round(refused, 3), drift)  # noqa: T201 - figures for whoever asks
    over_seeds = np.sum(errors, axis=0) / np.sqrt(SEEDS)
    assert np.abs(over_seeds).max() < 2.6, "every tenth of visual change, over all seeds"
    assert abs(np.sum(errors) / np.sqrt(np.size(errors))) < 2.0, "mean error over seeds"
    assert (np.abs(errors) > 2.6).sum() <= 7, "of 200; 1.9 expected, 8 in 1 of 1,000 such tests"
    assert np.mean(shares) == pytest.approx(PREFERENCE, abs=2.6 * np.std(shares) / np.sqrt(SEEDS) + 0.005)
    assert held >= 16  # 19 expected
    assert sum(one < 0.01 for one in drift) <= 2, "a new name alone is no change of answers"
    trials = 320 * SEEDS
    share = (1 - THOUGHTS) * REFUSALS
    assert np.mean(refused) == pytest.approx(share, abs=2.6 * np.sqrt(share * (1 - share) / trials))


@pytest.mark.django_db
def test_the_estimate_counts_what_would_be_asked(settings, media: None) -> None:  # noqa: ANN001, F811
    settings.OBSERVER_HOSTS = ["127.0.0.1:9"]
    found = estimated(picture_set(), "openai:http://127.0.0.1:9/v1#m", VLM_2026)
    assert found.stimuli == 16 and found.calls == found.questions == sum(found.purposes.values())
    assert found.purposes == {
        "trial": 16, "wording": 32, "consistency": 64, "rotation": 240, "grey": 16, "wrong": 16, "canary": 16,
    }  # fmt: skip
    assert not media_path("evaluations").exists()
