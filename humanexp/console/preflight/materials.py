"""Before a launch: addresses and materials."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from email.utils import parsedate_to_datetime
from io import BytesIO
from urllib.parse import urlsplit

import requests
from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from humanexp.addresses import is_loopback
from humanexp.console.preflight.check import Launch, Line, bad, check, good, warn
from humanexp.core import clock
from humanexp.core.errors import ApplicationError
from humanexp.core.storage import current_path
from humanexp.entry.pages.take import preview_entry
from humanexp.ledger.payments import free_sessions
from humanexp.participation.pictures import mask_png
from humanexp.recruiters import registry
from humanexp.stimuli.models import Stimulus
from humanexp.studies.pages.power import power_page
from humanexp.studies.plans import plan_head, planned_stimuli
from humanexp.studies.power import planned_answers
from humanexp.studies.selectors import estimates_of

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


#: Pictures that are opened, spread evenly over the names of those that the plan shows.
SAMPLE = 48
MASKS = 3


@check(gettext_lazy("Plan"))
def plan(launch: Launch) -> Line:
    study = launch.study
    change = reverse("studies:change", args=[study.slug])
    try:
        planned = planned_stimuli(study)
    except ApplicationError as error:
        return bad(error.message, _("Or make a new version of the study."), url=change, action=_("Change it"))
    known = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, key__in=planned).count()
    if known < len(planned):
        lost = {"n": len(planned) - known}
        return bad(
            _("%(n)d pictures of the plan are no longer in the stimulus set.") % lost,
            _("Make a new version of the study, which gets a new plan."),
            url=change,
            action=_("Change it"),
        )
    free = free_sessions(study)
    if not free:
        return bad(
            _("Every planned session is taken or promised."),
            _("Make a new version with more sessions."),
            url=change,
            action=_("Change it"),
        )
    notes = plan_head(study)["notes"]
    if notes:
        return warn(" ".join(notes), _("Decide whether you can live with it."), url=change, action=_("Change it"))
    counts = {"n": free, "pictures": len(planned)}
    return good(_("%(n)d sessions are free; the plan shows %(pictures)d pictures, and the originals suffice.") % counts)


@check(gettext_lazy("What it could show"))
def power(launch: Launch) -> Line:
    """How often this size would say that a model matches people: told before anybody is invited."""
    study = launch.study
    if planned_answers(study) is None:
        return good(_("No two curves are compared; what the size of the study could show is not simulated."))
    page = power_page(estimates_of(study).first())
    url = reverse("studies:power", args=[study.slug])
    if page is None:
        return warn(
            _("The power of a study of this size has not been simulated; a model like people may stay undecided."),
            _("Simulate its power before money is spent."),
            url=url,
            action=_("Simulate its power"),
        )
    told = " ".join((*page.on_models, page.on_equal_corruptions))
    if page.is_outdated or not page.on_models:
        return warn(told, _("This was another design: simulate it again."), url=url, action=_("Simulate its power"))
    return good(told)


@check(gettext_lazy("Stimuli"))
def stimuli(launch: Launch) -> Line:
    """A sample is opened as the browser will: the bytes are those of the record, and decode in the protocol's size."""
    from PIL import Image, UnidentifiedImageError

    names = sorted(planned_stimuli(launch.study))
    sample = names[:: max(1, len(names) // SAMPLE)][:SAMPLE]
    found = Stimulus.objects.filter(stimulus_set_id=launch.study.stimulus_set_id, key__in=sample)
    side = launch.configuration.protocol.size_px
    faults = []
    for key, file, sha256 in found.values_list("key", "file", "sha256"):
        try:
            content = current_path(file).read_bytes()
            with Image.open(BytesIO(content)) as picture:
                picture.load()
                size = picture.size
        except FileNotFoundError:
            faults.append(_("%(key)s is missing") % {"key": key})
            continue
        except (UnidentifiedImageError, OSError):
            faults.append(_("%(key)s cannot be opened") % {"key": key})
            continue
        if hashlib.sha256(content).hexdigest() != sha256:
            faults.append(_("%(key)s was changed") % {"key": key})
        elif size != (side, side):
            faults.append(_("%(key)s is %(width)d x %(height)d px") % {"key": key, "width": size[0], "height": size[1]})
    if faults:
        detail = _("Of %(n)d sampled stimuli %(bad)d are not as recorded: %(which)s.")
        return bad(
            detail % {"n": len(sample), "bad": len(faults), "which": ", ".join(faults[:3])},
            _("Restore the files from the backup, or generate the set again; verify_stimuli looks at all of them."),
            url=reverse("stimuli:stimulus_sets"),
            action=_("Stimuli"),
        )
    counts = {"n": len(sample), "all": len(names), "px": side}
    return good(_("%(n)d of %(all)d open in %(px)d px with the recorded digest.") % counts)


@check(gettext_lazy("Noise masks"))
def masks(launch: Launch) -> Line:
    from PIL import Image

    protocol = launch.configuration.protocol
    if launch.study.is_validation or protocol.mask_ms == 0:
        return good(_("This study shows none."))
    for seed in range(MASKS):
        with Image.open(BytesIO(mask_png(seed=seed, protocol=protocol))) as mask:
            mask.load()
            if mask.size != (protocol.size_px, protocol.size_px) or mask.getextrema()[0] == mask.getextrema()[1]:
                return bad(
                    _("A mask of %(size)s px is not the noise that was asked for.") % {"size": mask.size},
                    _("Check the protocol of the study."),
                    url=reverse("studies:change", args=[launch.study.slug]),
                    action=_("Change it"),
                )
    return good(_("Drawn in %(px)d px.") % {"px": protocol.size_px})
