"""What a server may say and do that is no answer: refused parameters, wrong counts, empty accounts, thoughts."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import ObserverUnavailable
from analysis.labels.space import Label, LabelSpace
from analysis.observers.questions import ForcedChoice
from analysis.observers.scoring import read_answer
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest
from humanexp.evaluations import chat
from humanexp.evaluations.budget import Budget, CapReached, Caps
from humanexp.evaluations.chat import Address, ChatObserver, address_of
from humanexp.evaluations.granting import Terms, Wish
from humanexp.evaluations.observers import check_may_be_asked
from humanexp.evaluations.replies import read_reply
from tests.evaluations.fake_model import FakeModel, InProcess, chunks_of
from tests.labels import of_the_sixteen

QUESTION = ForcedChoice()
PICTURE = np.zeros((8, 8, 3), dtype=np.uint8)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "PAUSE_S", 0.0)


def observer(folder: Path, model: FakeModel, caps: Caps | None = None, **changes: object) -> ChatObserver:
    budget = Budget(folder / "calls.jsonl", caps or Caps(), int(str(changes.get("most_tokens", 64))))
    made = ChatObserver(Address("http://localhost/v1", "m"), folder / "replies", budget, **changes)  # type: ignore[arg-type]
    made._connections.mount("http://", InProcess(model))
    return made


def model(**changes: object) -> FakeModel:
    return FakeModel({}, lambda change: 1.0, **changes)  # type: ignore[arg-type]


def refusal(message: str, param: str | None = None) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": param}}).encode()


class TestTerms:
    def test_a_wish_is_said_in_every_way_before_it_is_left_out(self) -> None:
        terms = Terms(Wish(0.5, 64, "off"))
        sent = terms.parameters()
        assert sent == {
            "temperature": 0.5, "max_tokens": 64, "reasoning_effort": "none",
            "chat_template_kwargs": {"enable_thinking": False},
        }  # fmt: skip
        assert terms.learn(sent, refusal("Unsupported value: 'reasoning_effort'", "reasoning_effort"))
        assert terms.parameters()["reasoning_effort"] == "minimal"
        assert terms.learn(sent, refusal("Unsupported value", "reasoning_effort")), "another thread's news is old"
        assert terms.parameters()["reasoning_effort"] == "minimal"
        assert terms.learn(terms.parameters(), refusal("Unrecognized request argument supplied: chat_template_kwargs"))
        assert terms.granted(terms.parameters()) == {"max_tokens": 64, "temperature": 0.5, "thinking": "minimal"}
        assert terms.learn(terms.parameters(), refusal("no", "reasoning_effort"))
        assert terms.granted(terms.parameters()) == {"max_tokens": 64, "temperature": 0.5}

    def test_the_length_of_a_reply_is_never_left_open(self) -> None:
        terms = Terms(Wish())
        assert terms.learn(
            terms.parameters(), refusal("Use 'max_completion_tokens' instead of 'max_tokens'.", "max_tokens")
        )
        assert terms.parameters()["max_completion_tokens"] == 64
        assert not terms.learn(terms.parameters(), refusal("no", "max_completion_tokens"))

    @pytest.mark.parametrize("content", [b"", b"[]", b"<html>", refusal("too large", "messages"), b'{"error": "no"}'])
    def test_what_names_no_parameter_teaches_nothing(self, content: bytes) -> None:
        assert not Terms(Wish()).learn(Terms(Wish()).parameters(), content)

    def test_in_the_words_of_other_servers(self) -> None:
        said = b'{"object": "error", "message": "temperature must be 1", "type": "BadRequestError", "code": 400}'
        terms = Terms(Wish())
        assert terms.learn(terms.parameters(), said) and "temperature" not in terms.parameters()

    def test_refusals_cost_nothing_and_count_as_calls(self, tmp_path: Path) -> None:
        asked = observer(tmp_path, model(refused=("temperature", "max_tokens")))
        answer = asked.answer(PICTURE, QUESTION)
        assert answer.granted == {"max_tokens": 64} and asked.budget is not None
        assert (asked.budget.calls, asked.budget.tokens_in, asked.budget._open) == (3, 300, 0)
        assert asked.answer(PICTURE, QUESTION) == answer.__class__(
            **{name: getattr(answer, name) for name in answer.__slots__} | {"was_known": True}
        )

    def test_a_call_that_is_wrong_otherwise_stops_at_once(self, tmp_path: Path) -> None:
        fake = model(refused=("model",))
        with pytest.raises(ObserverUnavailable, match=r"refuses the call \(status 400\).*'model' is not supported"):
            observer(tmp_path, fake).answer(PICTURE, QUESTION)
        assert fake.calls == 1


class TestCosts:
    @pytest.mark.parametrize(
        "usage",
        ["none", {"prompt_tokens": -9000, "completion_tokens": 1}, {"prompt_tokens": "many"}, {"completion_tokens": 0}],
    )
    def test_a_server_that_does_not_count_truly_is_not_for_free(self, usage: object, tmp_path: Path) -> None:
        caps = Caps(most_cost=0.05, price_in=10.0, price_out=10.0)
        fake = model(usage=usage)
        asked = observer(tmp_path, fake, caps)
        with pytest.raises(CapReached):
            for repeat in range(9):
                asked.answer(PICTURE, ForcedChoice(repeat=repeat))
        assert fake.calls == 3, "1,564 tokens a call at most, at 10 a million, are within .05 three times"

    def test_a_reply_longer_than_allowed_is_expected_again(self, tmp_path: Path) -> None:
        caps = Caps(most_cost=0.05, price_out=10.0)
        fake = model(usage={"prompt_tokens": 300, "completion_tokens": 3000})
        asked = observer(tmp_path, fake, caps)
        asked.answer(PICTURE, QUESTION)
        with pytest.raises(CapReached, match="could go over the cap"):
            asked.answer(PICTURE, ForcedChoice(repeat=1))
        assert asked.budget is not None and asked.budget.cost == pytest.approx(0.03)


class TestTroubles:
    def test_an_empty_account_is_not_asked_again_and_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake = model()
        said = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
        monkeypatch.setattr(fake, "reply_to", lambda body, key: (429, json.dumps(said).encode(), {}))
        asked = observer(tmp_path, fake)
        with pytest.raises(ObserverUnavailable, match="no more money for this key"):
            asked.answer(PICTURE, QUESTION)
        assert asked.budget is not None and asked.budget.calls == 1

    @pytest.mark.process
    def test_a_wanted_pause_is_kept(self, tmp_path: Path) -> None:
        fake = model(too_many=0.5, pause_s=0.2)
        asked = observer(tmp_path, fake)
        began = time.monotonic()
        for repeat in range(6):
            asked.answer(PICTURE, ForcedChoice(repeat=repeat))
        paused = fake.calls - 6
        assert paused and time.monotonic() - began >= 0.2 * paused, "no call came too soon"

    def test_pauses_as_services_write_them(self) -> None:
        later = format_datetime(clock.now() + timedelta(seconds=30), usegmt=True)
        for headers, low, high in (
            ({"Retry-After": "20"}, 20, 20), ({"Retry-After": "0.5"}, 0.5, 0.5),
            ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25, 0.25),
            ({"Retry-After": later}, 25, 31), ({"Retry-After": "-3"}, 0, 0),
        ):  # fmt: skip
            pause = chat._wanted_pause(headers)
            assert pause is not None and low <= pause <= high
        for headers in ({}, {"Retry-After": "soon"}, {"Retry-After": "Thu, 99 Foo 2026"}):
            assert chat._wanted_pause(headers) is None

    @pytest.mark.parametrize(
        ("content", "finish", "kind", "label"),
        [
            ("<think>A cat? No: a dog.</think>\n\nbear", "stop", "label", "bear"),
            ("<think>A cat? No: a do", "length", "miss", "na"),
            ("A cat</think>dog", "stop", "label", "dog"),
            (None, "length", "miss", "na"),
            ("dog", "content_filter", "refusal", "na"),
        ],
    )
    @of_the_sixteen
    def test_thoughts_are_no_answers(self, content: str | None, finish: str, kind: str, label: str) -> None:
        reply = {"choices": [{"message": {"content": content, "reasoning_content": "cat"}, "finish_reason": finish}]}
        found = read_reply(reply, QUESTION, was_known=False)
        assert (found.kind, found.label, found.finish_reason) == (kind, label, finish)
        assert (found.tokens_in, found.tokens_thought, found.tokens_picture) == (0, None, None)

    def test_tokens_of_thoughts_and_of_the_picture_are_told_apart(self) -> None:
        usage = {
            "prompt_tokens": 300, "completion_tokens": 40, "prompt_tokens_details": {"image_tokens": 256},
            "completion_tokens_details": {"reasoning_tokens": 33},
        }  # fmt: skip
        reply = {
            "choices": [{"message": {"content": "dog"}, "finish_reason": "stop"}], "usage": usage, "model": "m-2",
            "system_fingerprint": "fp", "humanexp": {"granted": {"max_tokens": 64}},
        }  # fmt: skip
        found = read_reply(reply, QUESTION, was_known=True)
        assert (found.tokens_in, found.tokens_out, found.tokens_thought, found.tokens_picture) == (300, 40, 33, 256)
        assert (found.model, found.fingerprint, found.granted) == ("m-2", "m-2 fp", {"max_tokens": 64})


def test_a_label_that_was_not_offered_is_outside() -> None:
    space = LabelSpace(
        name="pets", labels=(Label(id="cat"), Label(id="dog"), Label(id="mouse", synonyms={"en": ("rat",)}))
    )
    read = {
        text: read_answer(text, ("cat", "dog"), space=space).kind
        for text in ("a mouse", "A rat.", "a mouse or a dog", "a horse", "I cannot see a mouse", "cat or dog")
    }
    assert list(read.values()) == ["outside", "outside", "label", "unreadable", "outside", "unreadable"]
    assert read_answer("mouse", ("cat", "dog", "mouse"), space=space).label == "mouse"
    assert read_answer("mouse", ("cat", "dog")).kind == "unreadable", "without a space no other label is known"


def test_a_picture_is_sent_without_name_or_metadata(tmp_path: Path) -> None:
    fake = model()
    asked = observer(tmp_path, fake)
    sent: list[str] = []
    before = fake.reply_to
    fake.reply_to = lambda body, key: (sent.append(json.dumps(body)), before(body, key))[1]  # type: ignore[method-assign]
    picture = np.random.default_rng(0).integers(0, 256, (37, 53, 3), dtype=np.uint8)
    asked.answer(picture, QUESTION)
    (body,) = map(json.loads, sent)
    (image, text) = body["messages"][0]["content"]
    assert chunks_of(image["image_url"]["url"]) == ["IHDR", "IDAT", "IEND"]
    assert set(image) == {"type", "image_url"} and set(image["image_url"]) == {"url"}
    assert text == {"type": "text", "text": QUESTION.text} and len(body["messages"]) == 1
    assert str(tmp_path) not in sent[0] and "png;name" not in sent[0]


@pytest.mark.parametrize(
    "url",
    [
        "https://allowed.example@evil.example/v1", "https://allowed.example:x@evil.example/v1",
        "https://evil.example/allowed.example", "https://allowed.example.evil.example/v1",
        "https://allowed.example:8443/v1", "http://allowed.example/v1", "https://allowed.example\\@evil.example/v1",
        "http://127.0.0.1.evil.example/v1", "https://[::ffff:10.0.0.1]/v1", "https:///v1", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_no_address_passes_for_one_that_is_allowed(url: str, settings) -> None:  # noqa: ANN001
    settings.OBSERVER_HOSTS = ["allowed.example"]
    with pytest.raises(InvalidRequest):
        check_may_be_asked(f"openai:{url}#m", allow_upload=True)


def test_the_allowed_address_is_taken_and_a_redirect_is_not_followed(
    settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch  # noqa: ANN001
) -> None:  # fmt: skip
    settings.OBSERVER_HOSTS = ["allowed.example"]
    check_may_be_asked("openai:https://allowed.example/v1#m", allow_upload=True)
    assert address_of("openai:https://allowed.example/v1/#m") == Address("https://allowed.example/v1", "m")
    fake = model()
    monkeypatch.setattr(fake, "reply_to", lambda body, key: (302, b"", {"Location": "http://evil.example/"}))
    with pytest.raises(ObserverUnavailable, match="status 302"):
        observer(tmp_path, fake).answer(PICTURE, QUESTION)
