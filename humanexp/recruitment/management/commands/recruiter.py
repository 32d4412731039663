from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from humanexp.core import clock
from humanexp.ledger.budgets import launchers_of, month_budget, set_launchers, set_month_cap
from humanexp.recruiters import money, registry
from humanexp.recruiting.accounts import CheckReport, begin_check, continue_check, price_of_check, stop_check
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
        check.add_argument("--stop", action="store_true", help="nobody else may begin; whoever has is paid")
        check.add_argument("--json", type=Path, metavar="FILE", help="write what was seen there, too")

    def handle(self, *args: Any, **options: Any) -> None:
        (self._spending if options["act"] == "spending" else self._check)(options)

    def _spending(self, options: dict[str, Any]) -> None:
        to = options["to"]
        with transaction.atomic():
            if options["limit"]:
                set_month_cap(environment=to, cap_cents=money.cap(options["limit"]), by=None)
            if options["everybody"] or options["launchers"] is not None:
                names = options["launchers"] or []
                set_launchers(code=to, usernames=names, is_open=options["everybody"], by=None)
        who, month = launchers_of(to), month_budget(to)
        limit = "no limit" if month.cap_cents is None else f"at most {money.shown(month.cap_cents, month.currency)}"
        names = ", ".join(who.usernames) or "nobody else"
        self.stdout.write(
            f"{to}: {limit} in a month, {money.shown(month.committed_cents, month.currency)} promised in this one; "
            f"{'everybody' if who.is_open else f'treasurers, administrators and {names}'} may launch"
        )

    def _check(self, options: dict[str, Any]) -> None:
        study, to = self.study(options["study"]), options["to"]
        currency = registry.currency_of(to)
        campaign = study.campaigns.filter(environment=to).first()
        if campaign is None:
            spend = money.cents(options["spend"])
            price = price_of_check(study=study, to=to, spend_cents=spend)
            self.stdout.write(
                f"{price.quoted.assignments} places at {money.shown(price.quoted.reward_cents, currency)} and one "
                f"bonus: {money.shown(price.total_cents, currency)} with fees"
            )
            if not options["confirm_total"]:
                raise CommandError(
                    f"Nothing was launched. To pay that, repeat with --confirm-total {price.total_cents / 100:.2f}"
                )
            confirmed = money.cents(options["confirm_total"])
            begin_check(study=study, to=to, spend_cents=spend, confirm_total_cents=confirmed, by=None)
            self.stdout.write("Launched. Repeat this command after some minutes, until it says that the check is over.")
            return
        look = stop_check if options["stop"] else continue_check
        found = look(campaign=campaign, by=None)
        seen = {
            "bonus_seen_after_s": found.bonus_seen_after_s,
            "stop_ends_in": found.stop_ends_in or None,
            "rejection_reopens": found.rejection_reopens,
            **found.findings,
        }
        self.stdout.write(f"submitted {found.submitted}, approved {found.approved}")
        for name, sentence in _SENTENCES.items():
            if name in seen:
                self.stdout.write(f"{sentence}: {_words(seen[name])}")
        if options["json"]:
            told = {"account": to, "asked_at": clock.now().isoformat(), "is_over": found.is_over, "seen": seen}
            options["json"].write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
            self.stdout.write(f"Written to {options['json']}; nobody is named there.")
        self.stdout.write("The check is over." if found.is_over else f"Not over yet: {_waits_for(found)}")


#: By what was asked; a person reads them.
_SENTENCES = {
    "bonus_seen_after_s": "a bonus shows in its list after so many seconds",
    "stop_ends_in": "STOP with a free place ends in",
    "rejection_reopens": "a rejection under review reopens the study by itself",
    "currency_code": "the account pays in",
    "status_words_taken": "the list takes the words for states that we send",
    "other_status_words_refused": "it refuses a word that its interface does not name",
    "ordering_taken": "the list takes the order that we ask for",
    "other_orderings_refused": "it refuses an order that its interface does not name",
    "order_of_list": "the list then comes",
    "bonuses_in_list": "the list of a study's submissions names their bonuses",
    "after_no_consent": "who comes back without having agreed is then",
}


def _waits_for(found: CheckReport) -> str:
    if not found.submitted:
        return "nobody has finished. Repeat this command once somebody has."
    if found.bonus_seen_after_s is None:
        return (
            "no bonus shows in its list. It is looked for 2, 5 and 15 minutes after it was sent, then hourly; repeat."
        )
    return "the study is still being stopped. Repeat this command."


def _words(seen: object) -> str:
    if seen is None:
        return "not seen yet"
    if isinstance(seen, bool):
        return "yes" if seen else "no"
    if isinstance(seen, dict) and "status" in seen:
        return f"{seen['status']}, {'asked' if seen['return_requested'] else 'not asked'} to return the place"
    if isinstance(seen, dict):
        refused = [word for word, is_taken in seen.items() if not is_taken]
        return f"all but {', '.join(refused)}" if refused else "yes"
    return str(seen)
