"""Does the machinery run: the recruiter's account, the job runner, and the whole way of a participant?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse

from humanexp.console import scripted
from humanexp.console.preflight.check import Launch, check
from humanexp.core.errors import KeysRefused, RecruiterError
from humanexp.core.problems import Problem, bad, good, warn
from humanexp.jobs.selectors import silence
from humanexp.ledger.budgets import month_budget
from humanexp.participation import previews
from humanexp.participation.models import Preview
from humanexp.recruiters import money
from humanexp.recruiters.registry import recruiter_for
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.participant import OpenSession, ScriptedParticipant
from humanexp.simulation.personas import personas
from humanexp.simulation.workers import ParticipationFailed, PatientConnection


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
            persona=personas(observers, slot)["careful"],
            truth=scripted.true_pictures(launch.study),
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
