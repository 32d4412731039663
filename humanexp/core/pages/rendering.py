"""Answering with a page, with the part of it that changes, or with a file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

#: Files that figures come as.
FIGURE_KINDS = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


def render_part(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """The page; for htmx the part of it that changes, whose template has the same name after an underscore."""
    folder, _slash, name = template.rpartition("/")
    return render(request, f"{folder}/_{name}" if getattr(request, "htmx", False) else template, context)


def attached(content: bytes | str, kind: str, name: str, *, inline: bool = False) -> HttpResponse:
    """A file to be saved, or, `inline`, to be looked at."""
    how = "inline" if inline else "attachment"
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": f'{how}; filename="{name}"'})


def drawn(suffix: str, write: Callable[[Path], object]) -> bytes:
    """What a figure writes into a file of this kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"figure.{suffix}"
        write(path)
        return path.read_bytes()
