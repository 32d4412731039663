"""MTurk's requester API as botocore describes it: the one source of names, types and limits."""

from __future__ import annotations

from functools import cache
from typing import Any

import botocore.session

from humanexp.sites.marketplace.errors import UnknownOperation

#: A shape of botocore's service model; botocore carries no types.
Shape = Any


@cache
def _service() -> Any:
    return botocore.session.Session().get_service_model("mturk")


@cache
def operation_names() -> frozenset[str]:
    return frozenset(_service().operation_names)


def operation_of(target: str) -> str:
    """The operation named by X-Amz-Target."""
    prefix, _, operation = target.partition(".")
    if prefix != _service().metadata["targetPrefix"] or operation not in operation_names():
        raise UnknownOperation
    return operation


@cache
def input_shape(operation: str) -> Shape:
    return _service().operation_model(operation).input_shape


@cache
def output_shape(operation: str) -> Shape:
    return _service().operation_model(operation).output_shape
