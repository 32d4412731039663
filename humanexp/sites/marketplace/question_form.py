"""QuestionForm, and how MTurk's XML is read and written: questions of a test or a HIT, and answers checked. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from html import unescape
from typing import Any, Literal
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException
from django.utils.html import strip_tags

from humanexp.sites.marketplace.errors import AnswersRefused, XMLParseError

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
ANSWERS_NAMESPACE = f"{SCHEMAS}/2005-10-01/QuestionFormAnswers.xsd"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: An element of the standard library's tree.
Element = Any


def read_document(xml: str) -> Element:
    """The root; raise XMLParseError when it is not well formed, or brings entities."""
    try:
        return ElementTree.fromstring(xml)
    except (ElementTree.ParseError, DefusedXmlException, ValueError) as err:
        raise XMLParseError(
            f"There was an error parsing the XML question or answer data in your request. ({err})"
        ) from err


def read_number(text: str, what: str) -> Decimal:
    """A number in a document; `what` begins the sentence when it is none."""
    try:
        return Decimal(text)
    except InvalidOperation as err:
        raise XMLParseError(f"{what} is a number.") from err


@dataclass(frozen=True, kw_only=True)
class WrittenAnswer:
    """One answer of a worker."""

    identifier: str
    #: None where something was selected or a file was sent.
    free_text: str | None = None
    selections: tuple[str, ...] = ()
    other_selection: str | None = None
    file_key: str = ""
    file_bytes: int = 0

    def to_xml(self) -> str:
        parts = [f"<QuestionIdentifier>{_text(self.identifier)}</QuestionIdentifier>"]
        if self.free_text is not None:
            parts.append(f"<FreeText>{_text(self.free_text)}</FreeText>")
        parts += [f"<SelectionIdentifier>{_text(one)}</SelectionIdentifier>" for one in self.selections]
        if self.other_selection is not None:
            parts.append(f"<OtherSelectionText>{_text(self.other_selection)}</OtherSelectionText>")
        if self.file_key:
            parts.append(f"<UploadedFileSizeInBytes>{self.file_bytes}</UploadedFileSizeInBytes>")
            parts.append(f"<UploadedFileKey>{self.file_key}</UploadedFileKey>")
        return f"<Answer>{''.join(parts)}</Answer>"


def answers_to_xml(answers: Iterable[WrittenAnswer]) -> str:
    """QuestionFormAnswers; characters that XML cannot hold become U+FFFD."""
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
        f'<QuestionFormAnswers xmlns="{ANSWERS_NAMESPACE}">{"".join(one.to_xml() for one in answers)}'
        "</QuestionFormAnswers>"
    )


def fields_to_xml(fields: Iterable[tuple[str, str]]) -> str:
    """The fields of a frame's form, each as FreeText."""
    return answers_to_xml(WrittenAnswer(identifier=name, free_text=value) for name, value in fields)


def _text(value: str) -> str:
    # A bare carriage return would be read back as a line feed.
    return escape(_NOT_XML.sub("\ufffd", value), {"\r": "&#13;"})


_NAMESPACE = re.compile(re.escape(SCHEMAS) + r"/\d{4}-\d{2}-\d{2}/QuestionForm\.xsd")
_SEVERAL = ("checkbox", "multichooser")
_MAXIMUM_TEXT = 65_535
#: Value of the choice "other", and the ending of the field with its text.
OTHER = "__other__"
OTHER_TEXT = ".other"


@dataclass(frozen=True)
class Content:
    """A piece of what is shown: a heading, a paragraph, entries of a list, a picture or a link to a recording."""

    kind: Literal["title", "text", "list", "picture", "link"]
    text: str = ""
    entries: tuple[str, ...] = ()
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class FreeText:
    """An answer in words or figures."""

    is_numeric: bool = False
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    minimum_length: int = 0
    maximum_length: int = _MAXIMUM_TEXT
    regex: str = ""
    ignores_case: bool = False
    regex_message: str = ""
    default: str = ""
    lines: int = 1

    def problem(self, text: str) -> str | None:
        if not self.minimum_length <= len(text) <= self.maximum_length:
            return f"From {self.minimum_length} to {self.maximum_length} characters are asked for."
        if self.is_numeric:
            try:
                number = Decimal(text.strip())
            except InvalidOperation:
                return "A number is asked for."
            if not number.is_finite():
                return "A number is asked for."
            if self.minimum is not None and number < self.minimum:
                return f"The least is {self.minimum}."
            if self.maximum is not None and number > self.maximum:
                return f"The most is {self.maximum}."
        if self.regex and not re.search(self.regex, text, re.IGNORECASE if self.ignores_case else 0):
            return self.regex_message or "This does not have the form that is asked for."
        return None


