"""How scripted participants reach a site: connection, worker, panellist."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests

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
