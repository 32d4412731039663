"""What the pages of a study have in common: who may see one, how a refusal is told, how a sum is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.decorators.http import require_http_methods

from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.recruiters import money
from humanexp.studies.models import Study
from humanexp.studies.selectors import visible_to

P = ParamSpec("P")
StudyView = Callable[Concatenate[HttpRequest, Study, P], HttpResponseBase]


def study_page(*methods: str) -> Callable[[StudyView[P]], Callable[..., HttpResponseBase]]:
    """A page of one study, for accounts that may see it; to all others that study is not there."""

    def decorate(view: StudyView[P]) -> Callable[..., HttpResponseBase]:
        @login_required
        @require_http_methods(methods)
        @wraps(view)
        def page(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            study = visible_to(request.user).filter(slug=slug).first()
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


class MoneyField(forms.CharField):
    """Money as people type it; integer minor units as the program keeps it."""

    def __init__(self, **options: Any) -> None:
        widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        super().__init__(**{"widget": widget, **options})

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text:
            return None
        try:
            return money.cents(text)
        except InvalidRequest as error:
            raise forms.ValidationError(error.message) from error


class EqualTopUpForm(forms.Form):
    """The total of a top-up: as the page showed it, and typed where money is real."""

    shown_total = forms.IntegerField(widget=forms.HiddenInput)
    confirm_total = MoneyField(label="Type the total to confirm", required=False)
