"""Scripted participants over HTTP: how they reach a site, open a session, and answer it trial by trial."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

from humanexp.simulation.observers import random_stream
from humanexp.simulation.personas import Answer, Persona, TruePicture

TIMEOUT_S = 30
#: About a minute in all.
TRIES = 70


class ParticipationFailed(Exception):
    """A scripted participant could not go on; the message names the request and the reply."""


@dataclass
class PatientConnection:
    """A browser profile: cookies of its own. Lost connections and server faults are tried again; refusals are raised.

    Every request made with it has to be safe to repeat: its first try may have taken effect.
    """

    http: requests.Session = field(default_factory=requests.Session)
    tries: int = TRIES

    def request(self, method: str, url: str, **arguments: Any) -> requests.Response:
        """The reply, whatever its status below 500.

        Raises
        ------
        ParticipationFailed
            If the server stays away.
        """
        last = ""
        for attempt in range(self.tries):
            if attempt:
                time.sleep(min(1.0, 0.05 * 2**attempt))
            try:
                response = self.http.request(method, url, timeout=TIMEOUT_S, **arguments)
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
                last = str(error)
                continue
            if response.status_code < 500:
                return response
            last = f"{response.status_code}: {response.text[:200]}"
        raise ParticipationFailed(f"{method} {urlsplit(url).path}: {last}")

    def get(self, url: str, **arguments: Any) -> requests.Response:
        return _accepted(self.request("GET", url, **arguments))

    def post(self, url: str, **arguments: Any) -> requests.Response:
        return _accepted(self.request("POST", url, **arguments))


def _accepted(response: requests.Response) -> requests.Response:
    if not response.ok:
        path = urlsplit(response.url).path
        raise ParticipationFailed(
            f"{response.request.method} {path} answered {response.status_code}: {response.text[:300]}"
        )
    return response


_JSON = {"Accept": "application/json"}


@dataclass(kw_only=True)
class MarketplaceWorker:
    site: str
    name: str
    connection: PatientConnection = field(default_factory=PatientConnection)
    _password: str = field(default_factory=lambda: secrets.token_urlsafe(12))

    def sign_up(self) -> None:
        account = {"username": self.name, "password": self._password}
        self._list()  # brings the cookie that forms need
        reply = self.connection.request("POST", urljoin(self.site, "/signup/"), data=account, headers=self._headers())
        if not reply.ok:  # the first try of a repeated request may have made the account
            self.connection.post(urljoin(self.site, "/login/"), data=account, headers=self._headers())

    def accept(self, hit_type_id: str) -> dict[str, Any]:
        """Accept a HIT of this type, or go on with one; the marketplace's description of the work, with `frame_url`."""
        listing = self._list()
        for work in listing["in_hand"]:
            if work["hit_type_id"] == hit_type_id:
                return dict(work)
        groups = {group["hit_type_id"]: group for group in listing["groups"]}
        if hit_type_id not in groups:
            raise ParticipationFailed(f"{self.name} finds no HIT of type {hit_type_id} among {len(groups)} groups")
        url = urljoin(self.site, groups[hit_type_id]["accept_url"])
        accepted: dict[str, Any] = self.connection.post(url, headers=self._headers()).json()
        return accepted

    def submit(self, work: Mapping[str, Any], completion: Mapping[str, Any]) -> None:
        """The final form of the frame, sent to the marketplace's own address."""
        form = {"assignmentId": work["assignment_id"], "receipt": completion["receipt"]}
        self.connection.post(work["submit_url"], data=form)

    @property
    def cookies(self) -> list[dict[str, str]]:
        """The account's, as a browser takes them."""
        known = self.connection.http.cookies
        return [{"name": cookie.name, "value": cookie.value or "", "url": self.site} for cookie in known]

    def _list(self) -> dict[str, Any]:
        listing: dict[str, Any] = self.connection.get(self.site, headers=_JSON).json()
        return listing

    def _headers(self) -> dict[str, str]:
        token = next((cookie.value for cookie in self.connection.http.cookies if "csrf" in cookie.name), "") or ""
        return {**_JSON, "X-CSRFToken": token, "Referer": self.site}


#: A study that was published opens a little later.
OPENS_S = 60.0


