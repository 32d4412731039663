"""HTTP that survives a restarting server, as the participant's page and a patient person do."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

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
