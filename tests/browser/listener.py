"""What passes between browser and server in a session, and that it tells nothing of a picture before its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any
from urllib.parse import urlsplit

from humanexp.participation.models import Session, Trial

#: Every name that a reply may hold. `category` stands in the feedback of practice alone, which is looked at apart.
ALLOWED_NAMES = {
    *(
        "state",
        "study_title",
        "cursor",
        "total",
        "protocol",
        "choices",
        "columns",
        "alternatives",
        "instructions",
        "instructions_shown",
        "own_words",
        "blocks",
        "lease",
        "token",
        "position",
        "resume",
        "secret",
    ),
    *("name", "label", "icon", "categorisation", "index", "kind", "task", "first", "last", "feedback"),
    *("background", "size_px", "fixation_ms", "fixation_shape", "fixation_px", "stimulus_ms", "contrast_ramp"),
    *("blank_frames", "mask_ms", "mask_contrast", "response_ms", "click_policy", "fixed_response_window", "grid_order"),
    *("due_in_s", "round_s", "minutes_left", "slow_down", "feedback_wrong_ms"),
    *("set_up", "longer_window_ms", "feedback_ms", "feedback_sound"),
    *("qualified", "practised", "receipt", "completion_code", "debrief", "closing", "own_result"),
    # made at random, for letters about the session
    "session_code",
}
#: Headers that are the same for everybody.
ALLOWED_HEADERS = {
    *("allow", "cache-control", "content-length", "content-security-policy", "content-type", "date", "server", "vary"),
    *("cross-origin-opener-policy", "referrer-policy", "x-content-type-options", "x-frame-options"),
    *("content-language", "connection", "expires", "picture-lengths", "trial-options", "x-request-id"),
}
#: Those that differ; what a trial offers is what the page shows a moment later, the right answer among it.
LENGTHS_AND_DATE = ("content-length", "picture-lengths", "trial-options", "date", "x-request-id")
WORDS = ("gaussian_noise", "gaussian_blur", "gold", "negative", "consistency", "sentinel", "clean", "visual_change")


@dataclass
class Reply:
    method: str
    path: str
    asked: str
    headers: dict[str, str]
    body: bytes
    #: positions whose answers the server had acknowledged before this reply
    known: frozenset[int]

    @property
    def is_picture(self) -> bool:
        return self.headers["content-type"] == "application/octet-stream"

    @property
    def pictures(self) -> list[bytes]:
        lengths = [int(length) for length in self.headers["picture-lengths"].split(",")]
        ends = list(accumulate(lengths))
        return [self.body[end - length : end] for length, end in zip(lengths, ends, strict=True)]


@dataclass
class Listener:
    """Everything that passes between browser and server, static files left out: they are the same for everybody."""

    replies: list[Reply] = field(default_factory=list)
    known: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, page: Any) -> Listener:
        listener = cls()
        page.route("**/api/**", listener)
        page.route("**/run/", listener)
        return listener

    def __call__(self, route: Any) -> None:
        response = route.fetch()
        request, body = route.request, response.body()
        asked = request.post_data or ""
        self.replies.append(
            Reply(request.method, urlsplit(request.url).path, asked, response.headers, body, frozenset(self.known))
        )
        if request.url.endswith("/responses/") and response.ok:
            self.known.add(json.loads(asked)["position"])
        route.fulfill(response=response)

    def was_told_nothing(self, session: Session) -> None:
        """Before an answer was stored; for a session whose trials show one picture each, all of them answered."""
        trials = {t.position: t for t in session.trials.select_related("stimulus__source_image")}
        pictures = [reply for reply in self.replies if reply.is_picture]
        texts = [reply for reply in self.replies if not reply.is_picture]
        assert sum(len(reply.pictures) for reply in pictures) == 2 * session.total
        assert len(self.known) == session.total

        for reply in texts:
            text = reply.body.decode() + json.dumps(reply.headers)
            for position, trial in trials.items():
                if position not in reply.known:
                    assert not {secret for secret in secrets_of(trial) if secret in text}
            if not reply.path.endswith("/run/"):
                told = json.loads(reply.body)
                feedback = told.pop("feedback", None)
                assert set(names_in(told)) <= ALLOWED_NAMES
                assert not {word for word in WORDS if f'"{word}' in reply.body.decode()}
                if feedback is not None:
                    answered = json.loads(reply.asked)["position"]
                    assert trials[answered].role == "practice"
                    assert feedback["category"] == trials[answered].correct_response

        for reply in pictures:
            assert reply.path.startswith("/api/v1/run/trials/") and "?" not in reply.path
            assert all(set(chunks(picture)) == {"IHDR", "IDAT", "IEND"} for picture in reply.pictures)
            assert "".join(map(bytes.decode, (picture[1:4] for picture in reply.pictures))) == "PNG" * len(
                reply.pictures
            )
            assert reply.headers["cache-control"] == "no-store"
        assert {name for reply in self.replies for name in reply.headers} <= ALLOWED_HEADERS
        steady = {
            json.dumps({name: value for name, value in reply.headers.items() if name not in LENGTHS_AND_DATE})
            for reply in pictures
        }
        assert len(steady) == 1, "no header differs from reply to reply but lengths and date"


def names_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)


def chunks(png: bytes) -> list[str]:
    kinds, place = [], 8
    while place < len(png):
        kinds.append(png[place + 4 : place + 8].decode())
        place += 12 + int.from_bytes(png[place : place + 4], "big")
    return kinds


def secrets_of(trial: Trial) -> set[str]:
    stimulus = trial.stimulus
    picture = stimulus.source_image
    return {stimulus.key, stimulus.file, stimulus.sha256, picture.key, picture.sha256}
