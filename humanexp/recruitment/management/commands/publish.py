from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from analysis.spec.terms import WorkerRequirements
from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.management.base import StudyCommand
from humanexp.recruitment.models import Environment
from humanexp.recruitment.recruiters import capabilities_of
from humanexp.recruitment.services.deliveries import entry_url


class Command(StudyCommand):
    help = "Launch a study: show the exact cost, then publish its HITs, or open its link."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--to", required=True, choices=Environment.values, help="where people are found")
        parser.add_argument("--assignments", metavar="N", type=int, help="places (default: every free session)")
        parser.add_argument("--reward", metavar="DOLLARS", help="reward of one assignment, like 1.20")
        parser.add_argument("--unpaid", action="store_true", help="people get nothing for it, and that is meant")
        parser.add_argument("--per-hit", metavar="N", type=int, help="places of one HIT (default 9: lower fee)")
        parser.add_argument("--minutes", metavar="N", type=int, help="what people are told it takes")
        parser.add_argument("--contact", default="", help="whom people can write to (default: the study's)")
        parser.add_argument("--cap", metavar="DOLLARS", help="most the campaign may ever cost (default: its price)")
        parser.add_argument("--approval", metavar="PERCENT", type=int, help="minimum approval rate of a worker")
        parser.add_argument("--approved-hits", metavar="N", type=int, help="least number of a worker's work approved")
        parser.add_argument("--countries", metavar="CC[,CC...]", default="", help="where workers live, like US,DE")
        parser.add_argument("--adult", action="store_true", help="workers who say to be 18 or older")
        parser.add_argument("--masters", action="store_true", help="Amazon's Masters alone; five percent more")
        parser.add_argument("--qualifies", metavar="FAMILY", help="a paid qualification: who passes may do that family")
        parser.add_argument(
            "--needs-qualification",
            action="store_true",
            help="only for workers who passed the family's paid qualification",
        )
        parser.add_argument(
            "--shared-computers", action="store_true", help="a class or a lab: browsers keep nothing to go on with"
        )
        parser.add_argument(
            "--skip-preflight", action="store_true", help="launch unchecked; on a link or the own marketplace alone"
        )
        parser.add_argument("--confirm-total", metavar="DOLLARS", help="the exact total; needed where money is real")

    def handle(self, *args: Any, **options: Any) -> None:
        study, to = self.study(options["study"]), options["to"]
        suggested = selectors.suggested_terms(study)
        assignments = suggested.assignments if options["assignments"] is None else options["assignments"]
        is_paid = capabilities_of(to).pays and not options["unpaid"]
        suggestion = suggested.reward_cents if is_paid else 0
        reward = money.cents(options["reward"]) if options["reward"] else suggestion
        terms = {
            "to": to,
            "assignments": assignments,
            "reward_cents": reward,
            "assignments_per_hit": options["per_hit"],
        }
        requirements = WorkerRequirements(
            approval_percent=options["approval"],
            hits_approved=options["approved_hits"],
            countries=tuple(filter(None, options["countries"].split(","))),
            adult=options["adult"],
            masters=options["masters"],
        )
        price = services.quote(**terms, masters=requirements.masters)
        self.stdout.write(
            f"{assignments} places; nobody is paid"
            if not reward
            else f"{assignments} places in {len(price.hit_sizes)} HITs at ${money.dollars(reward)}: rewards "
            f"${money.dollars(price.rewards_cents)} + fees ${money.dollars(price.fees_cents)} "
            f"= ${money.dollars(price.total_cents)}"
        )
        campaign = services.publish(
            study=study,
            **terms,
            unpaid=options["unpaid"],
            estimated_minutes=options["minutes"],
            contact=options["contact"],
            cap_cents=money.cents(options["cap"]) if options["cap"] else None,
            confirm_total_cents=money.cents(options["confirm_total"]) if options["confirm_total"] else None,
            requirements=requirements,
            qualifies=self.family(options["qualifies"]) if options["qualifies"] else None,
            needs_qualification=options["needs_qualification"],
            skip_preflight=options["skip_preflight"],
            shared_computers=options["shared_computers"],
        )
        self.stdout.write(f"entry: {entry_url(campaign)}")
        self.send_to([to])
