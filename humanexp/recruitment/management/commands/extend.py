from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.recruiters import money
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.states import CampaignState
from humanexp.recruiting.extension import extend, prolong, quote_extension
from humanexp.recruitment.management.base import StudyCommand, price_words, recruiter_code


class Command(StudyCommand):
    help = "More places, or more days, for the campaign of a study that is recruiting; the exact cost is told first."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--to", type=recruiter_code, metavar="NAME", help="which campaign, where there are several")
        parser.add_argument("--places", metavar="N", type=int, help="so many more")
        parser.add_argument("--days", metavar="N", type=int, help="open so many days longer than now")
        parser.add_argument("--confirm-total", metavar="AMOUNT", help="the exact total; needed where money is real")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["places"] and not options["days"]:
            raise CommandError("Say how many --places or --days.")
        campaign = self._campaign(options)
        if options["places"]:
            price = quote_extension(campaign=campaign, places=options["places"])
            self.stdout.write(
                f"{options['places']} more places in {len(price.grown)} HITs that grow and {len(price.new_sizes)} new "
                f"ones: {price_words(price.quoted)}"
            )
            confirmed = money.cents(options["confirm_total"]) if options["confirm_total"] else None
            extend(campaign=campaign, places=options["places"], by=None, confirm_total_cents=confirmed)
        if options["days"]:
            prolong(campaign=campaign, days=options["days"], by=None)
        self.send_to([campaign.environment])

    def _campaign(self, options: dict[str, Any]) -> Campaign:
        live = Campaign.objects.filter(study=self.study(options["study"]), state=CampaignState.LIVE)
        if options["to"]:
            live = live.filter(environment=options["to"])
        found = list(live[:2])
        if len(found) != 1:
            raise CommandError(
                "Several campaigns are recruiting: name one by --to." if found else "None is recruiting."
            )
        return found[0]
