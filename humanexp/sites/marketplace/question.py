"""The Question of a HIT: MTurk's XML, read. Pure. `question_form` reads the kind that the marketplace draws itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit, urlunsplit

from humanexp.addresses import is_loopback
from humanexp.sites.marketplace.errors import InvalidParameterValue, XMLParseError
from humanexp.sites.marketplace.question_form import QuestionForm
from humanexp.sites.marketplace.xml_documents import SCHEMAS, Element, read_document

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
