"""Refusals become pages, and faults meet the calls that they were armed for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from humanexp.sites.panel.api.protocol import operation_of
from humanexp.sites.panel.errors import Refused
from humanexp.sites.panel.faults import ANY_OPERATION, FAULTS, with_fault


class PageRefusals(MiddlewareMixin):
    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, Refused):
            return None
        if request.content_type == "application/json":
            return exception.response()
        page = {"title": exception.title, "why": exception.sentence()}
        return render(request, "panel/refusal.html", page, status=exception.status)


class FaultsOnDemand(MiddlewareMixin):
    """By operation: "submissions.GET", "bonus-payment.POST"; `*` is any call of the API."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        is_api = request.path.startswith("/api/")
        wanted = {operation_of(request), *([ANY_OPERATION] if is_api else [])}
        fault = FAULTS.take(lambda one: one.operation in wanted)
        return None if fault is None else with_fault(fault, lambda: view(request, *args, **kwargs))
