"""Before a launch: addresses, materials, the recruiter's account, the job runner, and a participant from end to end."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import requests
from django.conf import settings
from django.urls import reverse

from humanexp.addresses import is_loopback
from humanexp.console import scripted_participants
from humanexp.console.preflight.check import Launch, check
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, KeysRefused, RecruiterError
from humanexp.core.problems import Problem, bad, good, warn
from humanexp.core.storage import current_path
from humanexp.entry.pages import preview_entry
from humanexp.jobs.selectors import silence
from humanexp.ledger.budgets import month_budget
from humanexp.ledger.payments import free_sessions
from humanexp.participation import previews
from humanexp.participation.answers import mask_png
from humanexp.participation.models import Preview
from humanexp.recruiters import money, registry
from humanexp.recruiters.registry import recruiter_for
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.participant import OpenSession, ParticipationFailed, PatientConnection, ScriptedParticipant
from humanexp.simulation.personas import personas
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


@check("Recruiter's account")
def account(launch: Launch) -> Problem:
    if not launch.can.vouches:
        return good("No money goes through a plain link.")
    settings_page = "An administrator repairs the account on the page Recruiters."
    try:
        launch.balance_cents = recruiter_for(launch.to).balance_cents()
    except KeysRefused as error:
        return bad(error.message, settings_page)
    except RecruiterError as error:
        return bad(error.message, "Check that the recruiter runs and answers, then check again.")
    total, held = launch.price.total_cents, launch.balance_cents
    currency = launch.price.currency
    numbers = {
        "held": money.shown(held or 0, currency),
        "total": money.shown(total, currency),
        "places": launch.price.assignments,
    }
    if held is not None and held < total:
        return bad(
            "The account holds {held}; all {places} places cost {total} with fees.".format(**numbers),
            "Add money to the account, or plan fewer places or a lower reward.",
            url=f"{reverse('recruitment:recruit', args=[launch.study.slug])}?to={launch.to}",
            button="Recruit",
        )
    left = month_budget(launch.to).left_cents
    if left is not None and left < total:
        return bad(
            "The account may spend {left} more this month; all {places} places cost {total} with fees.".format(
                **numbers, left=money.shown(left, currency)
            ),
            "A treasurer or an administrator sets its limit on its page.",
            url=reverse("console:account", args=[launch.to]),
            button="Open the account",
        )
    if held is None:
        return good("The keys are accepted.")
    return good("The keys are accepted; {held} cover {total} for all {places} places.".format(**numbers))


@check("Job runner")
def job_runner(launch: Launch) -> Problem:
    found = silence()
    if found is None:
        return good("Runs.")
    say = bad if launch.can.vouches else warn
    return say(
        "No job runner has reported for a minute, so no one would be paid."
        if found.nobody_is_paid
        else "The job runner does no long work: no analysis would be made.",
        "Start one: python manage.py run_jobs",
        url=reverse("jobs:jobs"),
        button="Jobs",
    )


@check("Dry run")
def dry_run(launch: Launch) -> Problem:
    """Scripted participants take planned sessions over HTTP, through the calls that people's pages make."""
    slots = sorted({0, launch.study.planned_sessions - 1})
    trials = 0
    for slot in slots:
        try:
            trials += _take(launch, slot)
        except ParticipationFailed as error:
            return bad(
                f"A scripted participant could not finish session {slot + 1}: {error}.",
                "Take the session yourself and see where it stops.",
                url=reverse("console:preview", args=[launch.study.slug]),
                button="Take it yourself",
            )
    numbers = {"n": len(slots), "trials": trials}
    return good("{n} sessions were taken to their end, {trials} trials; nothing of them is stored.".format(**numbers))


def _take(launch: Launch, slot: int) -> int:
    """How many trials were answered. The preview's row goes with its end, or with its failure."""
    preview = previews.open_preview(study=launch.study, by=None, slot=slot, is_hurried=True)
    try:
        # Nobody waits for a server that is not there: that is what the check is to find out.
        http = PatientConnection(tries=2)
        api = settings.PUBLIC_URL + reverse("participation:preview-session").removesuffix("session/")
        code = previews.issue_preview_handoff(preview=preview)
        token = http.post(f"{api}handoff/", json={"code": code}).json()["token"]
        observers = ObserverModel(curves=DEMO_CURVES, seed=slot)
        person = ScriptedParticipant(
            persona=personas(observers, slot, launch.study.space)["careful"],
            truth=scripted_participants.true_pictures(launch.study),
            name=f"dry-{os.getpid()}-{slot}",
            connection=http,
        )
        sitting = DryRun(participant=person, entry=api, api=api, token=token)
        done = sitting.answer_all()
        if done.get("state") != "completed":
            raise ParticipationFailed("the session does not end")
        return sitting.answered
    finally:
        Preview.objects.filter(pk=preview.pk).delete()


@dataclass(kw_only=True)
class DryRun(OpenSession):
    """A sitting in a preview, which takes answers as a researcher's."""

    answered: int = 0

    def send(self, response: Any) -> dict[str, Any]:
        self.answered += 1
        return super().send({**response, "simulated": False})
