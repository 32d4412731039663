"""A participant's pages in another language: every text there is, nothing else in it, and no cookie."""

from __future__ import annotations

import gettext
import re
from hashlib import sha256
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from django.conf import settings
from django.test import RequestFactory

from humanexp.core.languages import language_of
from humanexp.recruiters.campaigns import HOUSE_LANGUAGES, HOUSE_VERSION
from tests.texts import CONSENT, ROOT, catalogue, participant_texts

OTHERS = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
#: Texts of consent never change: whoever agreed to one has agreed to these words.
AGREED_TO = {
    "house-5": "5c052c3ddae3bc16",
    "house-5.by-sentence": "42a2dfa354fa5ca5",
    "house-5.de": "d22667af14efaa1a",
    # parts of house-5, for people whom a site has sent
    "site": "8b76046c12b9b9e6",
    "site.by-sentence": "d2867d1a3c8fea2e",
    "site.de": "970a9d8dc87e7905",
    # and for people who come from the public page
    "volunteer": "fdf1039719cf3f9e",
    "volunteer.by-sentence": "6300019c350e8522",
    "volunteer.de": "c5390063524ed0de",
}
_NAMED = re.compile(r"%\((\w+)\)[sd]")


def folder(language: str) -> Path:
    return ROOT / "humanexp" / "locale" / language / "LC_MESSAGES"


@pytest.mark.parametrize("language", OTHERS)
class TestCatalogue:
    def test_it_has_every_text_of_a_participant_and_no_other(self, language: str) -> None:
        texts, translated = participant_texts(), catalogue(folder(language) / "django.po")
        assert set(texts) - set(translated) == set(), "say these in django.po, then compile it"
        assert set(translated) - set(texts) == set(), "nobody reads these any more"

    def test_nothing_is_left_empty_and_each_plural_has_its_forms(self, language: str) -> None:
        texts = participant_texts()
        for text, forms in catalogue(folder(language) / "django.po").items():
            assert all(forms), text
            assert len(forms) == (2 if texts[text] else 1), text

    def test_what_is_filled_in_is_the_same(self, language: str) -> None:
        for text, forms in catalogue(folder(language) / "django.po").items():
            for form in forms:
                assert placeholders(form) == placeholders(text), form

    def test_the_compiled_catalogue_is_this_one(self, language: str) -> None:
        with (folder(language) / "django.mo").open("rb") as compiled:
            translations = gettext.GNUTranslations(compiled)
        texts, said = participant_texts(), catalogue(folder(language) / "django.po")
        for text, forms in said.items():
            plural = texts[text]
            found = [translations.ngettext(text, plural, n) for n in (1, 2)] if plural else [translations.gettext(text)]
            assert found == forms, "compile it: python manage.py compilemessages"
        assert len(translations._catalog) == 1 + sum(map(len, said.values()))  # type: ignore[attr-defined]

    def test_it_differs_from_the_original(self, language: str) -> None:
        same = [text for text, forms in catalogue(folder(language) / "django.po").items() if text in forms]
        assert set(same) <= {"Text %(version)s"}


def placeholders(text: str) -> set[str]:
    braces = {name for _, name, _, _ in Formatter().parse(text.replace("%", "")) if name}
    return braces | set(_NAMED.findall(text))


@pytest.mark.parametrize(
    ("query", "header", "language"),
    [
        ("", "", "en"),
        ("", "de", "de"),
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "en-GB,en;q=0.9,de;q=0.8", "en"),
        ("", "fr,de;q=0.5", "de"),
        ("", "fr", "en"),
        ("", "*", "en"),
        ("?language=de", "en", "de"),
        ("?language=en", "de", "en"),
        ("?language=xx", "de", "de"),
        ("?language=../de", "", "en"),
    ],
)
def test_the_address_decides_then_the_browser(query: str, header: str, language: str) -> None:
    assert language_of(RequestFactory().get(f"/run/{query}", headers={"Accept-Language": header})) == language


class TestPages:
    def test_a_participants_page_speaks_the_readers_language(self, client: Any) -> None:
        page = client.get("/run/?language=de", headers={"Accept-Language": "en"})
        assert '<html lang="de">' in page.text and "Bevor Sie anfangen" in page.text
        assert page["Content-Language"] == "de" and "Accept-Language" in page["Vary"]
        assert '<a href="?language=en" lang="en" hreflang="en">English</a>' in page.text
        assert not page.cookies

    def test_a_cookie_says_nothing(self, client: Any) -> None:
        client.cookies["django_language"] = "de"
        assert '<html lang="en">' in client.get("/run/").text

    @pytest.mark.django_db
    def test_the_console_speaks_english_throughout(self, client: Any) -> None:
        page = client.get("/login/?language=de", headers={"Accept-Language": "de"})
        assert '<html lang="en"' in page.text and page["Content-Language"] == "en"

    @pytest.mark.django_db
    def test_a_refusal_of_the_api_is_a_sentence_in_the_readers_language(self, client: Any) -> None:
        reply = client.get("/api/v1/run/session/", headers={"Accept-Language": "de", "Authorization": "Bearer x"})
        assert reply.status_code == 401
        assert reply.json()["detail"].startswith("Dieser Link oder Zugangsschlüssel gilt nicht mehr")


class TestConsent:
    def test_texts_that_people_have_agreed_to_never_change(self) -> None:
        found = {
            path.stem: sha256(path.read_bytes()).hexdigest()[:16] for path in sorted((ROOT / CONSENT).glob("*.html"))
        }
        assert found == AGREED_TO, "write a new version instead"

    def test_the_house_text_exists_in_its_languages_with_the_same_conditions(self) -> None:
        source = (ROOT / CONSENT / f"{HOUSE_VERSION}.html").read_text(encoding="utf-8")
        for language in HOUSE_LANGUAGES[1:]:
            other = (ROOT / CONSENT / f"{HOUSE_VERSION}.{language}.html").read_text(encoding="utf-8")
            assert structure(other) == structure(source)


def structure(source: str) -> list[str]:
    """Headings, paragraphs, points, the study's own words and conditions, in order."""
    return re.findall(r"<h3>|<p>|<ul>|<li>|{{ texts\.\w+|{% (?:if|else|endif)[^%]*%}", source)
