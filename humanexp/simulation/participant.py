"""One scripted participant: opens a session, fetches the stimuli, answers trial by trial, over HTTP as a browser does."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

from humanexp.simulation.observers import random_stream
from humanexp.simulation.personas import Answer, Persona, TruePicture

TIMEOUT_S = 30
RETRIES = 40


class ParticipationFailed(Exception):
    """A scripted participant could not go on; the message names the request and the reply."""


@dataclass(kw_only=True)
class ScriptedParticipant:
    """A persona with a name and a connection.

    Lost connections are tried again for about half a minute, as the page's outbox does: the server may be restarting.
    """

    name: str
    persona: Persona
    #: what is known about every stimulus, by the sha256 of its bytes
    truth: Mapping[str, TruePicture]
    http: requests.Session = field(default_factory=requests.Session)

    def open_session(self, entry_url: str) -> OpenSession:
        """Read the entry page, consent, and exchange the hand-off code as the experiment's page would."""
        parts = urlsplit(entry_url)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        page_url = parts._replace(query="").geturl()
        self._request("GET", entry_url)
        body = {name: query.get(name, "") for name in ("assignmentId", "hitId", "workerId", "turkSubmitTo")}
        opened = self._json("POST", urljoin(page_url, "open/"), {**body, "consent": True, "simulated": True})
        run_url = urljoin(page_url, opened["run_url"])
        api = urljoin(run_url, "/api/v1/run/")
        token = self._json("POST", urljoin(api, "handoff/"), {"code": opened["handoff"]})["token"]
        return OpenSession(participant=self, api=api, token=token, query=query)

    def _request(self, method: str, url: str, **arguments: Any) -> requests.Response:
        for attempt in range(RETRIES):
            try:
                response = self.http.request(method, url, timeout=TIMEOUT_S, **arguments)
            except (requests.ConnectionError, requests.Timeout) as error:
                if attempt == RETRIES - 1:
                    raise ParticipationFailed(f"{method} {urlsplit(url).path}: {error}") from error
                time.sleep(min(1.0, 0.1 * 2**attempt))
                continue
            if response.status_code >= 500 and attempt < RETRIES - 1:
                time.sleep(min(1.0, 0.1 * 2**attempt))
                continue
            if response.status_code >= 400:
                raise ParticipationFailed(
                    f"{method} {urlsplit(url).path} answered {response.status_code}: {response.text[:300]}"
                )
            return response
        raise AssertionError("unreachable")

    def _json(self, method: str, url: str, body: object = None, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._request(method, url, json=body, **arguments).json()
        return answer


@dataclass(kw_only=True)
class OpenSession:
    """A session under way; `query` holds what the recruiter appended to the entry address."""

    participant: ScriptedParticipant
    api: str
    token: str
    query: Mapping[str, str]
    #: random like a browser tab's: it decides nothing about answers
    lease: str = field(default_factory=lambda: secrets.token_hex(8))

    def answer_all(self, *, stop_after: int | None = None) -> dict[str, Any]:
        """Answer every open trial (or the next `stop_after`); returns the completion, empty when trials are left."""
        self._call("POST", "lease/", {"lease": self.lease})
        state = self._call("GET", "session/")
        blocks = {position: block for block in state["blocks"] for position in range(block["first"], block["last"] + 1)}
        last = state["total"] if stop_after is None else min(state["total"], state["cursor"] + stop_after)
        for position in range(state["cursor"], last):
            showings = 2 if blocks[position]["task"] == "discrimination" else 1
            pictures = [self._picture(position, showing) for showing in range(showings)]
            answer = self.participant.persona.answer(pictures, participant=self.participant.name, position=position)
            self._call("POST", "responses/", self._response(position, answer, state["protocol"]))
        if last < state["total"]:
            return {}
        return self._call("POST", "complete/", {"environment": {"simulated": True}})

    def _picture(self, position: int, showing: int) -> TruePicture:
        reply = self.participant._request(
            "GET", urljoin(self.api, f"trials/{position}/stimulus/{showing}/"), headers=self._headers
        )
        digest = hashlib.sha256(reply.content).hexdigest()
        try:
            return self.participant.truth[digest]
        except KeyError:
            raise ParticipationFailed(f"trial {position}: these bytes are not in the stimulus manifest") from None

    def _response(self, position: int, answer: Answer, protocol: Mapping[str, Any]) -> dict[str, Any]:
        rng = random_stream(0, self.participant.name, position, "frames")
        frame_ms = 1000 / 60
        frames = round(protocol["stimulus_ms"] / frame_ms)
        dropped = int(rng.random() < 0.004)
        clicks = [] if answer.rt_ms is None else [{"choice": answer.response, "t_ms": answer.rt_ms, "input": "pointer"}]
        return {
            "position": position,
            "response": answer.response,
            "rt_ms": answer.rt_ms,
            "clicks": clicks,
            "simulated": True,
            "timing": {
                "t_refresh_median_ms": frame_ms,
                "t_refresh_mad_ms": 0.05,
                "frames_target": frames,
                "frames_shown": frames + dropped,
                "dur_stim_ms": (frames + dropped) * frame_ms,
                "dur_mask_ms": round(protocol["mask_ms"] / frame_ms) * frame_ms,
                "dur_fix_ms": round(protocol["fixation_ms"] / frame_ms) * frame_ms,
                "isi_frames": protocol["blank_frames"],
                "max_frame_gap_ms": (1 + dropped) * frame_ms,
                "n_long_frames": dropped,
                "callback_lag_max_ms": 1.0,
                "visible_whole_trial": True,
                "focused_whole_trial": True,
                "fullscreen": True,
                "resized": False,
                "dpr": 1.0,
                "css_px": protocol["size_px"],
                "canvas_px": protocol["size_px"],
                "decode_ok": True,
                "n_clicks": len(clicks),
                "engine_version": "simulated",
            },
        }

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "X-Lease": self.lease}

    def _call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        return self.participant._json(method, urljoin(self.api, path), body, headers=self._headers)


