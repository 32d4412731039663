"""Where recruiters post events."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from humanexp.core.errors import BodyTooLarge, NotAllowed, NotFound
from humanexp.recruitment import recruiters, services

#: Events have a few hundred bytes.
MOST_BYTES = 16_384


@csrf_exempt  # no cookie is looked at: every delivery carries its own signature
@require_POST
def hook(request: HttpRequest, environment: str) -> HttpResponse:
    """A repeat is answered like the first; a refusal says nothing about why."""
    if not recruiters.is_known(environment):
        return HttpResponse(status=NotFound.status_code)
    if int(request.headers.get("Content-Length") or 0) > MOST_BYTES:
        return HttpResponse(status=BodyTooLarge.status_code)
    try:
        services.hear(environment=environment, headers=request.headers, body=request.body)
    except (NotFound, NotAllowed) as error:
        return HttpResponse(status=error.status_code)
    return HttpResponse(status=200)