@dataclass(kw_only=True)
class Panellist:
    site: str
    connection: PatientConnection = field(default_factory=PatientConnection)

    def join(self) -> None:
        """A new person. If the reply is lost, the repeated call makes another one, who is as good."""
        self.connection.get(urljoin(self.site, "/people/"))  # brings the cookie that forms need
        self.connection.post(urljoin(self.site, "/people/"), headers=self._headers())

    def start(self, study_id: str) -> str:
        """Take a place, or go on with one; the study's address with this person's ids."""
        about = urljoin(self.site, f"/studies/{study_id}/")
        place = self._place(about)
        deadline = time.monotonic() + OPENS_S
        while place is None:
            if time.monotonic() > deadline:
                raise ParticipationFailed(f"the study {study_id} has no place for this person")
            time.sleep(0.5)
            place = self._place(about)
        begun = self.connection.post(urljoin(place, "start/"), headers=self._headers(), allow_redirects=False)
        return begun.headers["Location"]

    def _place(self, about: str) -> str | None:
        """The page of the place that was taken; None while there is none."""
        # The first try of a repeated request may have taken the place: the study's page then leads to it.
        self.connection.request("POST", urljoin(about, "reserve/"), headers=self._headers(), allow_redirects=False)
        reply = self.connection.request("GET", about)
        return reply.url if re.search(r"/submissions/\w+/$", reply.url) else None

    def come_back(self, address: str) -> None:
        """Opened again, it shows the same submission."""
        self.connection.get(address)

    def _headers(self) -> dict[str, str]:
        token = next((cookie.value for cookie in self.connection.http.cookies if "csrf" in cookie.name), "") or ""
        return {"X-CSRFToken": token, "Referer": self.site}


