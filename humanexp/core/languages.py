"""In which language a participant reads: the address says it, then the study, then the browser, never a cookie."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

from humanexp.core.middleware import Middleware

#: The parameter of an address by which a reader chooses.
PARAMETER = "language"


class Language(Middleware):
    """Participants' addresses are answered in the reader's language, all others in the console's."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_participants = request.path.startswith(settings.PARTICIPANT_PATHS)
        language = language_of(request) if is_participants else settings.LANGUAGE_CODE
        with translation.override(language):
            response = self.get_response(request)
            spoken = translation.get_language() or language
        response.headers.setdefault("Content-Language", spoken)
        if is_participants:
            patch_vary_headers(response, ["Accept-Language"])
        return response


def begin_in(request: HttpRequest, language: str) -> None:
    """Answer this request in the language that a study has, unless its address asks for another."""
    translation.activate(language_of(request, study=language))


def language_of(request: HttpRequest, *, study: str = "") -> str:
    """The one that was asked for, else the study's, else the first of the browser's that there is, else the house's."""
    spoken = dict(settings.LANGUAGES)
    asked = request.GET.get(PARAMETER, "")
    if asked in spoken:
        return asked
    if study in spoken:
        return study
    for wanted, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()):
        code = wanted.partition("-")[0]
        if code in spoken:
            return code
    return str(settings.LANGUAGE_CODE)


def other_languages(request: HttpRequest) -> list[dict[str, str]]:
    """For a switch: every other language under its own name, with this page's address in it."""
    now, links = translation.get_language(), []
    for code, name in settings.LANGUAGES:
        if code != now:
            query = request.GET.copy()
            query[PARAMETER] = code
            links.append({"code": code, "name": name, "href": f"?{query.urlencode()}"})
    return links
