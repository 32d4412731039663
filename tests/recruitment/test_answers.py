from __future__ import annotations

import pytest
from defusedxml import ElementTree

from humanexp.recruiters.mturk.replies import external_question, read_answers

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"


def answers(body: str) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><QuestionFormAnswers xmlns="{NAMESPACE}">{body}</QuestionFormAnswers>'
    )


def field(name: str, text: str) -> str:
    return f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier><FreeText>{text}</FreeText></Answer>"


def test_fields_are_read_whatever_the_date_of_the_schema() -> None:
    xml = answers(field("receipt", "abc") + field("remark", "1 &lt; 2")).replace("2005-10-01", "2031-01-01")
    assert read_answers(xml) == {"receipt": "abc", "remark": "1 < 2"}


def test_the_first_of_two_fields_of_one_name_counts() -> None:
    assert read_answers(answers(field("receipt", "ours") + field("receipt", "appended"))) == {"receipt": "ours"}


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "no xml",
        "<a><b></a>",
        '<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]>' + answers(field("receipt", "&z;")).partition("?>")[2],
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + answers(field("receipt", "&x;")).partition("?>")[2],
    ],
)
def test_broken_and_hostile_answers_are_no_answers(xml: str) -> None:
    assert read_answers(xml) == {}


def test_the_question_keeps_the_address_as_it_is() -> None:
    url = "https://lab.example/take/x/?a=1&b=<2>"
    root = ElementTree.fromstring(external_question(url=url, frame_height_px=0))
    assert [child.text for child in root] == [url, "0"]
