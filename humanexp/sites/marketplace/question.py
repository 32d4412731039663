"""The Question of a HIT and the AnswerKey of a test, in MTurk's XML, read and applied. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from urllib.parse import urlencode, urlsplit, urlunsplit

from humanexp.addresses import is_loopback
from humanexp.sites.marketplace.errors import InvalidParameterValue, XMLParseError
from humanexp.sites.marketplace.question_form import (
    SCHEMAS,
    Element,
    QuestionForm,
    Selection,
    WrittenAnswer,
    read_document,
    read_number,
)

_EXTERNAL_QUESTION = f"{{{SCHEMAS}/2006-07-14/ExternalQuestion.xsd}}"
_HTML_QUESTION = f"{{{SCHEMAS}/2011-11-11/HTMLQuestion.xsd}}"
_MAXIMUM_HEIGHT_PX = 10_000
#: What a preview gets instead of an assignment.
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
#: Field names that a frame's form carries for the marketplace, not for the requester.
RESERVED_FIELDS = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})
#: Where a frame's form goes at the real service, written out in many an HTMLQuestion.
_REAL_SUBMIT = re.compile(r"https://(?:www|workersandbox|worker)\.mturk\.com/mturk/externalSubmit")
_REAL_SCRIPT = re.compile(r"https://s3\.amazonaws\.com/mturk-public/externalHIT_v1\.js")


@dataclass(frozen=True)
class ExternalQuestion:
    """A page of the requester's, shown in a frame."""

    url: str
    #: 0: as tall as the window.
    frame_height_px: int


@dataclass(frozen=True)
class HTMLQuestion:
    """A page that the requester has sent along; shown from an origin of its own."""

    html: str
    frame_height_px: int

    def page(self, *, submit_to: str, script_url: str) -> str:
        """The page with the real service's addresses replaced by this one's, so that it works unchanged."""
        html = _REAL_SUBMIT.sub(f"{submit_to}/mturk/externalSubmit", self.html)
        return _REAL_SCRIPT.sub(script_url, html)


Question = ExternalQuestion | HTMLQuestion | QuestionForm


def read_question(xml: str) -> Question:
    """One of the three kinds; raise XMLParseError or InvalidParameterValue when workers could not be shown it."""
    root = read_document(xml)
    kind = root.tag.rpartition("}")[2]
    if kind == "QuestionForm":
        return QuestionForm.from_element(root)
    if kind == "HTMLQuestion":
        html = _text(root, _HTML_QUESTION, kind, "HTMLContent")
        if not html:
            raise XMLParseError("Question: HTMLContent is empty.")
        return HTMLQuestion(html=html, frame_height_px=_frame_height(root, _HTML_QUESTION))
    url = _text(root, _EXTERNAL_QUESTION, "ExternalQuestion", "ExternalURL")
    height = _frame_height(root, _EXTERNAL_QUESTION)
    _check_address(url)
    return ExternalQuestion(url=url, frame_height_px=height)


def _text(root: Element, namespace: str, kind: str, child: str) -> str:
    if root.tag != f"{namespace}{kind}":
        raise XMLParseError(f"Question: {root.tag} is not the {kind} of {namespace}")
    return (root.findtext(f"{namespace}{child}") or "").strip()


def _frame_height(root: Element, namespace: str) -> int:
    height = (root.findtext(f"{namespace}FrameHeight") or "").strip()
    if not height.isascii() or not height.isdigit() or int(height) > _MAXIMUM_HEIGHT_PX:
        raise XMLParseError(f"Question: FrameHeight is a number of pixels up to {_MAXIMUM_HEIGHT_PX}, or 0.")
    return int(height)


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as err:
        raise InvalidParameterValue(f"Question: ExternalURL is no address: {err}.") from err
    trial_run = parts.scheme == "http" and is_loopback(host or "")
    if not host or not (parts.scheme == "https" or trial_run):
        raise InvalidParameterValue(
            "Question: ExternalURL must be an https address (http for this machine alone, to try a study out)."
        )


def frame_url(
    external_url: str, *, hit_id: str, submit_to: str, assignment_id: str = NO_ASSIGNMENT, worker_id: str = ""
) -> str:
    """The requester's address with what the frame needs; its own query stays. A preview tells no worker id."""
    parts = urlsplit(external_url)
    appended = {"assignmentId": assignment_id, "hitId": hit_id}
    if worker_id:
        appended["workerId"] = worker_id
    appended["turkSubmitTo"] = submit_to
    query = "&".join(part for part in (parts.query, urlencode(appended)) if part)
    return urlunsplit(parts._replace(query=query))


_NAMESPACE = f"{{{SCHEMAS}/2005-10-01/AnswerKey.xsd}}"
_LARGEST = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class QuestionKey:
    """Scores of one question: of exactly these selections, and of all others."""

    scores: Mapping[frozenset[str], int]
    default: int = 0


#: From the sum of the scores to the value of the qualification.
Valuation = Callable[[int], int]


