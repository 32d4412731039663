"""The shapes of the participant API. Whatever a reply may hold is listed here; nothing here tells a role.

The specification of studies in the description of the API is made of `analysis.study`, never beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rest_framework import serializers

from analysis.study.base import plain_type
from analysis.study.protocol import ProtocolConfig
from analysis.study.setup import SET_UP_STEPS
from analysis.study.study import StudyConfiguration
from analysis.tables import SCHEMAS
from analysis.tables.trials import INPUT_KINDS, TIMING_COLUMNS
from humanexp.participation.endings import LONGEST_TEXT
from humanexp.participation.models import LEFT, OUT_OF_TIME, Device, SessionState, WentWrong

_FIELDS: Mapping[object, type[serializers.Field[Any, Any, Any, Any]]] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
}


def serializer_of(kind: type[BaseModel], *, name: str) -> type[serializers.Serializer[Any]]:
    """A serializer that shows every setting of a flat model."""
    fields = {setting: _field(info) for setting, info in kind.model_fields.items()}
    return type(name, (serializers.Serializer,), fields)


def _field(info: FieldInfo) -> serializers.Field[Any, Any, Any, Any]:
    kind = plain_type(info.annotation)
    # A setting that may be None is left out where it is, as in study files.
    said: dict[str, Any] = {"help_text": info.description, "required": kind == info.annotation}
    if get_origin(kind) is Literal:
        return serializers.ChoiceField(get_args(kind), **said)
    return _FIELDS[kind](**said)


def with_study_file(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Postprocessing hook of drf-spectacular: the schema of a study file, as `study.toml` or as stored."""
    schema = StudyConfiguration.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = schema.pop("$defs")
    result["components"]["schemas"] |= dict(sorted({**parts, "StudyConfiguration": schema}.items()))
    return result


#: Steps of the set-up in addition to what every study measures.
STEPS = ("size", *SET_UP_STEPS)
#: A trial with more clicks than this is a stuck key.
MOST_CLICKS = 200
LARGEST_ENVIRONMENT = 16_000
#: No measurement is larger, not even milliseconds since 1970; 1e999 is read as infinity, which databases do not store.
LARGEST = 1e13


class HandoffIn(serializers.Serializer[Any]):
    code = serializers.CharField(max_length=400)


class LookOut(serializers.Serializer[Any]):
    tasks = serializers.ListField(child=serializers.CharField(), help_text="of the session that the code opens")


class ResumeOut(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="under which the browser keeps the secret")
    secret = serializers.CharField(help_text="gets a token again when this window is gone")


class TokenOut(serializers.Serializer[Any]):
    token = serializers.CharField()
    resume = ResumeOut(allow_null=True, help_text="null where nothing is to be kept: other people use this computer")


class LeaseIn(serializers.Serializer[Any]):
    lease = serializers.RegexField(r"^[A-Za-z0-9_-]{8,64}$", help_text="made at random by the tab")


class LeaseOut(serializers.Serializer[Any]):
    lease = serializers.CharField()


ProtocolOut = serializer_of(ProtocolConfig, name="ProtocolOut")


class ChoiceOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # shadows a text of the base class
    icon = serializers.CharField(required=False)


class BlockOut(serializers.Serializer[Any]):
    index = serializers.IntegerField()
    kind = serializers.ChoiceField(["practice", "qualification", "main"])
    task = serializers.CharField()
    first = serializers.IntegerField()
    last = serializers.IntegerField()
    feedback = serializers.BooleanField()
    is_slow = serializers.BooleanField(required=False, help_text="practice in slow motion")
    needed = serializers.IntegerField(required=False, help_text="right answers that pass this round of practice")


class StateOut(serializers.Serializer[Any]):
    state = serializers.ChoiceField([*SessionState.values, LEFT, OUT_OF_TIME])


