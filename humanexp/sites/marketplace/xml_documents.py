"""MTurk's XML documents: read without entities, written without characters that XML cannot hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from xml.sax.saxutils import escape

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from humanexp.sites.marketplace.errors import XMLParseError

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
