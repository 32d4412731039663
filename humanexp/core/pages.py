"""Answering with a page, or with the part of it that changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def render_part(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """The page; for htmx the part of it that changes, whose template has the same name after an underscore."""
    folder, _slash, name = template.rpartition("/")
    return render(request, f"{folder}/_{name}" if getattr(request, "htmx", False) else template, context)
