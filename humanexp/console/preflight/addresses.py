"""Can people reach the study, and may the recruiter show it?"""

from __future__ import annotations

from datetime import timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import requests
from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from humanexp.addresses import is_loopback
from humanexp.console.preflight.check import Launch, Line, bad, check, good, warn
from humanexp.core import clock
from humanexp.entry.pages.take import preview_entry
from humanexp.recruiters import registry

PATIENCE_S = 10
#: Signed requests are refused from five minutes on; a clock that is off by less is worth knowing about.
SKEW_NOTED, SKEW_REFUSED = timedelta(seconds=30), timedelta(minutes=5)


@check(gettext_lazy("Address"))
def address(launch: Launch) -> Line:
    url = settings.PUBLIC_URL
    if url.startswith("https://"):
        return good(_("%(url)s is encrypted.") % {"url": url})
    remedy = _("Put a TLS proxy in front and set PUBLIC_URL=https://...")
    if launch.can.needs_https:
        detail = _("%(url)s is not https: %(where)s shows no such page.")
        return bad(detail % {"url": url, "where": registry.name_of(launch.to)}, remedy)
    if not launch.is_at_home:
        return bad(_("%(url)s is not https: answers would travel in the clear.") % {"url": url}, remedy)
    if not launch.can.vouches:
        return warn(_("%(url)s can be opened only on this machine.") % {"url": url}, remedy)
    if not is_loopback(urlsplit(launch.recruiter_address).hostname or ""):
        detail = _("The recruiter is elsewhere, and %(url)s can be opened only on this machine.")
        return bad(detail % {"url": url}, remedy)
    return good(_("Study and recruiter are both on this machine: a rehearsal."))


@check(gettext_lazy("Entry page"))
def entry_page(launch: Launch) -> Line:
    """The page itself, fetched as a browser does, through whatever stands in front of this server."""
    name = preview_entry(study=launch.study, to=launch.to)
    url = settings.PUBLIC_URL + reverse("recruitment:take", args=[name])
    try:
        reply = requests.get(url, timeout=PATIENCE_S, allow_redirects=False)
    except requests.RequestException as error:
        return bad(
            _("Nothing answers at %(url)s (%(why)s).") % {"url": settings.PUBLIC_URL, "why": type(error).__name__},
            _("Start the web server, and check that PUBLIC_URL leads to it."),
        )
    if reply.status_code != 200:
        return bad(
            _("The entry page answers %(status)d instead of showing itself.") % {"status": reply.status_code},
            _("Check that PUBLIC_URL leads to this installation, and that both have the same SECRET_KEY."),
        )
    if not registry.kind_of(launch.to).frames:
        return good(_("Answers."))
    return _framing(launch, reply)


def _framing(launch: Launch, reply: requests.Response) -> Line:
    """A proxy that adds a header of its own is what most often keeps a page out of its frame."""
    remedy = _("Take the header out where the proxy adds it; the application sends the right one.")
    if "X-Frame-Options" in reply.headers:
        value = reply.headers["X-Frame-Options"]
        return bad(_("X-Frame-Options: %(value)s forbids every frame.") % {"value": value}, remedy)
    allowed = _ancestors(reply.headers.get("Content-Security-Policy", ""))
    wanted = registry.kind_of(launch.to).origins
    if allowed is not None and not set(wanted) <= set(allowed):
        detail = _("The page may be framed by %(allowed)s, not by %(wanted)s.")
        return bad(detail % {"allowed": ", ".join(allowed) or "-", "wanted": ", ".join(wanted)}, remedy)
    return good(_("Answers, and may be shown in frames of %(origins)s.") % {"origins": ", ".join(wanted)})


def _ancestors(policy: str) -> list[str] | None:
    """Sources of frame-ancestors; None where the policy does not speak of it."""
    for directive in policy.split(";"):
        words = directive.split()
        if words[:1] == ["frame-ancestors"]:
            return words[1:]
    return None


@check(gettext_lazy("Clocks"))
def clocks(launch: Launch) -> Line:
    if not launch.can.vouches:
        return good(_("A plain link asks no other clock."))
    try:
        reply = requests.head(launch.recruiter_address, timeout=PATIENCE_S, allow_redirects=False)
        theirs = parsedate_to_datetime(reply.headers["Date"])
    except (requests.RequestException, KeyError, ValueError):
        return bad(
            _("The recruiter does not answer at %(url)s.") % {"url": launch.recruiter_address},
            _("Check the address in the settings, and that the recruiter runs."),
        )
    skew = abs(clock.now() - theirs)
    seconds = {"s": round(skew.total_seconds())}
    if skew >= SKEW_REFUSED:
        return bad(
            _("This machine's clock and the recruiter's are %(s)d s apart: signed requests are refused.") % seconds,
            _("Let this machine set its clock by a time server (NTP)."),
        )
    if skew >= SKEW_NOTED:
        return warn(_("This machine's clock and the recruiter's are %(s)d s apart.") % seconds, _("Switch NTP on."))
    return good(_("This machine's clock and the recruiter's agree."))
