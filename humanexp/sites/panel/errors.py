"""Refusals, in the three shapes that the service gives them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from django.http import HttpResponse, JsonResponse


class Shape(StrEnum):
    #: {"error": {"status", "error_code", "title", "detail", "additional_information"}}
    ERROR = "error"
    #: {"message", "detail"}
    MESSAGE = "message"
    #: {"detail"}
    BARE = "bare"


class Refused(Exception):
    """A call that changes nothing; `detail` is a sentence, or lists of sentences by field."""

    def __init__(self, status: int, title: str, detail: Any, *, code: int = 140_000, shape: Shape = Shape.ERROR):
        super().__init__(title)
        self.status, self.title, self.detail, self.code, self.shape = status, title, detail, code, shape

    def response(self) -> HttpResponse:
        if self.shape is Shape.BARE:
            return JsonResponse({"detail": self.detail}, status=self.status)
        if self.shape is Shape.MESSAGE:
            return JsonResponse({"message": self.title, "detail": self.detail}, status=self.status)
        error = {
            "status": self.status,
            "error_code": self.code,
            "title": self.title,
            "detail": self.detail,
            "additional_information": "/api/v1/errors/",
            "traceback": None,
            "interactive": False,
        }
        return JsonResponse({"error": error}, status=self.status)

    def sentence(self) -> str:
        """For a page."""
        if isinstance(self.detail, dict):
            return " ".join(f"{field}: {' '.join(why)}" for field, why in self.detail.items())
        return str(self.detail)


def not_found(what: str) -> Refused:
    return Refused(404, "Not found", f"The {what} does not exist, or you have no access to it.", code=140_102)


def invalid(field: str, why: str) -> Refused:
    """A value that is not accepted."""
    return Refused(400, "Validation error", {field: [why]}, code=140_100)


def wrong_state(why: str) -> Refused:
    return Refused(400, "This action cannot be performed", why, code=140_003)


def short_of_money(missing_cents: int) -> Refused:
    return Refused(
        400, "Insufficient funds", f"The available balance is {missing_cents} sub-units too low.", code=140_200
    )