@dataclass(kw_only=True)
class MarketplaceWorker:
    """The worker's account on the marketplace: signs up, finds the HIT, accepts it, and submits it."""

    site: str
    name: str
    http: requests.Session = field(default_factory=requests.Session)

    def sign_up(self) -> None:
        password = secrets.token_urlsafe(12)
        self._form("signup/", {"username": self.name, "password1": password, "password2": password})

    def accept(self, title: str) -> dict[str, Any]:
        """Accept one HIT of the group with this title; returns the marketplace's answer with `frame_url`."""
        listing = self.http.get(self.site, headers={"Accept": "application/json"}, timeout=TIMEOUT_S).json()
        for group in listing["groups"]:
            if group["title"] == title and group["available"]:
                reply = self._form(group["accept_url"], {}, accept="application/json")
                answer: dict[str, Any] = reply.json()
                return answer
        raise ParticipationFailed(f"{self.name} finds no HIT with the title {title!r}")

    def submit(self, assignment: Mapping[str, Any], completion: Mapping[str, Any]) -> None:
        """The final form of the frame: a POST to the marketplace's own address."""
        submit_to = parse_qs(urlsplit(assignment["frame_url"]).query)["turkSubmitTo"][0]
        reply = self.http.post(
            submit_to.rstrip("/") + "/mturk/externalSubmit",
            {"assignmentId": assignment["assignment_id"], "receipt": completion["receipt"]},
            timeout=TIMEOUT_S,
        )
        if not reply.ok:
            raise ParticipationFailed(f"submitting answered {reply.status_code}: {reply.text[:300]}")

    def _form(self, path: str, fields: Mapping[str, str], accept: str = "text/html") -> requests.Response:
        url = urljoin(self.site, path)
        token = self._csrf_token()
        reply = self.http.post(
            url,
            {**fields, "csrfmiddlewaretoken": token},
            headers={"Accept": accept, "Referer": url, "X-CSRFToken": token},
            timeout=TIMEOUT_S,
        )
        if not reply.ok:
            raise ParticipationFailed(f"POST {path} answered {reply.status_code}: {reply.text[:300]}")
        return reply

    def _csrf_token(self) -> str:
        """The token of the sign-up page's form: every page of the site accepts it together with its cookie."""
        page = self.http.get(urljoin(self.site, "signup/"), timeout=TIMEOUT_S).text
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        if found is None:
            raise ParticipationFailed("the marketplace's sign-up page has no form")
        return found.group(1)