class WithdrawIn(serializers.Serializer[Any]):
    keep = serializers.BooleanField(required=False, default=False, help_text="whether the answers so far stay")
    reason = serializers.ChoiceField(
        ["own", "time"],
        required=False,
        default="own",
        help_text="`time`: the next round would not be over in time; believed where the server finds the same",
    )


class CodeOut(serializers.Serializer[Any]):
    session_code = serializers.CharField(
        allow_blank=True, help_text="for letters about the session, and opens nothing; empty in a preview"
    )


class SessionOut(StateOut, CodeOut):
    study_title = serializers.CharField()
    cursor = serializers.IntegerField(help_text="next position without an answer")
    total = serializers.IntegerField()
    protocol = ProtocolOut()
    slow_down = serializers.BooleanField(help_text="whether the page asks for slower answers before the next block")
    minutes_left = serializers.IntegerField(help_text="that the rest of the session takes most people")
    round_s = serializers.IntegerField(help_text="seconds that the rest of the round at the cursor takes most people")
    due_in_s = serializers.IntegerField(
        allow_null=True, help_text="seconds until whoever recruited the person takes no work any more, at the latest"
    )
    set_up = serializers.ListField(
        child=serializers.ChoiceField(STEPS), help_text="steps before practice that the study wants"
    )
    longer_window_ms = serializers.IntegerField(
        allow_null=True, help_text="a longer time for each answer that the person can ask for"
    )
    choices = serializers.DictField(child=ChoiceOut(many=True), help_text="by task, for the tasks of this session")
    columns = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="columns of the grid of choices, by task, where the labels state them",
    )
    instructions = serializers.ListField(
        child=serializers.CharField(), help_text="what the study asks people to keep to, in its own words"
    )
    instructions_shown = serializers.BooleanField(help_text="whether they are shown above every picture")
    own_words = serializers.BooleanField(help_text="whether the study words the second question of a picture itself")
    alternatives = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="labels that a trial offers, by task, where these are not all of `choices`; `Trial-Options` of its "
        "pictures says which",
    )
    blocks = BlockOut(many=True)


class QuestionOut(serializers.Serializer[Any]):
    wanted = serializers.CharField(help_text="the category that the picture is compared with")
    label = serializers.CharField()  # type: ignore[assignment]  # shadows a text of the base class
    definition = serializers.CharField()
    link = serializers.CharField(allow_blank=True, help_text="a page to read more; empty where the study has none")
    questions = serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2)


class ClickIn(serializers.Serializer[Any]):
    choice = serializers.CharField(max_length=40)
    t_ms = serializers.FloatField(min_value=-LARGEST, max_value=LARGEST)
    input = serializers.ChoiceField(INPUT_KINDS)


#: By kind of column: the field, and its limits.
_TIMING: Mapping[str, tuple[type[serializers.Field[Any, Any, Any, Any]], Mapping[str, Any]]] = {
    "integer": (serializers.IntegerField, {"min_value": -(2**31), "max_value": 2**31}),
    "number": (serializers.FloatField, {"min_value": -LARGEST, "max_value": LARGEST}),
    "boolean": (serializers.BooleanField, {}),
    "text": (serializers.CharField, {"allow_blank": True, "max_length": 60}),
}


def _timing_field(kind: str) -> serializers.Field[Any, Any, Any, Any]:
    field, limits = _TIMING[kind]
    return field(required=False, allow_null=True, **limits)


#: The columns that the browser measures, with the kinds that the table of trials declares.
TimingIn: type[serializers.Serializer[Any]] = type(
    "TimingIn",
    (serializers.Serializer,),
    {column.name: _timing_field(column.kind) for column in SCHEMAS["trials"].columns if column.name in TIMING_COLUMNS},
)


class ResponseIn(serializers.Serializer[Any]):
    position = serializers.IntegerField(min_value=0, max_value=32_767)
    response = serializers.CharField(max_length=40)
    rt_ms = serializers.FloatField(allow_null=True, required=False, default=None, min_value=0, max_value=86_400_000)
    clicks = serializers.ListField(child=ClickIn(), required=False, default=list, max_length=MOST_CLICKS)
    timing = TimingIn(required=False, default=dict)
    simulated = serializers.BooleanField(required=False, default=False)


