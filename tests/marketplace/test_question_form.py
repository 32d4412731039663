"""QuestionForm and AnswerKey: what MTurk's guide writes, what a worker may send, and the score it makes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from humanexp.sites.marketplace.errors import InvalidParameterValue, XMLParseError
from humanexp.sites.marketplace.question import AnswerKey
from humanexp.sites.marketplace.question_form import FreeText, QuestionForm, WrittenAnswer, answers_to_xml
from tests.marketplace.documents import answer_key, free_text_question, question_form, selection_question


def test_reads_overview_questions_and_their_constraints() -> None:
    form = QuestionForm.from_xml(
        question_form(
            "<Overview><Title>Screen test</Title><Text>Sit at arm's length.</Text>"
            "<List><ListItem>light</ListItem><ListItem>glasses</ListItem></List></Overview>",
            selection_question("plate", "12", "8", "nothing"),
            free_text_question("cm", '<Constraints><IsNumeric minValue="10" maxValue="80"/></Constraints>'),
        )
    )
    overview, plate, width = form.parts
    assert isinstance(overview, tuple)
    assert [(one.kind, one.text, one.entries) for one in overview] == [
        ("title", "Screen test", ()),
        ("text", "Sit at arm's length.", ()),
        ("list", "", ("light", "glasses")),
    ]
    assert form.questions == (plate, width)
    assert width.specification == FreeText(is_numeric=True, minimum=Decimal(10), maximum=Decimal(80))


def test_markup_of_a_requester_becomes_plain_text() -> None:
    form = QuestionForm.from_xml(
        question_form(
            "<Overview><FormattedContent><![CDATA[<b onclick='x()'>Look</b> &amp; see]]></FormattedContent></Overview>",
            selection_question("a", "1"),
        )
    )
    assert form.parts[0][0].text == "Look & see"


@pytest.mark.parametrize(
    "xml",
    [
        "<QuestionForm/>",
        question_form(),
        question_form(selection_question("a", "1"), selection_question("a", "1")),
        question_form(selection_question("a", "1", "1")),
        question_form(selection_question("a")),
        question_form("<Question><QuestionIdentifier>a</QuestionIdentifier></Question>"),
        question_form("<Surprise/>"),
        question_form(free_text_question("a", '<Constraints><AnswerFormatRegex regex="("/></Constraints>')),
        question_form(free_text_question("a", '<Constraints><Length minLength="two"/></Constraints>')),
        question_form("<Overview><Application/></Overview>", selection_question("a", "1")),
        question_form(
            "<Overview><Binary><DataURL>javascript:x()</DataURL></Binary></Overview>", selection_question("a", "1")
        ),
        '<!DOCTYPE a [<!ENTITY b "c">]>' + question_form(selection_question("&b;", "1")),
    ],
)
def test_refuses_forms_that_cannot_be_shown(xml: str) -> None:
    with pytest.raises(XMLParseError):
        QuestionForm.from_xml(xml)


@pytest.mark.parametrize(
    ("constraints", "text", "fits"),
    [
        ('<IsNumeric minValue="1" maxValue="9"/>', "5", True),
        ('<IsNumeric minValue="1" maxValue="9"/>', "0", False),
        ('<IsNumeric minValue="1" maxValue="9"/>', "10", False),
        ("<IsNumeric/>", "five", False),
        ("<IsNumeric/>", "NaN", False),
        ('<Length minLength="2" maxLength="3"/>', "ab", True),
        ('<Length minLength="2" maxLength="3"/>', "a", False),
        ('<Length minLength="2" maxLength="3"/>', "abcd", False),
        ('<AnswerFormatRegex regex="^[a-f]+$"/>', "abc", True),
        ('<AnswerFormatRegex regex="^[a-f]+$"/>', "ABC", False),
        ('<AnswerFormatRegex regex="^[a-f]+$" flags="i"/>', "ABC", True),
    ],
)
def test_text_is_held_to_its_constraints(constraints: str, text: str, fits: bool) -> None:
    form = QuestionForm.from_xml(question_form(free_text_question("a", f"<Constraints>{constraints}</Constraints>")))
    assert (not form.read({"a": [text]}).problems) is fits


def test_needed_answers_and_counts_of_choices() -> None:
    form = QuestionForm.from_xml(
        question_form(
            selection_question("one", "1", "2", required=True),
            selection_question("few", "1", "2", "3", style="checkbox", counts=(1, 2)),
        )
    )
    assert form.read({"one": ["1"], "few": ["1", "3"]}).answers == (
        WrittenAnswer(identifier="one", selections=("1",)),
        WrittenAnswer(identifier="few", selections=("1", "3")),
    )
    assert set(form.read({}).problems) == {"one"}
    assert set(form.read({"one": ["1", "2"], "few": ["1", "2", "3"]}).problems) == {"one", "few"}
    assert set(form.read({"one": ["4"]}).problems) == {"one"}
    assert set(form.read({"one": ["__other__"]}).problems) == {"one"}  # was never offered


def test_answers_are_written_as_the_schema_says() -> None:
    xml = answers_to_xml(
        [
            WrittenAnswer(identifier="plate", selections=("12", "8"), other_selection="a <wheel>"),
            WrittenAnswer(identifier="photo", file_key="3KEY", file_bytes=7),
        ]
    )
    assert (
        "<Answer><QuestionIdentifier>plate</QuestionIdentifier><SelectionIdentifier>12</SelectionIdentifier>"
        "<SelectionIdentifier>8</SelectionIdentifier><OtherSelectionText>a &lt;wheel&gt;</OtherSelectionText></Answer>"
        "<Answer><QuestionIdentifier>photo</QuestionIdentifier><UploadedFileSizeInBytes>7</UploadedFileSizeInBytes>"
        "<UploadedFileKey>3KEY</UploadedFileKey></Answer>"
    ) in xml


def key_of(mapping: str = "", questions: int = 3) -> tuple[QuestionForm, AnswerKey]:
    """`questions` questions with the right answer "yes" for 5 points, "maybe" for 2, none else."""
    names = [f"q{number}" for number in range(questions)]
    test = QuestionForm.from_xml(question_form(*(selection_question(name, "yes", "maybe", "no") for name in names)))
    scores = {name: {("yes",): 5, ("maybe",): 2} for name in names}
    return test, AnswerKey.from_xml(answer_key(scores, mapping), test)


@pytest.mark.parametrize(
    ("mapping", "values"),
    [
        ("", {15: 15, 7: 7, 0: 0}),
        ("<PercentageMapping><MaximumSummedScore>15</MaximumSummedScore></PercentageMapping>", {15: 100, 7: 47, 0: 0}),
        ("<ScaleMapping><SummedScoreMultiplier>0.5</SummedScoreMultiplier></ScaleMapping>", {15: 8, 10: 5, 7: 4, 5: 3}),
        (
            "<RangeMapping><SummedScoreRange><InclusiveLowerBound>7</InclusiveLowerBound><InclusiveUpperBound>14"
            "</InclusiveUpperBound><QualificationValue>10</QualificationValue></SummedScoreRange>"
            "<OutOfRangeQualificationValue>-1</OutOfRangeQualificationValue></RangeMapping>",
            {7: 10, 14: 10, 15: -1, 6: -1},
        ),
    ],
)
def test_a_sum_becomes_a_value(mapping: str, values: dict[int, int]) -> None:
    _, key = key_of(mapping)
    for total, value in values.items():
        assert (total if key.mapping is None else key.mapping(total)) == value


@given(st.lists(st.sampled_from(["yes", "maybe", "no", None]), min_size=3, max_size=3))
def test_scores_add_up(given_answers: list[str | None]) -> None:
    test, key = key_of("<PercentageMapping><MaximumSummedScore>15</MaximumSummedScore></PercentageMapping>")
    fields = {f"q{number}": [answer] for number, answer in enumerate(given_answers) if answer}
    points = sum({"yes": 5, "maybe": 2}.get(answer or "", 0) for answer in given_answers)
    assert key.score(test.read(fields).answers) == int(100 * points / 15 + 0.5)


def test_only_the_whole_selection_scores_and_the_default_is_for_the_rest() -> None:
    test = QuestionForm.from_xml(question_form(selection_question("a", "1", "2", "3", style="checkbox", counts=(0, 3))))
    key = AnswerKey.from_xml(answer_key({"a": {("1", "2"): 10}}, default=-3), test)
    assert key.score(test.read({"a": ["2", "1"]}).answers) == 10
    assert key.score(test.read({"a": ["1"]}).answers) == -3
    assert key.score(()) == -3


@pytest.mark.parametrize(
    "xml",
    [
        answer_key({"other": {("yes",): 1}}),
        answer_key({"a": {("never offered",): 1}}),
        answer_key({"words": {("yes",): 1}}),
        answer_key({}),
        answer_key({"a": {("yes",): 1}}, "<GuessMapping/>"),
        answer_key(
            {"a": {("yes",): 1}}, "<PercentageMapping><MaximumSummedScore>0</MaximumSummedScore></PercentageMapping>"
        ),
        answer_key(
            {"a": {("yes",): 1}}, "<ScaleMapping><SummedScoreMultiplier>1e99</SummedScoreMultiplier></ScaleMapping>"
        ),
        answer_key({"a": {("yes",): 1}}).replace(">1<", ">one<"),
        "<AnswerKey/>",
        "<AnswerKey",
    ],
)
def test_refuses_keys_that_do_not_fit_the_test(xml: str) -> None:
    test = QuestionForm.from_xml(question_form(selection_question("a", "yes", "no"), free_text_question("words")))
    with pytest.raises((XMLParseError, InvalidParameterValue)):
        AnswerKey.from_xml(xml, test)
