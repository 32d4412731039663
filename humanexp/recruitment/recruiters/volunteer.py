"""Volunteers: people who find a study on this installation's public page, and take part without pay or account."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from humanexp.recruitment.recruiters.base import Capabilities
from humanexp.recruitment.recruiters.link import Link
from humanexp.recruitment.recruiters.tickets import Ticket

#: Not our own ground: strangers come, so that a launch passes the same gates as a paid one.
CAPABILITIES = Capabilities(pays=False, vouches=False, is_public=True)


class Volunteer(Link):
    """Offers and submissions are our own rows, as with a link; nobody comes with an id."""

    code, name, namespace = "volunteer", _("volunteers"), "volunteer"
    is_at_hand = False

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    def ticket(self, query: Mapping[str, str]) -> Ticket:
        return Ticket()  # whoever writes an id into the address is still nobody whom we know
