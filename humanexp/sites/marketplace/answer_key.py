"""AnswerKey: how the answers to a qualification test become a score. MTurk's XML, read and applied. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import partial

from humanexp.sites.marketplace.errors import InvalidParameterValue, XMLParseError
from humanexp.sites.marketplace.question_form import QuestionForm, Selection
from humanexp.sites.marketplace.xml_documents import SCHEMAS, Element, WrittenAnswer, read_document, read_number

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
            identifier = _text(element, "QuestionIdentifier")
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


def _text(element: Element, name: str) -> str:
    return (element.findtext(f"{_NAMESPACE}{name}") or "").strip()


def _decimal(element: Element, name: str) -> Decimal:
    read = read_number(_text(element, name), f"AnswerKey: {name}")
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