@dataclass(frozen=True, kw_only=True)
class Choice:
    identifier: str
    content: tuple[Content, ...]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One or several of the choices."""

    choices: tuple[Choice, ...]
    minimum: int = 1
    maximum: int = 1
    other: FreeText | None = None

    @property
    def several(self) -> bool:
        return self.maximum > 1


@dataclass(frozen=True, kw_only=True)
class FileUpload:
    minimum_bytes: int
    maximum_bytes: int


Specification = FreeText | Selection | FileUpload


@dataclass(frozen=True, kw_only=True)
class FormQuestion:
    identifier: str
    content: tuple[Content, ...]
    specification: Specification
    display_name: str = ""
    is_required: bool = False

    @property
    def kind(self) -> str:
        return {FreeText: "text", Selection: "selection", FileUpload: "file"}[type(self.specification)]


@dataclass(frozen=True)
class ReadAnswers:
    """What a worker sent, and what is wrong with it by question."""

    answers: tuple[WrittenAnswer, ...]
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ShownPart:
    """A part on the page, with what was answered so far and what is wrong with it."""

    content: tuple[Content, ...]
    question: FormQuestion | None = None
    values: tuple[str, ...] = ()
    other: str = ""
    problem: str = ""


@dataclass(frozen=True)
class QuestionForm:
    """Overviews and questions in the order of the document."""

    parts: tuple[FormQuestion | tuple[Content, ...], ...]
    #: As tall as the window: the document names no height.
    frame_height_px: int = 0

    @property
    def questions(self) -> tuple[FormQuestion, ...]:
        return tuple(part for part in self.parts if isinstance(part, FormQuestion))

    @classmethod
    def from_xml(cls, xml: str) -> QuestionForm:
        return cls.from_element(read_document(xml))

    @classmethod
    def from_element(cls, root: Element) -> QuestionForm:
        namespace, _, name = root.tag.removeprefix("{").rpartition("}")
        if name != "QuestionForm" or not _NAMESPACE.fullmatch(namespace):
            raise XMLParseError(f"{root.tag} is not a QuestionForm of {SCHEMAS}/2017-11-06/QuestionForm.xsd")
        parts = tuple(
            _contents(part) if _name(part) == "Overview" else _question(part)
            for part in root
            if _expect(part, ("Overview", "Question"))
        )
        form = cls(parts)
        identifiers = [question.identifier for question in form.questions]
        if not identifiers:
            raise XMLParseError("QuestionForm: there is no Question in it.")
        if len(set(identifiers)) != len(identifiers):
            raise XMLParseError("QuestionForm: every QuestionIdentifier occurs once.")
        return form

    def shown(
        self, fields: Mapping[str, Sequence[str]] | None = None, problems: Mapping[str, str] | None = None
    ) -> tuple[ShownPart, ...]:
        """The parts with the answers of `fields`; at first with the defaults."""
        parts = []
        for part in self.parts:
            if not isinstance(part, FormQuestion):
                parts.append(ShownPart(content=part))
                continue
            default = part.specification.default if isinstance(part.specification, FreeText) else ""
            parts.append(
                ShownPart(
                    content=part.content,
                    question=part,
                    values=(default,) if fields is None else tuple(fields.get(part.identifier, ())),
                    other=next(iter((fields or {}).get(part.identifier + OTHER_TEXT, ())), ""),
                    problem=(problems or {}).get(part.identifier, ""),
                )
            )
        return tuple(parts)

    def read(self, fields: Mapping[str, Sequence[str]], files: Mapping[str, int] | None = None) -> ReadAnswers:
        """Answers from a form's fields, by question; `files` holds sizes in bytes."""
        answers, problems = [], {}
        for question in self.questions:
            values = [value for value in fields.get(question.identifier, ()) if value != ""]
            size = (files or {}).get(question.identifier)
            if not values and size is None:
                if question.is_required:
                    problems[question.identifier] = "An answer is needed."
                continue
            other = next(iter(fields.get(question.identifier + OTHER_TEXT, ())), "")
            answer, problem = _answer(question, values, other, size)
            if problem:
                problems[question.identifier] = problem
            if answer is not None:
                answers.append(answer)
        return ReadAnswers(tuple(answers), problems)

    def accepted(
        self, fields: Mapping[str, Sequence[str]], files: Mapping[str, int] | None = None
    ) -> tuple[WrittenAnswer, ...]:
        """The answers; AnswersRefused when one of them is missing or wrong."""
        read = self.read(fields, files)
        if read.problems:
            raise AnswersRefused(
                read.problems, {one.identifier: one.display_name or one.identifier for one in self.questions}
            )
        return read.answers


