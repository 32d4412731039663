"""The Question of a HIT and the Answer of an assignment: MTurk's XML, read and written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit, urlunsplit
from xml.sax.saxutils import escape

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from humanexp.marketplace.errors import InvalidParameterValue, QuestionNotOffered, XMLParseError

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_EXTERNAL_QUESTION = f"{{{_SCHEMAS}/2006-07-14/ExternalQuestion.xsd}}"
_ANSWERS_NAMESPACE = f"{_SCHEMAS}/2005-10-01/QuestionFormAnswers.xsd"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_MAXIMUM_HEIGHT_PX = 10_000
#: What a preview gets instead of an assignment.
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
#: Field names that a frame's form carries for the marketplace, not for the requester.
RESERVED_FIELDS = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class ExternalQuestion:
    """A page of the requester's, shown in a frame."""

    url: str
    #: 0: as tall as the window.
    frame_height_px: int

    @classmethod
    def from_xml(cls, xml: str) -> ExternalQuestion:
        """Raise XMLParseError, QuestionNotOffered or InvalidParameterValue when workers could not be shown this."""
        try:
            root = ElementTree.fromstring(xml)
        except (ElementTree.ParseError, DefusedXmlException, ValueError) as err:
            raise XMLParseError(
                f"There was an error parsing the XML question or answer data in your request. ({err})"
            ) from err
        if root.tag.endswith(("}QuestionForm", "}HTMLQuestion")):
            raise QuestionNotOffered
        if root.tag != f"{_EXTERNAL_QUESTION}ExternalQuestion":
            raise XMLParseError(f"Question: {root.tag} is not the ExternalQuestion of {_EXTERNAL_QUESTION}")
        url = (root.findtext(f"{_EXTERNAL_QUESTION}ExternalURL") or "").strip()
        height = (root.findtext(f"{_EXTERNAL_QUESTION}FrameHeight") or "").strip()
        if not height.isascii() or not height.isdigit() or int(height) > _MAXIMUM_HEIGHT_PX:
            raise XMLParseError(f"Question: FrameHeight is a number of pixels up to {_MAXIMUM_HEIGHT_PX}, or 0.")
        _check_address(url)
        return cls(url=url, frame_height_px=int(height))


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as err:
        raise InvalidParameterValue(f"Question: ExternalURL is no address: {err}.") from err
    trial_run = parts.scheme == "http" and host in _LOOPBACK
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


def answers_to_xml(fields: Iterable[tuple[str, str]]) -> str:
    """QuestionFormAnswers with one FreeText per field; characters that XML cannot hold become U+FFFD."""
    answers = "".join(
        f"<Answer><QuestionIdentifier>{_text(name)}</QuestionIdentifier><FreeText>{_text(value)}</FreeText></Answer>"
        for name, value in fields
    )
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
        f'<QuestionFormAnswers xmlns="{_ANSWERS_NAMESPACE}">{answers}</QuestionFormAnswers>'
    )


def _text(value: str) -> str:
    # A bare carriage return would be read back as a line feed.
    return escape(_NOT_XML.sub("\ufffd", value), {"\r": "&#13;"})
