from __future__ import annotations

from django.http import Http404, HttpRequest

from humanexp.core.errors import NotAllowed
from humanexp.core.models import User
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Study


def study_of(request: HttpRequest, slug: str) -> Study:
    """A study that the user may see; anything else is not there."""
    study = experiments.visible_to(request.user).filter(slug=slug).first()
    if study is None:
        raise Http404
    return study


def user_of(request: HttpRequest) -> User:
    """Who decides; anonymous callers decide nothing."""
    if not isinstance(request.user, User):
        raise NotAllowed
    return request.user