def _answer(
    question: FormQuestion, values: Sequence[str], other: str, size: int | None
) -> tuple[WrittenAnswer | None, str | None]:
    wanted = question.specification
    if isinstance(wanted, FileUpload):
        if size is None:
            return None, "A file is asked for."
        if not wanted.minimum_bytes <= size <= wanted.maximum_bytes:
            return None, f"A file of {wanted.minimum_bytes} to {wanted.maximum_bytes} bytes is asked for."
        return WrittenAnswer(identifier=question.identifier, file_bytes=size), None
    if isinstance(wanted, FreeText):
        text = values[0]
        return WrittenAnswer(identifier=question.identifier, free_text=text), wanted.problem(text)
    known = {choice.identifier for choice in wanted.choices}
    chosen = tuple(value for value in dict.fromkeys(values) if value in known)
    has_other = wanted.other is not None and OTHER in values
    answer = WrittenAnswer(
        identifier=question.identifier, selections=chosen, other_selection=other if has_other else None
    )
    count = len(chosen) + has_other
    if set(values) - known - {OTHER} or (OTHER in values and wanted.other is None):
        return answer, "One of these was never offered."
    if not wanted.minimum <= count <= wanted.maximum:
        return answer, f"From {wanted.minimum} to {wanted.maximum} choices are asked for."
    return answer, wanted.other.problem(other) if has_other and wanted.other else None


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _expect(element: Element, names: Sequence[str]) -> bool:
    if _name(element) not in names:
        raise XMLParseError(f"QuestionForm: {_name(element)} where {' or '.join(names)} belongs.")
    return True


def _value(element: Element, name: str, default: str = "") -> str:
    child = element.find(f"{{*}}{name}")
    return default if child is None else "".join(child.itertext()).strip()


def _whole(text: str | None, what: str, default: int) -> int:
    if text is None or not text.strip():
        return default
    if not text.strip().isascii() or not text.strip().isdigit():
        raise XMLParseError(f"QuestionForm: {what} is a whole number.")
    return int(text)


def _bound(element: Element | None, name: str) -> Decimal | None:
    text = None if element is None else element.get(name)
    return None if text is None else read_number(text, f"QuestionForm: {name}")


def _contents(element: Element) -> tuple[Content, ...]:
    return tuple(content for child in element if (content := _content(child)) is not None)


def _content(element: Element) -> Content | None:
    """Formatting is left out: a requester's markup never becomes part of our pages."""
    name = _name(element)
    text = " ".join("".join(element.itertext()).split())
    if name == "Title":
        return Content("title", text)
    if name == "FormattedContent":
        text = " ".join(unescape(strip_tags(text)).split())
    if name in ("Text", "FormattedContent"):
        return Content("text", text) if text else None
    if name == "List":
        return Content("list", entries=tuple(" ".join("".join(entry.itertext()).split()) for entry in element))
    if name in ("Binary", "EmbeddedBinary"):
        url = _value(element, "DataURL")
        if urlsplit(url).scheme not in ("https", "http"):
            raise XMLParseError("QuestionForm: DataURL is an http or https address.")
        kind = element.find("{*}MimeType")
        is_picture = kind is not None and (_value(kind, "Type") == "image" or "image" in (kind.text or ""))
        return Content("picture" if is_picture else "link", _value(element, "AltText"), url=url)
    raise XMLParseError(f"QuestionForm: {name} cannot be shown here.")


