from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from humanexp import health


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Up, and the database answers."""
    return health.answer(service="marketplace")
