from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from humanexp.ledger.decisions import top_up
from humanexp.ledger.wages import top_up_plan, wage_of
from humanexp.recruiters import money
from humanexp.recruitment.management.base import StudyCommand


class Command(StudyCommand):
    help = "What an hour of a study's work has paid; with --confirm-total, bonuses that bring everybody to the floor."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--floor", metavar="AMOUNT", help="an hour's pay (default: WAGE_FLOOR_CENTS)")
        parser.add_argument("--currency", choices=list(money.SIGNS), default="", help="default: the newest campaign's")
        parser.add_argument("--confirm-total", metavar="AMOUNT", help="pay; the exact total that was told")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["study"])
        floor = money.cents(options["floor"]) if options["floor"] else None
        of = options["currency"]
        wage, plan = wage_of(study, currency=of), top_up_plan(study, floor, of)
        median = wage.hourly_median_cents
        hourly = "unpaid" if median is None else f"{money.shown(median, wage.currency)} an hour"
        slow = wage.hourly_slow_cents
        self.stdout.write(
            f"median {wage.median_minutes:.1f} minutes (by {wage.source}), {hourly}"
            + ("" if slow is None else f"; a quarter under {money.shown(slow, wage.currency)}")
        )
        least, bonuses, fees, total = (
            money.shown(cents, plan.currency)
            for cents in (plan.floor_cents, plan.cents, plan.fee_cents, plan.total_cents)
        )
        self.stdout.write(
            f"to {least} an hour: {plan.people} people, {bonuses} + fees {fees} = {total}; time unknown: {plan.unknown}"
        )
        if not options["confirm_total"]:
            return
        top_up(
            study=study,
            floor_cents=floor,
            currency=of,
            confirm_total_cents=money.cents(options["confirm_total"]),
            by=None,
        )
        self.send_to(row.environment for row in plan.rows)