def _question(element: Element) -> FormQuestion:
    identifier = _value(element, "QuestionIdentifier")
    if not identifier or len(identifier) > 255:
        raise XMLParseError("QuestionForm: a Question needs a QuestionIdentifier of at most 255 characters.")
    content, wanted = element.find("{*}QuestionContent"), element.find("{*}AnswerSpecification")
    if content is None or wanted is None or len(wanted) != 1:
        raise XMLParseError(f"QuestionForm: {identifier} needs QuestionContent and one AnswerSpecification.")
    return FormQuestion(
        identifier=identifier,
        display_name=_value(element, "DisplayName"),
        is_required=_value(element, "IsRequired") in ("true", "1"),
        content=_contents(content),
        specification=_specification(wanted[0]),
    )


def _specification(element: Element) -> Specification:
    name = _name(element)
    if name == "FreeTextAnswer":
        return _free_text(element)
    if name == "SelectionAnswer":
        return _selection(element)
    if name == "FileUploadAnswer":
        least = _whole(_value(element, "MinFileSizeInBytes"), "MinFileSizeInBytes", 0)
        most = _whole(_value(element, "MaxFileSizeInBytes"), "MaxFileSizeInBytes", 2_000_000)
        return FileUpload(minimum_bytes=least, maximum_bytes=min(most, 2_000_000))
    raise XMLParseError(f"QuestionForm: {name} is no kind of answer.")


def _free_text(element: Element) -> FreeText:
    constraints = element.find("{*}Constraints")
    found: dict[str, Element] = {} if constraints is None else {_name(child): child for child in constraints}
    numeric, length, form = found.get("IsNumeric"), found.get("Length"), found.get("AnswerFormatRegex")
    regex = "" if form is None else form.get("regex", "")
    try:
        re.compile(regex)
    except re.error as err:
        raise XMLParseError(f"QuestionForm: the regular expression {regex!r} cannot be read: {err}.") from err
    return FreeText(
        is_numeric=numeric is not None,
        minimum=_bound(numeric, "minValue"),
        maximum=_bound(numeric, "maxValue"),
        minimum_length=0 if length is None else _whole(length.get("minLength"), "minLength", 0),
        maximum_length=_MAXIMUM_TEXT if length is None else _whole(length.get("maxLength"), "maxLength", _MAXIMUM_TEXT),
        regex=regex,
        ignores_case=form is not None and "i" in form.get("flags", ""),
        regex_message="" if form is None else form.get("errorText", ""),
        default=_value(element, "DefaultText"),
        lines=max(1, min(40, _whole(_value(element, "NumberOfLinesSuggestion"), "NumberOfLinesSuggestion", 1))),
    )


def _selection(element: Element) -> Selection:
    listed = element.find("{*}Selections")
    if listed is None:
        raise XMLParseError("QuestionForm: a SelectionAnswer needs Selections.")
    choices, other = [], None
    for child in listed:
        if _name(child) == "OtherSelection":
            other = _free_text(child)
            continue
        _expect(child, ("Selection", "OtherSelection"))
        identifier = _value(child, "SelectionIdentifier")
        content = tuple(
            found for part in child if _name(part) != "SelectionIdentifier" and (found := _content(part)) is not None
        )
        if not identifier or not content:
            raise XMLParseError("QuestionForm: a Selection needs a SelectionIdentifier and something to show.")
        choices.append(Choice(identifier=identifier, content=content))
    if not choices:
        raise XMLParseError("QuestionForm: a SelectionAnswer needs a Selection.")
    identifiers = {choice.identifier for choice in choices}
    if len(identifiers) != len(choices) or OTHER in identifiers:
        raise XMLParseError("QuestionForm: every SelectionIdentifier of a question occurs once.")
    several = _value(element, "StyleSuggestion") in _SEVERAL
    most = _whole(_value(element, "MaxSelectionCount"), "MaxSelectionCount", len(choices) if several else 1)
    least = _whole(_value(element, "MinSelectionCount"), "MinSelectionCount", 0 if several else 1)
    return Selection(choices=tuple(choices), minimum=min(least, most), maximum=most, other=other)
