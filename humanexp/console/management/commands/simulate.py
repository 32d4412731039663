from __future__ import annotations

from functools import partial
from typing import Any

import requests
from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress

from humanexp.console import scripted_participants
from humanexp.console.scripted_participants import Connect, persona_mix, whole_number
from humanexp.core.commands import RefusableCommand
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.registry import kind_of
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.participant import ParticipationFailed, PatientConnection
from humanexp.simulation.personas import DEFAULT_MIX
from humanexp.studies.selectors import study_by_slug


class Command(RefusableCommand):
    help = "Let scripted participants take part in a published study, over HTTP, from its entry to the submitted form."
    #: what every participant and every worker's account speaks HTTP with
    connect: Connect = PatientConnection

    def add_arguments(self, parser: CommandParser) -> None:
        usual = ",".join(f"{name}={share}" for name, share in DEFAULT_MIX.items())
        parser.add_argument("study", metavar="STUDY", help="name of the study in addresses; its population is scripted")
        parser.add_argument("--participants", metavar="N", type=whole_number(1), required=True)
        parser.add_argument(
            "--mix", type=persona_mix, default=dict(DEFAULT_MIX), help=f"shares of the personas (default: {usual})"
        )
        parser.add_argument("--seed", metavar="S", type=whole_number(0), default=1, help="of their answers (default 1)")
        parser.add_argument(
            "--browser",
            action="store_true",
            help="through the real pages in Chromium, one after the other at their own pace (needs playwright)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        participants, seed = options["participants"], options["seed"]
        study = study_by_slug(options["study"])
        campaign = scripted_participants.open_campaign(study, participants)
        self._check_reachable(campaign)
        try:
            with Progress(console=Console(stderr=True), transient=True) as progress:
                task = progress.add_task("Scripted participants", total=participants)
                run = scripted_participants.run_in_browser
                if not options["browser"]:
                    run = partial(scripted_participants.run_participants, connect=self.connect)
                cast = run(
                    study=study,
                    campaign=campaign,
                    participants=participants,
                    mix=options["mix"],
                    seed=seed,
                    observers=ObserverModel(curves=DEMO_CURVES, seed=seed),
                    progress=lambda done, _: progress.update(task, completed=done),
                )
        except ParticipationFailed as error:
            raise CommandError(f"A scripted participant could not go on: {error}") from error
        kinds = ", ".join(f"{kind} {count}" for kind, count in cast.counts().items())
        self.stdout.write(f"{study.slug}: {participants} scripted participants took part ({kinds})")

    @staticmethod
    def _check_reachable(campaign: Campaign) -> None:
        """A server that does not run is told at once; one that goes away later is waited for."""
        sites = {"PUBLIC_URL": settings.PUBLIC_URL}
        if kind_of(campaign.environment).frames:
            sites["MARKETPLACE_URL"] = settings.MARKETPLACE_URL
        for setting, url in sites.items():
            try:
                requests.get(f"{url}/healthz", timeout=10).raise_for_status()
            except requests.RequestException as error:
                raise CommandError(
                    f"Nothing answers at {url}, which is {setting}: start that site, or set {setting} to its address."
                ) from error
