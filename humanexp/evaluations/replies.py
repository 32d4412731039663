"""What a chat completion says: its text, why it ended, its tokens, and under which name and decoding it was given."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from analysis.labels.space import NO_ANSWER
from analysis.observers.comparisons import read_reply_to
from analysis.observers.port import Answer
from analysis.observers.questions import Question

#: Where a kept reply holds what is not the server's.
OWN = "humanexp"


class _Part(BaseModel):
    """Of a reply; what is not read is kept all the same."""

    model_config = ConfigDict(extra="ignore")


class _Message(_Part):
    content: str | None = None
    refusal: str | None = None


class _Choice(_Part):
    message: _Message
    finish_reason: str | None = None


_Count = Annotated[int, Field(ge=0)]


class _OfReply(_Part):
    reasoning_tokens: _Count | None = None


class _OfQuestion(_Part):
    image_tokens: _Count | None = None


class _Usage(_Part):
    prompt_tokens: _Count
    completion_tokens: _Count
    completion_tokens_details: _OfReply | None = None
    prompt_tokens_details: _OfQuestion | None = None


class Reply(_Part):
    """What is read of a reply; the whole is kept."""

    choices: list[_Choice]
    usage: Any = None
    model: str | None = None
    system_fingerprint: str | None = None

    @property
    def counted(self) -> _Usage | None:
        """Tokens, where the server tells them as numbers that can be true."""
        try:
            return _Usage.model_validate(self.usage)
        except ValidationError:
            return None


def _said(content: str) -> str:
    """The reply without thoughts that a server leaves in it; nothing where they were cut off."""
    before, end, after = content.rpartition("</think>")
    if end:
        return after
    return "" if content.lstrip().startswith("<think>") else after


def read_reply(kept: dict[str, Any], question: Question, *, was_known: bool) -> Answer:
    reply = Reply.model_validate(kept)
    choice, usage = reply.choices[0], reply.counted
    text = choice.message.content or ""
    found = read_reply_to(_said(text), question)
    has_refused = bool(choice.message.refusal) or choice.finish_reason == "content_filter"
    of_reply = usage.completion_tokens_details if usage else None
    of_question = usage.prompt_tokens_details if usage else None
    return Answer(
        kind="refusal" if has_refused else found.kind,
        label=NO_ANSWER if has_refused else found.label,
        text=choice.message.refusal or text,
        tokens_in=usage.prompt_tokens if usage else 0,
        tokens_out=usage.completion_tokens if usage else 0,
        tokens_thought=of_reply.reasoning_tokens if of_reply else None,
        tokens_picture=of_question.image_tokens if of_question else None,
        finish_reason=choice.finish_reason or "",
        model=reply.model or "",
        fingerprint=" ".join(part for part in (reply.model, reply.system_fingerprint) if part),
        granted=kept.get(OWN, {}).get("granted", {}),
        answered_at=kept.get(OWN, {}).get("at", ""),
        was_known=was_known,
    )
