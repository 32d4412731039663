"""What the pages of a study have in common: who may see one, and how a refusal is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.decorators.http import require_http_methods

from humanexp.core.errors import ApplicationError
from humanexp.studies import selectors as studies
from humanexp.studies.models import Study

P = ParamSpec("P")
StudyView = Callable[Concatenate[HttpRequest, Study, P], HttpResponseBase]


def study_page(*methods: str) -> Callable[[StudyView[P]], Callable[..., HttpResponseBase]]:
    """A page of one study, for accounts that may see it; to all others that study is not there."""

    def decorate(view: StudyView[P]) -> Callable[..., HttpResponseBase]:
        @login_required
        @require_http_methods(methods)
        @wraps(view)
        def page(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            study = studies.visible_to(request.user).filter(slug=slug).first()
            if study is None:
                raise Http404
            return view(request, study, *args, **kwargs)

        return page

    return decorate


def whole_number(text: str | None) -> int | None:
    """What a page has sent back; None for anything that is no number of ours."""
    return int(text) if text and text.isdecimal() and len(text) < 18 else None


@contextmanager
def refusals_told(request: HttpRequest) -> Iterator[None]:
    """A refusal becomes a sentence above the page that is shown next."""
    try:
        yield
    except ApplicationError as error:
        messages.error(request, error.message)
