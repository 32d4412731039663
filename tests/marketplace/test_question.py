from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from defusedxml import ElementTree
from hypothesis import given, strategies as st

from humanexp.sites.marketplace.errors import InvalidParameterValue, XMLParseError
from humanexp.sites.marketplace.question import ExternalQuestion, HTMLQuestion, frame_url, read_question
from humanexp.sites.marketplace.question_form import fields_to_xml
from tests.marketplace.server import external_question


def test_reads_address_and_height() -> None:
    found = read_question(external_question("https://lab.example/take/x/?a=1&b=2", 600))
    assert found == ExternalQuestion(url="https://lab.example/take/x/?a=1&b=2", frame_height_px=600)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/take/x/", "http://localhost:8000/", "https://lab.example/"])
def test_accepts_https_and_this_machine(url: str) -> None:
    assert read_question(external_question(url)).url == url


@pytest.mark.parametrize(
    "url", ["http://lab.example/", "javascript:alert(1)", "ftp://localhost/", "https:///x", "", "https://[::1/"]
)
def test_refuses_addresses_that_no_frame_may_show(url: str) -> None:
    with pytest.raises(InvalidParameterValue, match="ExternalURL"):
        read_question(external_question(url))


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "<ExternalQuestion",
        "<ExternalQuestion><ExternalURL>https://x.org</ExternalURL></ExternalQuestion>",
        external_question().replace("<FrameHeight>0</FrameHeight>", ""),
        external_question().replace(">0<", ">tall<"),
        '<!DOCTYPE a [<!ENTITY b "c">]>' + external_question().replace("abc", "&b;"),
    ],
)
def test_refuses_broken_questions(xml: str) -> None:
    with pytest.raises(XMLParseError):
        read_question(xml)


def html_question(html: str = "<p>Name it.</p>", height: str = "450") -> str:
    schema = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
    return (
        f'<HTMLQuestion xmlns="{schema}"><HTMLContent><![CDATA[{html}]]></HTMLContent>'
        f"<FrameHeight>{height}</FrameHeight></HTMLQuestion>"
    )


def test_a_page_sent_along_works_at_this_site() -> None:
    """Addresses of the real service, written into the page, become ours; nothing else changes."""
    html = (
        '<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script>'
        '<form action="https://workersandbox.mturk.com/mturk/externalSubmit">https://www.mturk.com/help</form>'
    )
    question = read_question(html_question(html))
    assert isinstance(question, HTMLQuestion)
    assert question.frame_height_px == 450
    assert question.page(submit_to="http://localhost:8001", script_url="/s.js") == (
        '<script src="/s.js"></script>'
        '<form action="http://localhost:8001/mturk/externalSubmit">https://www.mturk.com/help</form>'
    )


@pytest.mark.parametrize("xml", [html_question(""), html_question(height="tall"), "<HTMLQuestion/>", "<Other/>"])
def test_refuses_pages_that_are_none(xml: str) -> None:
    with pytest.raises(XMLParseError):
        read_question(xml)


def test_frame_address_keeps_its_own_query_and_fragment() -> None:
    url = frame_url(
        "https://lab.example/take/x/?list=1&mail=a%2Bb#top",
        hit_id="3HIT",
        submit_to="http://localhost:8001",
        assignment_id="3ASSIGNMENT",
        worker_id="AWORKER",
    )
    parts = urlsplit(url)
    assert parts.query.startswith("list=1&mail=a%2Bb&assignmentId=")
    assert parts.fragment == "top"
    assert dict(parse_qsl(parts.query)) == {
        "list": "1",
        "mail": "a+b",
        "assignmentId": "3ASSIGNMENT",
        "hitId": "3HIT",
        "workerId": "AWORKER",
        "turkSubmitTo": "http://localhost:8001",
    }


def test_a_preview_tells_no_worker_and_no_assignment() -> None:
    query = dict(parse_qsl(urlsplit(frame_url("https://x.org/", hit_id="3HIT", submit_to="https://m")).query))
    assert query == {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3HIT", "turkSubmitTo": "https://m"}


_names = st.text(min_size=1, alphabet=st.characters(exclude_categories=("Cs", "Cc")))
_values = st.text(alphabet=st.characters(exclude_categories=("Cs",)))


@given(st.lists(st.tuples(_names, _values)))
def test_answers_come_back_from_the_xml(fields: list[tuple[str, str]]) -> None:
    """Whatever was typed: well-formed, in order, unchanged but for characters that XML cannot hold."""
    root = ElementTree.fromstring(fields_to_xml(fields).encode())
    name = f"{{{root.tag[1:].partition('}')[0]}}}"
    found = [
        (answer.findtext(f"{name}QuestionIdentifier"), answer.findtext(f"{name}FreeText") or "") for answer in root
    ]
    assert len(found) == len(fields)
    for (sent_name, sent), (got_name, got) in zip(fields, found, strict=True):
        replaced = "".join("\ufffd" if (ord(c) < 32 and c not in "\t\n\r") or c in "\ufffe\uffff" else c for c in sent)
        assert got == replaced
        assert got_name == sent_name.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