def options_in(header: str, choices: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Names of the answers that each trial offers; empty where trials offer all of these choices."""
    if not header:
        return []
    return [[choices[int(place)]["name"] for place in trial.split()] for trial in header.split(",")]


#: Pictures of one trial, in tasks that show several.
PICTURES: Mapping[str, int] = {"discrimination": 2, "abx": 3}


@dataclass(kw_only=True)
class ScriptedParticipant:
    """A persona with a name and a connection."""

    persona: Persona
    #: what is known about every stimulus, by the sha256 of its bytes
    truth: Mapping[str, TruePicture]
    #: keys the random stream; may become known when the session is opened
    name: str = ""
    connection: PatientConnection = field(default_factory=PatientConnection)
    #: random like a page's: with it a call whose reply was lost can be repeated, and decides nothing about answers
    _opening: str = field(default_factory=lambda: secrets.token_hex(16))

    def open_session(self, entry_url: str, ids: Mapping[str, str] | None = None) -> OpenSession:
        """Read the entry page, consent, as the page in the recruiter's frame does.

        `ids` are those of the address, where its site has other names for them.
        """
        parts = urlsplit(entry_url)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        page_url = parts._replace(query="").geturl()
        self.connection.get(entry_url)
        body = {name: query.get(name, "") for name in ("assignmentId", "hitId", "workerId", "turkSubmitTo")}
        body["workerId"] = body["workerId"] or query.get("p", "")  # what a plain link calls it
        body |= ids or {}
        opened = self.connection.post(
            urljoin(page_url, "open/"), json={**body, "consent": True, "simulated": True, "opening": self._opening}
        ).json()
        api = urljoin(urljoin(page_url, opened["run_url"]), "/api/v1/run/")
        return OpenSession(participant=self, entry=page_url, api=api, token=opened["token"])


@dataclass(kw_only=True)
class OpenSession:
    """A session under way."""

    participant: ScriptedParticipant
    #: the entry page, without what identifies the person
    entry: str
    api: str
    token: str
    #: random like a browser tab's: it decides nothing about answers
    lease: str = field(default_factory=lambda: secrets.token_hex(8))

    def answer_all(self) -> dict[str, Any]:
        """Answer every open trial; returns the completion.

        The server's cursor leads: a passed qualification skips its other tries.
        """
        state = self.start()
        cursor = state["cursor"]
        while cursor < state["total"]:
            cursor = self.send(self.response_to(cursor, state))["cursor"]
        return self.complete()

    def start(self) -> dict[str, Any]:
        """Make this tab the owner of the session; what the page knows before its first picture."""
        self._post("lease/", {"lease": self.lease})
        return self._get("session/")

    def response_to(self, position: int, state: Mapping[str, Any]) -> dict[str, Any]:
        """Look at the trial; what the page sends of it."""
        task = next(block["task"] for block in state["blocks"] if block["first"] <= position <= block["last"])
        replies = [self._picture(position, showing) for showing in range(PICTURES.get(task, 1))]
        pictures, offered = [picture for picture, _ in replies], options_in(replies[-1][1], state["choices"][task])
        wanted = self._get(f"trials/{position}/question/")["wanted"] if task == "validation" else None
        answer = self.participant.persona.among(offered[0] if offered else ()).answer(
            pictures, participant=self.participant.name, position=position, wanted=wanted
        )
        timing = self._untimed(answer) if wanted else self._timing(position, answer, state["protocol"])
        return self._response(position, answer, timing)

    def send(self, response: Mapping[str, Any]) -> dict[str, Any]:
        return self._post("responses/", response)

    def complete(self) -> dict[str, Any]:
        return self._post("complete/", {"environment": {"simulated": True}})

    def finish_link(self) -> None:
        """A plain link has no recruiter to submit to: the study's page says that it is finished."""
        self.participant.connection.post(urljoin(self.entry, "finish/"), headers=self.headers)

    def way_back(self) -> str:
        """The address that leads back to the site which has sent the person; empty where there is none."""
        reply = self.participant.connection.post(urljoin(self.entry, "way-out/"), headers=self.headers)
        return str(reply.json()["address"])

    def _picture(self, position: int, showing: int) -> tuple[TruePicture, str]:
        """A picture, and what the reply says of the options of its trial."""
        url = urljoin(self.api, f"trials/{position}/stimulus/{showing}/")
        reply = self.participant.connection.get(url, headers=self.headers)
        digest = hashlib.sha256(reply.content).hexdigest()
        try:
            return self.participant.truth[digest], reply.headers.get("Trial-Options", "")
        except KeyError:
            raise ParticipationFailed(f"trial {position}: these bytes are not in the stimulus manifest") from None

    @staticmethod
    def _response(position: int, answer: Answer, timing: Mapping[str, Any]) -> dict[str, Any]:
        clicks = [] if answer.rt_ms is None else [{"choice": answer.response, "t_ms": answer.rt_ms, "input": "pointer"}]
        return {
            "position": position,
            "response": answer.response,
            "rt_ms": answer.rt_ms,
            "clicks": clicks,
            "simulated": True,
            "timing": dict(timing),
        }

    def _timing(self, position: int, answer: Answer, protocol: Mapping[str, Any]) -> dict[str, Any]:
        rng = random_stream(0, self.participant.name, position, "frames")
        frame_ms = 1000 / 60
        frames = round(protocol["stimulus_ms"] / frame_ms)
        dropped = int(rng.random() < 0.004)
        return {
            "t_refresh_median_ms": frame_ms,
            "t_refresh_mad_ms": 0.05,
            "frames_target": frames,
            "frames_shown": frames + dropped,
            "dur_stim_ms": (frames + dropped) * frame_ms,
            "dur_stim_taken_ms": (frames + dropped) * frame_ms,
            "dur_mask_ms": round(protocol["mask_ms"] / frame_ms) * frame_ms,
            "dur_fix_ms": round(protocol["fixation_ms"] / frame_ms) * frame_ms,
            "isi_frames": protocol["blank_frames"],
            "isi_frames_target": protocol["blank_frames"],
            "dur_isi_taken_ms": protocol["blank_frames"] * frame_ms,
            "max_frame_gap_ms": (1 + dropped) * frame_ms,
            "n_long_frames": dropped,
            "callback_lag_max_ms": 1.0,
            "fullscreen": True,
            "dpr": 1.0,
            "css_px": protocol["size_px"],
            "canvas_px": protocol["size_px"],
            **self._untimed(answer),
        }

    @staticmethod
    def _untimed(answer: Answer) -> dict[str, Any]:
        """What is recorded of every trial, also where nothing is shown for an exact time."""
        return {
            "visible_whole_trial": True,
            "focused_whole_trial": True,
            "resized": False,
            "decode_ok": True,
            "n_clicks": int(answer.rt_ms is not None),
            "engine_version": "simulated",
        }

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "X-Lease": self.lease}

    def _get(self, path: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.participant.connection.get(urljoin(self.api, path), headers=self.headers).json()
        return answer

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        reply = self.participant.connection.post(urljoin(self.api, path), json=body, headers=self.headers)
        answer: dict[str, Any] = reply.json()
        return answer
