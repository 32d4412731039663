from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from humanexp.recruitment import money, recruiters, services
from humanexp.recruitment.management.base import RecruitmentCommand, recruiter_code


class Command(RecruitmentCommand):
    help = (
        "Check an account with one honest, paid study of a few minutes: `recruiter check NAME --study STUDY --spend 5` "
        "launches it once its total is typed; repeated, it pays whoever has come, and records what the recruiter does."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=["check"], help="what to do")
        parser.add_argument("to", type=recruiter_code, metavar="NAME", help="the account")
        parser.add_argument("--study", required=True, metavar="STUDY", help="a study of a few trials, not launched yet")
        parser.add_argument("--spend", metavar="AMOUNT", default="5.00", help="most that it may cost, fees included")
        parser.add_argument("--confirm-total", metavar="AMOUNT", help="the exact total, as the command states it")

    def handle(self, *args: Any, **options: Any) -> None:
        study, to = self.study(options["study"]), options["to"]
        currency = recruiters.currency_of(to)
        campaign = study.campaigns.filter(environment=to).first()
        if campaign is None:
            spend = money.cents(options["spend"])
            price = services.price_of_check(study=study, to=to, spend_cents=spend)
            self.stdout.write(
                f"{price.quoted.assignments} places at {money.shown(price.quoted.reward_cents, currency)} and one "
                f"bonus: {money.shown(price.total_cents, currency)} with fees"
            )
            confirmed = money.cents(options["confirm_total"]) if options["confirm_total"] else None
            services.begin_check(study=study, to=to, spend_cents=spend, confirm_total_cents=confirmed, by=None)
            self.stdout.write("Launched. Repeat this command after some minutes, until it says that the check is over.")
            return
        found = services.continue_check(campaign=campaign, by=None)
        self.stdout.write(f"submitted {found.submitted}, approved {found.approved}")
        self._say("a bonus shows in its list after", found.bonus_seen_after_s, " s")
        self._say("STOP with a free place ends in", found.stop_ends_in or None)
        self._say("a rejection under review reopens the study by itself", found.rejection_reopens)
        self.stdout.write("The check is over." if found.is_over else "Not over yet: repeat this command.")

    def _say(self, what: str, seen: object, unit: str = "") -> None:
        words = {True: "yes", False: "no", None: "not seen yet"}
        answer = words[seen] if seen is None or isinstance(seen, bool) else f"{seen}{unit}"
        self.stdout.write(f"{what}: {answer}")
