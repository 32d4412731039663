"""Refusals of the worker site become a page, or problem JSON for whoever asked for JSON."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from humanexp.marketplace.errors import WorkRefused
from humanexp.marketplace.views.refusals import refusal


class WorkRefusals:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return refusal(request, exception) if isinstance(exception, WorkRefused) else None
