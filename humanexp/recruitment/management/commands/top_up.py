from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.management.base import StudyCommand


class Command(StudyCommand):
    help = "What an hour of a study's work has paid; with --confirm-total, bonuses that bring everybody to the floor."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--floor", metavar="DOLLARS", help="an hour's pay (default: WAGE_FLOOR_CENTS)")
        parser.add_argument("--confirm-total", metavar="DOLLARS", help="pay; the exact total that was told")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["study"])
        floor = money.cents(options["floor"]) if options["floor"] else None
        wage, plan = selectors.wage_of(study), selectors.top_up_plan(study, floor)
        hourly = "unpaid" if wage.hourly_median_cents is None else f"${money.dollars(wage.hourly_median_cents)} an hour"
        slow = wage.hourly_slow_cents
        self.stdout.write(
            f"median {wage.median_minutes:.1f} minutes (by {wage.source}), {hourly}"
            + ("" if slow is None else f"; a quarter under ${money.dollars(slow)}")
        )
        self.stdout.write(
            f"to ${money.dollars(plan.floor_cents)} an hour: {plan.people} people, ${money.dollars(plan.cents)} + fees "
            f"${money.dollars(plan.fee_cents)} = ${money.dollars(plan.total_cents)}; time unknown: {plan.unknown}"
        )
        if not options["confirm_total"]:
            return
        services.top_up(
            study=study, floor_cents=floor, confirm_total_cents=money.cents(options["confirm_total"]), by=None
        )
        self.send_to(row.environment for row in plan.rows)
