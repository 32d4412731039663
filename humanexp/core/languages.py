"""In which language a participant reads: the address says it, then the study, then the browser, never a cookie."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

from humanexp.core.catalogues import Catalogue, catalogues
from humanexp.core.middleware import Middleware

#: The parameter of an address by which a reader chooses.
PARAMETER = "language"


def language_spoken() -> Catalogue | None:
    """The catalogue that is active now; None for one of the shipped languages."""
    return _by_code().get(translation.get_language() or "")


def tag_spoken() -> str:
    """The active language, as pages and addresses name it."""
    spoken = language_spoken()
    return spoken.tag if spoken else translation.get_language() or str(settings.LANGUAGE_CODE)


def languages() -> dict[str, str]:
    """Names of all languages of participants' pages, by tag: the shipped ones and those of catalogues."""
    return {**dict(settings.LANGUAGES), **{one.tag: one.name for one in catalogues().values()}}


def code_of(tag: str) -> str:
    """How Django names a language: one of a catalogue has a code of its own."""
    found = catalogues().get(tag)
    return found.code if found else tag


def _by_code() -> dict[str, Catalogue]:
    return {one.code: one for one in catalogues().values()}


class Language(Middleware):
    """Participants' addresses are answered in the reader's language, all others in the console's."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_participants = request.path.startswith(settings.PARTICIPANT_PATHS)
        language = language_of(request) if is_participants else settings.LANGUAGE_CODE
        with translation.override(language):
            response = self.get_response(request)
            spoken = tag_spoken()
        response.headers.setdefault("Content-Language", spoken)
        if is_participants:
            patch_vary_headers(response, ["Accept-Language"])
        return response


def begin_in(request: HttpRequest, language: str) -> None:
    """Answer this request in the language that a study has, unless its address asks for another."""
    translation.activate(language_of(request, study=language))


def language_of(request: HttpRequest, *, study: str = "") -> str:
    """The one that was asked for, else the study's, else the first of the browser's that there is, else the house's."""
    known = languages()
    for tag in (request.GET.get(PARAMETER, ""), study):
        if tag in known:
            return code_of(tag)
    for wanted, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()):
        if wanted in _by_code():
            return wanted
        if (code := wanted.partition("-")[0]) in known:
            return code_of(code)
    return str(settings.LANGUAGE_CODE)


def other_languages(request: HttpRequest) -> list[dict[str, str]]:
    """For a switch: every other language under its own name, with this page's address in it."""
    now, links = tag_spoken(), []
    for code, name in languages().items():
        if code != now:
            query = request.GET.copy()
            query[PARAMETER] = code
            links.append({"code": code, "name": name, "href": f"?{query.urlencode()}"})
    return links
