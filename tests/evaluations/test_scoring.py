"""Models on this machine that score labels: tiny ones with random weights, made here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from PIL import Image
from safetensors.torch import load_file, save_file
from scipy.stats import chi2_contingency

from analysis.errors import ObserverUnavailable
from analysis.labels.files import default_labels
from analysis.observers.comparisons import Comparison
from analysis.observers.position import place_preference
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import AskPlan, ForcedChoice
from analysis.observers.vision_language import VisionLanguageModel, Written
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations import selectors
from humanexp.evaluations.budget import Caps
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.observers import Machine, observer_of
from humanexp.evaluations.services import asked_observers
from humanexp.evaluations.services.asked_observers import ask, estimated
from humanexp.evaluations.specs import shown
from humanexp.jobs import runner
from humanexp.jobs.models import Job
from humanexp.stimuli.models import StimulusSet
from tests.evaluations.sets import picture_set
from tests.evaluations.tiny_models import gemma3, idefics3, llava, llava_next, qwen2_vl

ALL = dict.fromkeys(default_labels().ids, 2)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llava(tmp_path_factory.mktemp("models") / "tiny-llava")


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copied"))


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (96, 96, 3), dtype=np.uint8)


def by_brute_force(folder: Path, picture: np.ndarray, question: ForcedChoice, said: tuple[str, ...]) -> list[float]:
    """Each reply in a conversation of its own, processed from the start, and no cache, batch or padding."""
    import transformers

    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    content = [{"type": "image"}, {"type": "text", "text": question.text}]
    opening = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
    image, found = Image.fromarray(picture), []
    before = processor(text=[opening], images=[image], return_tensors="pt")["input_ids"].shape[1]
    for one in said:
        text = opening + ("" if opening.endswith("\n") else " ") + one
        inputs = processor(text=[text], images=[image], return_tensors="pt")
        with torch.no_grad():
            logits = model(**inputs, use_cache=False).logits[0].double().numpy()
        tokens = inputs["input_ids"][0].numpy()
        logs = logits - np.log(np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))
        logs -= logits.max(axis=1, keepdims=True)
        found.append(float(sum(logs[place - 1, tokens[place]] for place in range(before, len(tokens)))))
    return found


class TestScores:
    @pytest.mark.verify
    @pytest.mark.parametrize("make", [llava, llava_next, qwen2_vl, idefics3, gemma3])
    @pytest.mark.parametrize("style", ["words", "letters"])
    def test_they_are_those_of_a_plain_pass_for_each_label(
        self, make: Callable[[Path], Path], style: str, tmp_path: Path
    ) -> None:
        folder = make(tmp_path / "model")
        model = VisionLanguageModel(folder)
        for seed in range(2):
            (question, *_) = AskPlan(style=style).questions_for(f"picture-{seed}")
            said = question.labels if style == "words" else tuple("ABCDEFGHIJKLMNOP")
            expected = by_brute_force(folder, noise(seed), question, said)
            found = model.scores(noise(seed), question)
            assert found.log_probabilities == pytest.approx(expected, abs=1e-5)
            assert model._shares, "this architecture reads a question once"
            model.__dict__["_shares"] = False
            assert model.scores(noise(seed), question).log_probabilities == pytest.approx(expected, abs=1e-5)
            del model.__dict__["_shares"]
            assert np.ptp(expected) > 1.0
            if style == "words":
                assert len(set(found.tokens_out)) > 3, "labels of several lengths are padded"

    def test_they_depend_on_the_picture_and_on_the_order_of_the_labels(self, tiny: Path) -> None:
        model, question = VisionLanguageModel(tiny), ForcedChoice()
        first = model.scores(noise(0), question).log_probabilities
        assert model.scores(noise(0), question).log_probabilities == first
        assert model.scores(noise(1), question).log_probabilities != pytest.approx(first, abs=1e-4)
        turned = ForcedChoice(labels=question.labels[::-1])
        assert model.scores(noise(0), turned).log_probabilities[::-1] != pytest.approx(first, abs=1e-4)

    def test_the_digest_follows_weights_tokenizer_and_template(self, tiny: Path, copy: Path) -> None:
        digest = VisionLanguageModel(tiny).digest
        assert VisionLanguageModel(copy).digest == digest
        (copy / "README.md").write_text("Notes")
        assert VisionLanguageModel(copy).digest == digest
        for name in ("model.safetensors", "tokenizer.json", "chat_template.jinja"):
            content = (copy / name).read_bytes()
            (copy / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
            assert VisionLanguageModel(copy).digest != digest
            (copy / name).write_bytes(content)


class TestRefusedModels:
    def test_no_folder_and_no_safe_weights(self, copy: Path) -> None:
        with pytest.raises(ObserverUnavailable, match="is no folder"):
            VisionLanguageModel(copy / "nowhere")
        torch.save(load_file(copy / "model.safetensors"), copy / "pytorch_model.bin")
        (copy / "model.safetensors").unlink()
        with pytest.raises(ObserverUnavailable, match=r"weights as \.safetensors"):
            VisionLanguageModel(copy)

    def test_missing_weights(self, copy: Path) -> None:
        weights = load_file(copy / "model.safetensors")
        del weights[next(name for name in weights if "q_proj" in name)]
        save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(ObserverUnavailable, match="would be random"):
            VisionLanguageModel(copy).scores(noise(0), ForcedChoice())

    def test_code_that_comes_with_weights_is_not_run(self, copy: Path, tmp_path: Path) -> None:
        config = json.loads((copy / "config.json").read_text())
        config |= {"model_type": "own", "auto_map": {"AutoModelForImageTextToText": "own.Model", "AutoConfig": "own.C"}}
        (copy / "config.json").write_text(json.dumps(config))
        (copy / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass C: ...\nclass Model: ...\n")
        with pytest.raises(ObserverUnavailable, match="cannot be read"):
            VisionLanguageModel(copy).scores(noise(0), ForcedChoice())
        assert not (tmp_path / "ran").exists()

    def test_no_chat_template(self, copy: Path) -> None:
        (copy / "chat_template.jinja").unlink()
        with pytest.raises(ObserverUnavailable, match="chat template"):
            VisionLanguageModel(copy).scores(noise(0), ForcedChoice())

    def test_a_model_that_thinks_first(self, tmp_path: Path) -> None:
        with pytest.raises(ObserverUnavailable, match="thinks before it answers"):
            VisionLanguageModel(llava(tmp_path / "m", end="\n<think>\n")).scores(noise(0), ForcedChoice())

    def test_weights_that_are_no_numbers(self, copy: Path) -> None:
        weights = load_file(copy / "model.safetensors")
        name = next(name for name in weights if "q_proj" in name)
        weights[name] = torch.full_like(weights[name], torch.nan)
        save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(ObserverUnavailable, match="no numbers"):
            VisionLanguageModel(copy).scores(noise(0), ForcedChoice())


@pytest.fixture
def media(settings, tmp_path: Path) -> Path:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    return tmp_path / "media"


def asked(stimulus_set: StimulusSet, folder: Path, **changes: object) -> tuple[EvaluationRun, Job]:
    arguments = {"protocol": AskProtocol(), "caps": Caps(), **changes}
    run, job = ask(stimulus_set=stimulus_set, spec=f"vlm:{folder}", **arguments)
    runner.run_waiting(kinds=[asked_observers.ASK_KIND])
    job.refresh_from_db()
    run.refresh_from_db()
    return run, job


def answers_of(run: EvaluationRun) -> pd.DataFrame:
    return pd.read_parquet(media_path(run.answers_file))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("media")
class TestAsked:
    @pytest.mark.verify
    def test_random_weights_answer_by_chance_whatever_the_picture_shows(self, tiny: Path) -> None:
        stimulus_set = picture_set(originals=ALL, count=160)
        run, job = asked(stimulus_set, tiny)
        assert job.state == "done", job.error
        table, found = answers_of(run), run.asking["summary"]
        assert len(table) == (160 + 32) * 4 == found["asked"] == sum(found["kinds"].values())
        assert set(found["kinds"]) == {"label"}, "nothing can be refused or unreadable"
        # Every category is shown as often; the answers to a stimulus are not independent, so one of each counts.
        first = table.query("wording == 'describes' and order == 0")
        assert abs(first["correct"].mean() - 1 / 16) < 3.5 * np.sqrt(1 / 16 * 15 / 16 / len(first))
        counts = pd.crosstab(first["category"], first["response"])
        assert counts.shape[1] > 1 and chi2_contingency(counts).pvalue > 0.01
        places = [row.shown.split().index(row.response) for row in table.itertuples()]
        assert found["preference"] == pytest.approx(place_preference(places, 16))
        assert 0 < found["mass"] < 1 and found["changed_with_order"] > 0

    @pytest.mark.verify
    def test_predictions_take_the_first_answer_with_its_share_among_the_labels(self, tiny: Path) -> None:
        stimulus_set = picture_set(originals=ALL, count=16)
        run, _job = asked(stimulus_set, tiny)
        predictions = selectors.predictions_for(stimulus_set).set_index("stimulus")
        first = answers_of(run).query("wording == 'describes' and order == 0").set_index("stimulus")
        assert len(predictions) == 48 and (predictions["response"] == first["response"]).all()
        for stimulus, row in first.iterrows():
            logs = np.array([float(one) for one in row["scores"].split()])
            assert row["shown"].split()[int(logs.argmax())] == row["response"] == row["text"]
            share = np.exp(logs.max()) / np.exp(logs).sum()
            assert predictions.loc[stimulus, "confidence"] == pytest.approx(share)
            assert row["mass"] == pytest.approx(np.exp(logs).sum())

    @pytest.mark.verify
    def test_repeats_at_a_temperature_are_drawn_from_the_same_scores(self, tiny: Path) -> None:
        stimulus_set = picture_set(originals=ALL, count=16)
        plan = AskPlan(wordings=("describes",), orders=1, repeats=4)
        with pytest.raises(InvalidRequest, match="copies"):
            asked(stimulus_set, tiny, protocol=AskProtocol(plan=plan))
        protocol = AskProtocol(plan=plan, temperature=1.0)
        assert estimated(stimulus_set, f"vlm:{tiny}", protocol).calls == 48 * 4
        run, job = asked(stimulus_set, tiny, protocol=protocol)
        assert job.state == "done", job.error
        table = answers_of(run)
        assert len(list(media_path("evaluations/replies").rglob("*.json"))) == 48, "one score for four repeats"
        # two draws of one stimulus differ with probability 1 - sum of the squares of the shares
        shares = [np.exp([float(one) for one in row.split()]) for row in table.query("repeat == 0")["scores"]]
        expected = np.mean([1 - ((one / one.sum()) ** 2).sum() for one in shares])
        assert 0.3 < expected < 0.95
        assert run.asking["summary"]["changed_with_repeat"] == pytest.approx(expected, abs=0.12)
        again, _job = asked(stimulus_set, tiny, protocol=protocol)
        assert answers_of(again).to_csv() == table.to_csv()

    @pytest.mark.verify
    def test_what_was_scored_is_kept_until_the_model_changes(self, tiny: Path, copy: Path) -> None:
        stimulus_set = picture_set()
        run, _job = asked(stimulus_set, tiny)
        assert (run.asking["is_scored"], run.asking["is_repeatable"], run.device) == (True, True, "cpu")
        assert {"transformers", "torch", "tokenizers", "precision"} <= set(run.versions)
        assert run.asking["summary"]["fingerprints"] == [VisionLanguageModel(tiny).digest[:16]]
        before, digest = answers_of(run).to_csv(), run.classifier_digest
        assert estimated(stimulus_set, f"vlm:{tiny}", AskProtocol()).calls == 0
        assert estimated(stimulus_set, f"vlm:{copy}", AskProtocol()).calls == 0, "the same model in another folder"
        half = sorted(media_path("evaluations/replies").rglob("*.json"))[::2]
        for file in half:
            file.unlink()
        assert estimated(stimulus_set, f"vlm:{tiny}", AskProtocol()).calls == len(half) == 32
        again, _job = asked(stimulus_set, tiny)
        assert answers_of(again).to_csv() == before and again.classifier_digest == digest
        weights = load_file(copy / "model.safetensors")
        name = next(name for name in weights if "q_proj" in name)
        save_file({**weights, name: weights[name] + 0.1}, copy / "model.safetensors", metadata={"format": "pt"})
        assert estimated(stimulus_set, f"vlm:{copy}", AskProtocol()).calls == 64

    @pytest.mark.verify
    def test_what_it_is_called(self, tiny: Path) -> None:
        run, _job = asked(picture_set(), tiny)
        assert run.name == "tiny-llava"
        assert run.spec == f"vlm:{tiny.resolve()}" and shown(run.spec) == "vlm:tiny-llava"

    @pytest.mark.parametrize(
        ("changes", "message"),
        [({"caps": Caps(most_calls=10)}, "costs nothing"), ({"machine": Machine(device="cuda:9")}, "CUDA")],
    )
    def test_refused_before_anything_is_stored(self, tiny: Path, changes: dict, message: str) -> None:
        with pytest.raises(InvalidRequest, match=message):
            asked(picture_set(), tiny, **changes)
        with pytest.raises(InvalidRequest, match="is no folder"):
            asked(picture_set("others", seed=1), tiny / "nowhere")
        assert not EvaluationRun.objects.exists()

    def test_the_command_and_the_page(self, tiny: Path, client: Client) -> None:
        picture_set()
        out, err = StringIO(), StringIO()
        call_command("evaluate", stimuli="pets", classifier=f"vlm:{tiny}", stdout=out, stderr=err)
        assert "16 stimuli, 400 questions, 0 answered already: 400 calls.\n" in err.getvalue()
        assert "368 questions: 368 label\n" in out.getvalue() and "begins with one of the labels" in out.getvalue()
        client.force_login(User.objects.create_user("lab", is_staff=True))
        page = client.get(reverse("evaluations:run", args=[EvaluationRun.objects.get().pk])).content.decode()
        assert "vlm:tiny-llava" in page and str(tiny) not in page
        assert "by the protocol vlm-2026" in page and "makes it another observer" in page
        assert "finds likeliest" in page and "Replies that begin with a label" in page and "calls" not in page


class TestWritten:
    """``vlm:FOLDER#written``: the same model writes, and its replies are read as a server's."""

    def greedy(self, folder: Path, picture: np.ndarray, question: ForcedChoice, most: int) -> list[int]:
        """Token by token, each from the whole conversation anew."""
        import transformers

        model = transformers.AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        processor = transformers.AutoProcessor.from_pretrained(folder)
        content = [{"type": "image"}, {"type": "text", "text": question.text}]
        opening = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
        inputs = processor(text=[opening], images=[Image.fromarray(picture)], return_tensors="pt")
        tokens: list[int] = []
        ends = model.generation_config.eos_token_id
        while len(tokens) < most and (not tokens or tokens[-1] != ends):
            with torch.no_grad():
                logits = model(**inputs, use_cache=False).logits[0, -1]
            tokens.append(int(logits.argmax()))
            inputs["input_ids"] = torch.cat([inputs["input_ids"], torch.tensor([[tokens[-1]]])], dim=1)
            inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        return tokens

    def test_the_likeliest_reply_is_that_of_a_plain_pass_for_each_token(self, tiny: Path) -> None:
        model, question = VisionLanguageModel(tiny), ForcedChoice()
        for seed in range(2):
            found = model.written(noise(seed), question, temperature=0.0, most_tokens=6, seed=seed)
            expected = self.greedy(tiny, noise(seed), question, 6)
            assert found.tokens_out == len(expected)
            assert found.text == model._processor.tokenizer.decode(expected, skip_special_tokens=True)
            assert found.finish_reason == ("length" if expected[-1] not in model._ends else "stop")

    def test_draws_follow_from_the_seed(self, tiny: Path) -> None:
        model, question = VisionLanguageModel(tiny), ForcedChoice()
        drawn = [
            model.written(noise(0), question, temperature=1.0, most_tokens=8, seed=seed).text for seed in (1, 1, 2)
        ]
        assert drawn[0] == drawn[1] != drawn[2]

    def test_replies_are_kept_read_strictly_and_told_apart_from_scores(
        self, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        protocol = AskProtocol(temperature=0.0, most_tokens=4)
        written = observer_of(f"vlm:{tiny}#written", protocol, Machine())
        scored = observer_of(f"vlm:{tiny}", protocol, Machine())
        assert written.name == f"{scored.name}, written" and written.digest != scored.digest
        assert observer_of(f"vlm:{tiny}#written", AskProtocol(most_tokens=5), Machine()).digest != written.digest
        assert not written.is_known(noise(0), ForcedChoice())
        first = written.answer(noise(0), ForcedChoice())
        assert (first.kind, first.scores, first.tokens_out, first.was_known) == ("unreadable", None, 4, False)
        assert (first.finish_reason, first.granted["max_tokens"]) == ("length", 4)
        monkeypatch.setattr(VisionLanguageModel, "written", lambda *args, **kwargs: pytest.fail("asked again"))
        again = written.answer(noise(0), ForcedChoice())
        assert again.was_known and (again.text, again.answered_at) == (first.text, first.answered_at)
        assert not written.is_known(noise(1), ForcedChoice()) and not written.is_known(noise(0), ForcedChoice(repeat=1))
        said = dict.fromkeys(("It is a dog.", "", "dog or cat"))
        for seed, text in enumerate(said, 5):
            monkeypatch.setattr(
                VisionLanguageModel, "written", lambda *args, text=text, **kwargs: Written(text, 9, 4, "stop")
            )
            said[text] = written.answer(noise(seed), ForcedChoice()).kind
        assert said == {"It is a dog.": "label", "": "miss", "dog or cat": "unreadable"}

    @pytest.mark.django_db(transaction=True)
    def test_it_is_a_second_observer_in_words(self, tiny: Path) -> None:
        stimulus_set = picture_set(count=4)
        out = StringIO()
        call_command(
            "evaluate", stimuli="pets", classifier=f"vlm:{tiny}#written", wordings="describes", orders=1, most_tokens=3,
            stdout=out, stderr=StringIO(),
        )  # fmt: skip
        run = EvaluationRun.objects.get(stimulus_set=stimulus_set)
        assert run.name == "tiny-llava, written" and run.device == "cpu" and not run.asking["is_scored"]
        said = " ".join(out.getvalue().split())
        assert "replies at temperature 0 of at most 3 tokens" in said and "no model judged replies" in said
        assert "cannot be reproduced" not in said and "does not take a wish" not in said


class TestComparisons:
    @pytest.mark.parametrize("make", [llava, llava_next, qwen2_vl, idefics3])
    def test_two_pictures_are_read_where_the_processor_takes_them(
        self, make: Callable[[Path], Path], tmp_path: Path
    ) -> None:
        model, question = (
            VisionLanguageModel(make(tmp_path / "model")),
            Comparison("same-different", ("same", "different")),
        )
        model.check_pictures(question, 2)
        first, turned, alike = (
            model.scores(np.stack(shown), question)
            for shown in ((noise(0), noise(1)), (noise(1), noise(0)), (noise(0), noise(0)))
        )
        assert first.log_probabilities != pytest.approx(turned.log_probabilities, abs=1e-6)
        assert first.log_probabilities != pytest.approx(alike.log_probabilities, abs=1e-6)
        assert len(first.log_probabilities) == 2 and first.tokens_in > model.scores(noise(0), question).tokens_in

    @pytest.mark.parametrize("writes", ["", "#written"])
    def test_both_observers_answer_comparisons_and_keep_them(self, writes: str, tiny: Path) -> None:
        found = observer_of(f"vlm:{tiny}{writes}", AskProtocol(most_tokens=3), Machine())
        shown, question = np.stack([noise(5), noise(6)]), Comparison("same-different", ("different", "same"))
        assert not found.is_known(shown, question)
        first = found.answer(shown, question)
        assert first.kind == ("unreadable" if writes else "label") and first.tokens_in > 100
        assert found.is_known(shown, question) and found.answer(shown, question).text == first.text
        assert not found.is_known(shown[::-1].copy(), question), "another order of pictures is another question"
        assert not found.is_known(shown, Comparison("same-different", ("same", "different")))

    def test_a_processor_that_reads_one_picture_is_refused(self, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = VisionLanguageModel._processed
        monkeypatch.setattr(
            VisionLanguageModel,
            "_processed",
            lambda self, shown, opening: whole(
                self,
                shown[0] if shown.ndim == 4 else shown,
                opening.replace("<image>", "", max(0, opening.count("<image>") - 1)),
            ),
        )  # noqa: E501
        with pytest.raises(ObserverUnavailable, match="does not take 2 pictures in one question"):
            VisionLanguageModel(tiny).check_pictures(Comparison("same-different", ("same", "different")), 2)
