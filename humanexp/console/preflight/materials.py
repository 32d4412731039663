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

from humanexp.addresses import is_loopback
from humanexp.console.preflight.check import Launch, check
from humanexp.core import clock
from humanexp.core.errors import ApplicationError
from humanexp.core.problems import Problem, bad, good, warn
from humanexp.core.storage import current_path
from humanexp.entry.pages import preview_entry
from humanexp.ledger.payments import free_sessions
from humanexp.participation.answers import mask_png
from humanexp.recruiters import registry
from humanexp.stimuli.models import Stimulus
from humanexp.studies.pages.power import power_page
from humanexp.studies.plans import plan_head, planned_stimuli
from humanexp.studies.power import planned_answers
from humanexp.studies.selectors import estimates_of

PATIENCE_S = 10
#: Signed requests are refused from five minutes on; a clock that is off by less is worth knowing about.
SKEW_NOTED, SKEW_REFUSED = timedelta(seconds=30), timedelta(minutes=5)


@check("Address")
def address(launch: Launch) -> Problem:
    url = settings.PUBLIC_URL
    if url.startswith("https://"):
        return good(f"{url} is encrypted.")
    remedy = "Put a TLS proxy in front and set PUBLIC_URL=https://..."
    if launch.can.needs_https:
        detail = "%(url)s is not https: %(where)s shows no such page."
        return bad(detail % {"url": url, "where": registry.name_of(launch.to)}, remedy)
    if not launch.is_at_home:
        return bad(f"{url} is not https: answers would travel in the clear.", remedy)
    if not launch.can.vouches:
        return warn(f"{url} can be opened only on this machine.", remedy)
    if not is_loopback(urlsplit(launch.recruiter_address).hostname or ""):
        detail = "The recruiter is elsewhere, and %(url)s can be opened only on this machine."
        return bad(detail % {"url": url}, remedy)
    return good("Study and recruiter are both on this machine: a rehearsal.")


@check("Entry page")
def entry_page(launch: Launch) -> Problem:
    """The page itself, fetched as a browser does, through whatever stands in front of this server."""
    name = preview_entry(study=launch.study, to=launch.to)
    url = settings.PUBLIC_URL + reverse("recruitment:take", args=[name])
    try:
        reply = requests.get(url, timeout=PATIENCE_S, allow_redirects=False)
    except requests.RequestException as error:
        return bad(
            f"Nothing answers at {settings.PUBLIC_URL} ({type(error).__name__}).",
            "Start the web server, and check that PUBLIC_URL leads to it.",
        )
    if reply.status_code != 200:
        return bad(
            f"The entry page answers {reply.status_code} instead of showing itself.",
            "Check that PUBLIC_URL leads to this installation, and that both have the same SECRET_KEY.",
        )
    if not registry.kind_of(launch.to).frames:
        return good("Answers.")
    return _framing(launch, reply)


def _framing(launch: Launch, reply: requests.Response) -> Problem:
    """A proxy that adds a header of its own is what most often keeps a page out of its frame."""
    remedy = "Take the header out where the proxy adds it; the application sends the right one."
    if "X-Frame-Options" in reply.headers:
        value = reply.headers["X-Frame-Options"]
        return bad(f"X-Frame-Options: {value} forbids every frame.", remedy)
    allowed = _ancestors(reply.headers.get("Content-Security-Policy", ""))
    wanted = registry.kind_of(launch.to).origins
    if allowed is not None and not set(wanted) <= set(allowed):
        detail = "The page may be framed by %(allowed)s, not by %(wanted)s."
        return bad(detail % {"allowed": ", ".join(allowed) or "-", "wanted": ", ".join(wanted)}, remedy)
    return good(f"Answers, and may be shown in frames of {', '.join(wanted)}.")


def _ancestors(policy: str) -> list[str] | None:
    """Sources of frame-ancestors; None where the policy does not speak of it."""
    for directive in policy.split(";"):
        words = directive.split()
        if words[:1] == ["frame-ancestors"]:
            return words[1:]
    return None


