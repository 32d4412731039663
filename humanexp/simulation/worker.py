"""A scripted worker's account on the marketplace: signs up, finds the HIT, accepts it, submits it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

from humanexp.simulation.connection import ParticipationFailed, PatientConnection

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
