"""The XML document of a HIT that we send, and the answer that comes back from a stranger's browser."""

from __future__ import annotations

from xml.sax.saxutils import escape

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_QUESTION = f"{_SCHEMAS}/2006-07-14/ExternalQuestion.xsd"


def external_question(*, url: str, frame_height_px: int) -> str:
    """A page of ours, shown in a frame; height 0 fills the window."""
    return (
        f'<ExternalQuestion xmlns="{_QUESTION}"><ExternalURL>{escape(url)}</ExternalURL>'
        f"<FrameHeight>{frame_height_px:d}</FrameHeight></ExternalQuestion>"
    )


def read_answers(xml: str) -> dict[str, str]:
    """Fields of a QuestionFormAnswers document; empty when it is broken or hostile (entities, external references)."""
    try:
        root = ElementTree.fromstring(xml)
    except (ElementTree.ParseError, DefusedXmlException, ValueError):
        return {}
    fields: dict[str, str] = {}
    for answer in root:
        # The namespace carries a date: match the local name.
        parts = {child.tag.rpartition("}")[2]: child.text or "" for child in answer}
        if "QuestionIdentifier" in parts:
            fields.setdefault(parts["QuestionIdentifier"], parts.get("FreeText", ""))
    return fields
