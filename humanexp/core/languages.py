"""In which language a participant reads: the address says it, then the study, then the browser, never a cookie."""

from __future__ import annotations

import re
from collections.abc import Mapping
from gettext import NullTranslations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import trans_real
from django.utils.translation.trans_real import parse_accept_lang_header

from humanexp.core.middleware import Middleware
from humanexp.core.models import StoredBundle
from humanexp.core.text_bundles import TextBundle

#: The parameter of an address by which a reader chooses.
PARAMETER = "language"
#: How Django and the calls of a page name a brought language: its tag, and 16 digits of the bundle's digest behind "x",
#: as tags have what is private. Two studies may bring different words of one language.
_BROUGHT = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,4}){0,2}-x-([0-9a-f]{8})-([0-9a-f]{8})")


class BroughtLanguage(NullTranslations):
    """A study's own language as Django asks for it: texts by key, English where a later version has a new key."""

    def __init__(self, bundle: TextBundle) -> None:
        super().__init__()
        self.bundle = bundle
        self.code = f"{bundle.tag.lower()}-x-{bundle.digest[:8]}-{bundle.digest[8:16]}"

    def gettext(self, message: str) -> str:
        return self.bundle.texts.get(message, (message,))[0]

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        forms = self.bundle.texts.get(singular)
        return forms[self.bundle.form_of(n)] if forms else super().ngettext(singular, plural, n)

    def language(self) -> str:
        return self.code

    def to_language(self) -> str:
        return self.code


#: By their codes, for the life of the process: a bundle never changes.
_known: dict[str, BroughtLanguage] = {}


def brought_language(digest: str) -> BroughtLanguage | None:
    """The language of a stored bundle, by its digest or the beginning of it; from now on Django speaks it."""
    known = next((one for one in _known.values() if one.bundle.digest.startswith(digest)), None)
    if known is not None:
        return known
    row = StoredBundle.objects.filter(digest__startswith=digest).first()
    if row is None:
        return None
    made = BroughtLanguage(TextBundle.from_stored(row.bundle))
    # Django looks languages up here before it looks for files: the one place where a language can be added while it
    # runs. `activate`, `override` and every template then know it by its code.
    trans_real._translations[made.code] = made  # type: ignore[attr-defined]
    _known[made.code] = made
    return made


def language_spoken() -> BroughtLanguage | None:
    """The brought language that is active now; None for one of the shipped."""
    return _known.get(translation.get_language() or "")


def tag_spoken() -> str:
    """The active language, as pages and addresses name it."""
    spoken = language_spoken()
    return spoken.bundle.tag if spoken else translation.get_language() or str(settings.LANGUAGE_CODE)


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


def begin_in(request: HttpRequest, language: str, brought: Mapping[str, str] | None = None) -> None:
    """Answer this request in the language that a study has, unless its address asks for another.

    `brought`: digests of the bundles that the study brings, by tag.
    """
    offered = offer(request, brought)
    translation.activate(language_of(request, study=offered.get(language, language)))


def offer(request: HttpRequest, brought: Mapping[str, str] | None) -> dict[str, str]:
    """Let this request ask for the languages that a study brings; their codes by tag."""
    found = [brought_language(digest) for digest in (brought or {}).values()]
    request.brought_languages = [one for one in found if one]  # type: ignore[attr-defined]
    return {one.bundle.tag: one.code for one in found if one}


def _offered(request: HttpRequest) -> list[BroughtLanguage]:
    return getattr(request, "brought_languages", [])


def language_of(request: HttpRequest, *, study: str = "") -> str:
    """The one that was asked for, else the study's, else the first of the browser's that there is, else the house's."""
    spoken = {code: code for code, _ in settings.LANGUAGES} | {one.bundle.tag: one.code for one in _offered(request)}
    asked = request.GET.get(PARAMETER, "")
    if asked in spoken:
        return spoken[asked]
    if study in spoken.values():
        return study
    for wanted, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()):
        if named := _BROUGHT.fullmatch(wanted):
            brought = brought_language("".join(named.groups()))
            if brought is not None and brought.code == wanted:
                return brought.code
        code = wanted.partition("-")[0]
        if code in spoken:
            return spoken[code]
    return str(settings.LANGUAGE_CODE)


def other_languages(request: HttpRequest) -> list[dict[str, str]]:
    """For a switch: every other language under its own name, with this page's address in it."""
    now, links = tag_spoken(), []
    for code, name in [*settings.LANGUAGES, *((one.bundle.tag, one.bundle.name) for one in _offered(request))]:
        if code != now:
            query = request.GET.copy()
            query[PARAMETER] = code
            links.append({"code": code, "name": name, "href": f"?{query.urlencode()}"})
    return links