@dataclass(frozen=True, kw_only=True)
class AnswerKey:
    questions: Mapping[str, QuestionKey]
    #: None: the sum is the value.
    mapping: Valuation | None = None

    @classmethod
    def from_xml(cls, xml: str, test: QuestionForm) -> AnswerKey:
        """Raise when it is not a key, or names what the test does not ask. Words cannot be scored."""
        root = read_document(xml)
        if root.tag != f"{_NAMESPACE}AnswerKey":
            raise XMLParseError(f"AnswerKey: {root.tag} is not the AnswerKey of {_NAMESPACE}")
        asked = {question.identifier: question.specification for question in test.questions}
        questions = {}
        for element in root.findall(f"{_NAMESPACE}Question"):
            identifier = _key_text(element, "QuestionIdentifier")
            specification = asked.get(identifier)
            if not isinstance(specification, Selection):
                raise InvalidParameterValue(f"AnswerKey: {identifier!r} is no question of the test with selections.")
            key = _question_key(element)
            unknown = frozenset().union(*key.scores) - {choice.identifier for choice in specification.choices}
            if unknown:
                raise InvalidParameterValue(f"AnswerKey: {identifier!r} offers no {sorted(unknown)[0]!r}.")
            questions[identifier] = key
        if not questions:
            raise XMLParseError("AnswerKey: there is no Question in it.")
        return cls(questions=questions, mapping=_mapping(root.find(f"{_NAMESPACE}QualificationValueMapping")))

    def score(self, answers: Iterable[WrittenAnswer]) -> int:
        """The value of the qualification."""
        chosen = {answer.identifier: frozenset(answer.selections) for answer in answers}
        total = sum(
            key.scores.get(chosen.get(identifier, frozenset()), key.default)
            for identifier, key in self.questions.items()
        )
        value = total if self.mapping is None else self.mapping(total)
        return max(-_LARGEST, min(_LARGEST, value))


def _question_key(element: Element) -> QuestionKey:
    scores = {}
    for option in element.findall(f"{_NAMESPACE}AnswerOption"):
        selections = frozenset((one.text or "").strip() for one in option.findall(f"{_NAMESPACE}SelectionIdentifier"))
        if not selections:
            raise XMLParseError("AnswerKey: an AnswerOption needs a SelectionIdentifier.")
        scores[selections] = _whole(option, "AnswerScore")
    default = _whole(element, "DefaultScore") if element.find(f"{_NAMESPACE}DefaultScore") is not None else 0
    return QuestionKey(scores=scores, default=default)


def _mapping(element: Element | None) -> Valuation | None:
    if element is None:
        return None
    if len(element) != 1:
        raise XMLParseError("AnswerKey: QualificationValueMapping holds one mapping.")
    kind = element[0]
    name = str(kind.tag).removeprefix(_NAMESPACE)
    if name == "PercentageMapping":
        maximum = _whole(kind, "MaximumSummedScore")
        if maximum < 1:
            raise InvalidParameterValue("AnswerKey: MaximumSummedScore is at least 1.")
        return partial(_percentage, maximum)
    if name == "ScaleMapping":
        return partial(_scaled, _decimal(kind, "SummedScoreMultiplier"))
    if name == "RangeMapping":
        ranges = tuple(
            (_whole(one, "InclusiveLowerBound"), _whole(one, "InclusiveUpperBound"), _whole(one, "QualificationValue"))
            for one in kind.findall(f"{_NAMESPACE}SummedScoreRange")
        )
        if not ranges or any(least > most for least, most, _ in ranges):
            raise InvalidParameterValue("AnswerKey: a SummedScoreRange goes from a lower to an upper bound.")
        return partial(_in_ranges, ranges, _whole(kind, "OutOfRangeQualificationValue"))
    raise XMLParseError(f"AnswerKey: {name} is no mapping.")


def _percentage(maximum: int, total: int) -> int:
    """The sum as a percentage of the largest sum."""
    return _rounded(Decimal(100 * total) / maximum)


def _scaled(multiplier: Decimal, total: int) -> int:
    return _rounded(total * multiplier)


def _in_ranges(ranges: Sequence[tuple[int, int, int]], out_of_range: int, total: int) -> int:
    """A value for each range of sums, both ends belonging to it."""
    return next((value for least, most, value in ranges if least <= total <= most), out_of_range)


def _key_text(element: Element, name: str) -> str:
    return (element.findtext(f"{_NAMESPACE}{name}") or "").strip()


def _decimal(element: Element, name: str) -> Decimal:
    read = read_number(_key_text(element, name), f"AnswerKey: {name}")
    if not read.is_finite() or abs(read) > _LARGEST:
        raise XMLParseError(f"AnswerKey: {name} is too large.")
    return read


def _whole(element: Element, name: str) -> int:
    read = _decimal(element, name)
    if read != read.to_integral_value():
        raise XMLParseError(f"AnswerKey: {name} is a whole number.")
    return int(read)


def _rounded(exact: Decimal) -> int:
    return int(exact.to_integral_value(ROUND_HALF_UP))
