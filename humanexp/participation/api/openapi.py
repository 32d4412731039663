"""The specification of studies in the description of the API: serializers and schemas made of it, never beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rest_framework import serializers

from analysis.study.base import plain_type
from analysis.study.study import StudyConfiguration

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
