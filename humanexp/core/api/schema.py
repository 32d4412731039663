"""The description of the API, for whoever asks."""

from __future__ import annotations

from functools import cache

from django.http import HttpResponse
from django.utils import translation
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request


class Schema(SpectacularAPIView):
    """Made once in each process: anybody may ask, and making it takes longer than any page."""

    authentication_classes = ()

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        renderer = request.accepted_renderer
        return HttpResponse(_rendered(renderer.media_type), content_type=renderer.media_type)


@cache
def _rendered(media_type: str) -> bytes | str:
    """In English, whatever language the first who asks reads."""
    renderer = next(one for one in Schema.renderer_classes if one.media_type == media_type)
    with translation.override("en"):
        description = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    return renderer().render(description, renderer_context={})
