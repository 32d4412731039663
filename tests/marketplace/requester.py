"""A requester's questions to the marketplace, through boto3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

MakeHit = Callable[..., dict[str, Any]]
DAY = 86_400


def refused(call: Callable[..., Any], **parameters: Any) -> ClientError:
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    return caught.value


def code(err: ClientError) -> str:
    """TurkErrorCode without its prefix, or the plain code."""
    return err.response.get("TurkErrorCode", err.response["Error"]["Code"]).removeprefix("AWS.MechanicalTurk.")


def hit_now(mturk: Any, hit: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = mturk.get_hit(HITId=hit["HITId"])["HIT"]
    return found


def places(hit: dict[str, Any]) -> tuple[str, int, int, int]:
    """Status, available, pending, completed."""
    return hit["HITStatus"], *(hit[f"NumberOfAssignments{name}"] for name in ("Available", "Pending", "Completed"))
