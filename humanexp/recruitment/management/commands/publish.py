from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from analysis.study.terms import WorkerRequirements
from humanexp.ledger.hit_calls import entry_url
from humanexp.ledger.terms import suggested_terms
from humanexp.recruiters import money
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruitment.management.base import StudyCommand, price_words, recruiter_code


class Command(StudyCommand):
    help = "Launch a study: show the exact cost, then publish its HITs, or open its link."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--to", required=True, type=recruiter_code, metavar="NAME", help="where people are found")
        parser.add_argument("--assignments", metavar="N", type=int, help="places (default: every free session)")
        parser.add_argument("--reward", metavar="AMOUNT", help="reward of one assignment, like 1.20")
        parser.add_argument("--unpaid", action="store_true", help="people get nothing for it, and that is meant")
        parser.add_argument("--per-hit", metavar="N", type=int, help="places of one HIT (default 9: lower fee)")
        parser.add_argument("--minutes", metavar="N", type=int, help="what people are told it takes")
        parser.add_argument("--contact", default="", help="whom people can write to (default: the study's)")
        parser.add_argument("--cap", metavar="AMOUNT", help="most the campaign may ever cost (default: its price)")
        parser.add_argument("--approval", metavar="PERCENT", type=int, help="minimum approval rate of a worker")
        parser.add_argument("--approved-hits", metavar="N", type=int, help="least number of a worker's work approved")
        parser.add_argument("--countries", metavar="CC[,CC...]", default="", help="where workers live, like US,DE")
        parser.add_argument("--adult", action="store_true", help="workers who say to be 18 or older")
        parser.add_argument("--masters", action="store_true", help="the recruiter's Masters alone; five percent more")
        parser.add_argument(
            "--compared-with",
            metavar="STUDY",
            default="",
            help="of volunteers: a study that is over, whose curves people see next to their own",
        )
        parser.add_argument(
            "--shared-computers", action="store_true", help="a class or a lab: browsers keep nothing to go on with"
        )
        parser.add_argument(
            "--skip-preflight", action="store_true", help="launch unchecked; where only the own house is at stake"
        )
        parser.add_argument("--confirm-total", metavar="AMOUNT", help="the exact total; needed where money is real")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["study"])
        terms = LaunchTerms(
            to=options["to"],
            assignments=options["assignments"],
            reward_cents=_cents(options["reward"]),
            unpaid=options["unpaid"],
            assignments_per_hit=options["per_hit"],
            estimated_minutes=options["minutes"],
            contact=options["contact"],
            cap_cents=_cents(options["cap"]),
            shared_computers=options["shared_computers"],
            requirements=WorkerRequirements(
                approval_percent=options["approval"],
                hits_approved=options["approved_hits"],
                countries=tuple(filter(None, options["countries"].split(","))),
                adult=options["adult"],
                masters=options["masters"],
            ),
            compared_with=options["compared_with"],
        )
        price = terms.price(suggested_terms(study))
        self.stdout.write(
            f"{price.assignments} places; nobody is paid"
            if not price.reward_cents
            else f"{price.assignments} places in {len(price.hit_sizes)} HITs at "
            f"{money.shown(price.reward_cents, price.currency)}: {price_words(price)}"
        )
        campaign = publish(
            study=study,
            terms=terms,
            confirm_total_cents=_cents(options["confirm_total"]),
            skip_preflight=options["skip_preflight"],
        )
        self.stdout.write(f"entry: {entry_url(campaign)}")
        self.send_to([campaign.environment])


def _cents(amount: str | None) -> int | None:
    return money.cents(amount) if amount else None
