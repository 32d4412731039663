"""Pictures for researchers; participants get theirs from the trial API."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_GET

from humanexp.core.errors import NotFound
from humanexp.core.storage import media_path
from humanexp.stimuli import selectors, thumbnails

_KEPT_S = 3600


@login_required
@require_GET
def picture(request: HttpRequest, pk: int) -> HttpResponse:
    """A stimulus, byte for byte as it is shown in a trial."""
    response = HttpResponse(_path(pk).read_bytes(), content_type="image/png")
    patch_cache_control(response, private=True, max_age=_KEPT_S)
    return response


@login_required
@require_GET
def small(request: HttpRequest, pk: int) -> HttpResponse:
    """A thumbnail for overviews: a twentieth of the bytes, and not what anybody is shown."""
    response = HttpResponse(thumbnails.thumbnail(_path(pk)), content_type="image/jpeg")
    patch_cache_control(response, private=True, max_age=_KEPT_S)
    return response


def _path(pk: int) -> Path:
    path = media_path(selectors.stimulus_by_pk(pk).file)
    if not path.is_file():
        raise NotFound("The file of this stimulus is missing: run verify_stimuli.")
    return path
