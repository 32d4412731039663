"""A scripted person of the practice panel: takes a place, follows the study's address, comes back with the code."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from urllib.parse import urljoin

from humanexp.simulation.connection import ParticipationFailed, PatientConnection

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
