from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from humanexp.core import navigation


def console(request: HttpRequest) -> dict[str, object]:
    """What every console page shows around its content."""
    return {"sections": navigation.sections(), "version": settings.VERSION}