class FeedbackOut(serializers.Serializer[Any]):
    correct = serializers.BooleanField()
    category = serializers.CharField(help_text="the right answer; practice pictures never come up again")


class ResponseOut(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    cursor = serializers.IntegerField()
    feedback = FeedbackOut(required=False, help_text="in practice blocks only")


def _pixels() -> serializers.IntegerField:
    return serializers.IntegerField(min_value=1, max_value=100_000)


class CompleteIn(serializers.Serializer[Any]):
    environment = serializers.DictField(required=False, default=dict)

    def validate_environment(self, value: dict[str, Any]) -> dict[str, Any]:
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False)
            text.encode()
        except ValueError as error:
            raise serializers.ValidationError("Finite numbers and whole characters only.") from error
        if len(text) > LARGEST_ENVIRONMENT or "\\u0000" in text:
            raise serializers.ValidationError(f"At most {LARGEST_ENVIRONMENT} characters of JSON, none of them null.")
        return value


class CompletionOut(StateOut):
    receipt = serializers.CharField()
    completion_code = serializers.CharField()
    qualified = serializers.BooleanField(help_text="false when the session ended with the qualification, or practice")
    practised = serializers.BooleanField(help_text="false when the session ended with practice that was not passed")
    debrief = serializers.CharField(allow_blank=True)
    closing = serializers.ListField(
        child=serializers.ChoiceField(["problems", "comments", "device"]), help_text="questions that are still asked"
    )
    own_result = serializers.CharField(
        allow_blank=True, help_text="address of the participant's own result; empty where none is offered"
    )


class ClosingIn(serializers.Serializer[Any]):
    """All of it optional."""

    went_wrong = serializers.ChoiceField(WentWrong.values, required=False, allow_blank=True)
    problem = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_TEXT)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_TEXT)
    device = serializers.ChoiceField(Device.values, required=False, allow_blank=True)


class SetUpIn(serializers.Serializer[Any]):
    """All of it optional; what a study does not ask is refused."""

    window_px = serializers.ListField(child=_pixels(), min_length=2, max_length=2, required=False)
    screen_px = serializers.ListField(child=_pixels(), min_length=2, max_length=2, required=False)
    dpr = serializers.FloatField(required=False, min_value=0.1, max_value=20)
    zoom = serializers.FloatField(required=False, allow_null=True, min_value=0.1, max_value=10)
    refresh_hz = serializers.FloatField(required=False, allow_null=True, min_value=1, max_value=2000)
    px_per_mm = serializers.FloatField(required=False, allow_null=True, min_value=0.5, max_value=100)
    distance_mm = serializers.FloatField(required=False, allow_null=True, min_value=20, max_value=10_000)
    dark_steps = serializers.IntegerField(required=False, min_value=0, max_value=8)
    bright_steps = serializers.IntegerField(required=False, min_value=0, max_value=8)
    night_light = serializers.ChoiceField(["off", "on", "unknown"], required=False)
    notifications = serializers.ChoiceField(["off", "on", "unknown"], required=False)
    glasses = serializers.ChoiceField(["none", "glasses", "lenses", "undisclosed"], required=False)
    longer_window = serializers.BooleanField(required=False, help_text="asked for, without a reason")
    light = serializers.ChoiceField(["dark", "dim", "bright", "sunlight"], required=False)


class StatusOut(StateOut, CodeOut):
    cursor = serializers.IntegerField()
    total = serializers.IntegerField()
    closing = serializers.ChoiceField(
        ["none", "open", "given"], help_text="whether the page asks the questions at the end, or Finish was pressed"
    )
    receipt = serializers.CharField(required=False)
    completion_code = serializers.CharField(required=False)
