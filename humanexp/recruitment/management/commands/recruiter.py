from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from humanexp.recruitment import money, recruiters, selectors, services
from humanexp.recruitment.management.base import RecruitmentCommand, recruiter_code


class Command(RecruitmentCommand):
    help = "Accounts with recruiters: who may spend through one and how much, and a check with one honest, paid study."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="spending|check")
        spending = acts.add_parser("spending", help="what it may spend in a calendar month, and who may launch on it")
        spending.add_argument("to", type=recruiter_code, metavar="NAME", help="the account")
        spending.add_argument(
            "--limit", metavar="AMOUNT", help="with fees, over all studies; none takes the limit away"
        )
        who = spending.add_mutually_exclusive_group()
        who.add_argument("--everybody", action="store_true", help="everybody with an account here may launch")
        who.add_argument("--launchers", metavar="USERNAME", nargs="*", help="these may, and nobody else")
        check = acts.add_parser(
            "check",
            help="launches a study of a few minutes once its total is typed; repeated, it pays whoever has come, and "
            "records what the recruiter does",
        )
        check.add_argument("to", type=recruiter_code, metavar="NAME", help="the account")
        check.add_argument("--study", required=True, metavar="STUDY", help="a study of a few trials, not launched yet")
        check.add_argument("--spend", metavar="AMOUNT", default="5.00", help="most that it may cost, fees included")
        check.add_argument("--confirm-total", metavar="AMOUNT", help="the exact total, as the command states it")

    def handle(self, *args: Any, **options: Any) -> None:
        (self._spending if options["act"] == "spending" else self._check)(options)

    def _spending(self, options: dict[str, Any]) -> None:
        to = options["to"]
        with transaction.atomic():
            if options["limit"]:
                services.set_month_cap(environment=to, cap_cents=money.cap(options["limit"]), by=None)
            if options["everybody"] or options["launchers"] is not None:
                names = options["launchers"] or []
                services.set_launchers(code=to, usernames=names, is_open=options["everybody"], by=None)
        who, month = selectors.launchers_of(to), selectors.month_budget(to)
        limit = "no limit" if month.cap_cents is None else f"at most {money.shown(month.cap_cents, month.currency)}"
        names = ", ".join(who.usernames) or "nobody else"
        self.stdout.write(
            f"{to}: {limit} in a month, {money.shown(month.committed_cents, month.currency)} promised in this one; "
            f"{'everybody' if who.is_open else f'treasurers, administrators and {names}'} may launch"
        )

    def _check(self, options: dict[str, Any]) -> None:
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
