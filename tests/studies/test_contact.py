"""Whom participants' pages name, and the letter that begins there."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.template import Context, Template
from django.utils import translation

from humanexp.studies.facts import StudyFacts

LINE = Template("{% include 'participation/run/_contact.html' with css='cap' %}")


def line(language: str = "en", **facts: str) -> str:
    with translation.override(language):
        return " ".join(LINE.render(Context({"facts": StudyFacts(**facts)})).split())


def letter_in(page: str) -> tuple[str, str]:
    address = urlsplit(page.partition('href="')[2].partition('"')[0])
    assert address.scheme == "mailto"
    return address.path, parse_qs(address.query)["subject"][0]


def test_an_address_begins_a_letter_that_names_the_study() -> None:
    page = line(contact="ada+lab@example.org", title='Noise & "more"? 100 %')
    assert letter_in(page) == ("ada%2Blab@example.org", 'Noise & "more"? 100 %')
    assert "Write to <a " in page and ">ada+lab@example.org</a>." in page
    assert "_blank" in page, "a letter written on a page leaves the study's window alone"
    assert "data-quote hidden" in page, "nothing is quoted before a script knows what"


def test_a_letter_about_no_known_study_has_a_subject() -> None:
    assert letter_in(line(contact="house@example.org")) == ("house@example.org", "Study")
    assert letter_in(line("de", contact="house@example.org")) == ("house@example.org", "Studie")


@pytest.mark.parametrize("contact", ["the researcher who runs this", "Ada <ada@example.org>", "javascript:alert(1)"])
def test_another_contact_is_shown_in_words(contact: str) -> None:
    page = line(contact=contact, title="Noise")
    assert "href" not in page and "<ada" not in page and "Write to" in page and "data-quote" in page


def test_where_there_is_nobody_to_write_to_there_is_no_line() -> None:
    assert line(title="Noise") == ""