@check("Clocks")
def clocks(launch: Launch) -> Problem:
    if not launch.can.vouches:
        return good("A plain link asks no other clock.")
    try:
        reply = requests.head(launch.recruiter_address, timeout=PATIENCE_S, allow_redirects=False)
        theirs = parsedate_to_datetime(reply.headers["Date"])
    except (requests.RequestException, KeyError, ValueError):
        return bad(
            f"The recruiter does not answer at {launch.recruiter_address}.",
            "Check the address in the settings, and that the recruiter runs.",
        )
    skew = abs(clock.now() - theirs)
    seconds = {"s": round(skew.total_seconds())}
    if skew >= SKEW_REFUSED:
        return bad(
            "This machine's clock and the recruiter's are {s} s apart: signed requests are refused.".format(**seconds),
            "Let this machine set its clock by a time server (NTP).",
        )
    if skew >= SKEW_NOTED:
        return warn("This machine's clock and the recruiter's are {s} s apart.".format(**seconds), "Switch NTP on.")
    return good("This machine's clock and the recruiter's agree.")


#: Pictures that are opened, spread evenly over the names of those that the plan shows.
SAMPLE = 48
MASKS = 3


@check("Plan")
def plan(launch: Launch) -> Problem:
    study = launch.study
    change = reverse("studies:change", args=[study.slug])
    try:
        planned = planned_stimuli(study)
    except ApplicationError as error:
        return bad(error.message, "Or make a new version of the study.", url=change, button="Change it")
    known = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, key__in=planned).count()
    if known < len(planned):
        lost = {"n": len(planned) - known}
        return bad(
            "{n} pictures of the plan are no longer in the stimulus set.".format(**lost),
            "Make a new version of the study, which gets a new plan.",
            url=change,
            button="Change it",
        )
    free = free_sessions(study)
    if not free:
        return bad(
            "Every planned session is taken or promised.",
            "Make a new version with more sessions.",
            url=change,
            button="Change it",
        )
    notes = plan_head(study)["notes"]
    if notes:
        return warn(" ".join(notes), "Decide whether you can live with it.", url=change, button="Change it")
    counts = {"n": free, "pictures": len(planned)}
    return good(
        "{n} sessions are free; the plan shows {pictures} pictures, and the originals suffice.".format(**counts)
    )


@check("What it could show")
def power(launch: Launch) -> Problem:
    """How often this size would say that a model matches people: told before anybody is invited."""
    study = launch.study
    if planned_answers(study) is None:
        return good("No two curves are compared; what the size of the study could show is not simulated.")
    page = power_page(estimates_of(study).first())
    url = reverse("studies:power", args=[study.slug])
    if page is None:
        return warn(
            "The power of a study of this size has not been simulated; a model like people may stay undecided.",
            "Simulate its power before money is spent.",
            url=url,
            button="Simulate its power",
        )
    told = " ".join((*page.on_models, page.on_equal_corruptions))
    if page.is_outdated or not page.on_models:
        return warn(told, "This was another design: simulate it again.", url=url, button="Simulate its power")
    return good(told)


@check("Stimuli")
def stimuli(launch: Launch) -> Problem:
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
            faults.append(f"{key} is missing")
            continue
        except (UnidentifiedImageError, OSError):
            faults.append(f"{key} cannot be opened")
            continue
        if hashlib.sha256(content).hexdigest() != sha256:
            faults.append(f"{key} was changed")
        elif size != (side, side):
            faults.append(f"{key} is {size[0]} x {size[1]} px")
    if faults:
        detail = "Of %(n)d sampled stimuli %(bad)d are not as recorded: %(which)s."
        return bad(
            detail % {"n": len(sample), "bad": len(faults), "which": ", ".join(faults[:3])},
            "Restore the files from the backup, or generate the set again; verify_stimuli looks at all of them.",
            url=reverse("stimuli:stimulus_sets"),
            button="Stimuli",
        )
    counts = {"n": len(sample), "all": len(names), "px": side}
    return good("{n} of {all} open in {px} px with the recorded digest.".format(**counts))


@check("Noise masks")
def masks(launch: Launch) -> Problem:
    from PIL import Image

    protocol = launch.configuration.protocol
    if launch.study.is_validation or protocol.mask_ms == 0:
        return good("This study shows none.")
    for seed in range(MASKS):
        with Image.open(BytesIO(mask_png(seed=seed, protocol=protocol))) as mask:
            mask.load()
            if mask.size != (protocol.size_px, protocol.size_px) or mask.getextrema()[0] == mask.getextrema()[1]:
                return bad(
                    f"A mask of {mask.size} px is not the noise that was asked for.",
                    "Check the protocol of the study.",
                    url=reverse("studies:change", args=[launch.study.slug]),
                    button="Change it",
                )
    return good(f"Drawn in {protocol.size_px} px.")
