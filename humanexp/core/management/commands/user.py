from __future__ import annotations

import getpass
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from humanexp.core import accounts, sealing, selectors
from humanexp.core.accounts import (
    entry_link,
    invite,
    make_account,
    reset_second_factor,
    set_active,
    set_house_role,
    set_password,
)
from humanexp.core.commands import RefusableCommand
from humanexp.core.models import HouseRole, User


class Command(RefusableCommand):
    help = "Make, close, open and list researchers' accounts, and let somebody choose a new password."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="add|disable|enable|...")
        add = acts.add_parser("add", help="make an account; prints a link with which its owner chooses a password")
        add.add_argument("username")
        add.add_argument("--email", default="", help="where a new password can be asked for, if mail is set up")
        told = "administrators may do everything; treasurers set who may spend through which recruiter, and how much"
        add.add_argument("--role", choices=HouseRole.values, default=HouseRole.MEMBER, help=told)
        add.add_argument("--days", type=int, default=accounts.VALID_DAYS, help="how long the link is good")
        role = acts.add_parser("role", help="make somebody a member, a treasurer or an administrator")
        role.add_argument("username")
        role.add_argument("role", choices=HouseRole.values)
        reset = acts.add_parser("reset-password", help="a link with which the owner chooses another password")
        reset.add_argument("username")
        for act in (add, reset):
            act.add_argument("--prompt", action="store_true", help="ask for the password here instead of a link")
        lost = acts.add_parser("reset-second-factor", help="for an owner who has lost theirs: take every one away")
        lost.add_argument("username")
        for name, told in (("disable", "nobody can sign in with it; what it did stays"), ("enable", "open it again")):
            acts.add_parser(name, help=told).add_argument("username")
        acts.add_parser("list", help="every account")

    def handle(self, *args: Any, **options: Any) -> None:
        self._warn_of_keys()
        match options["act"]:
            case "add":
                self._add(options)
            case "reset-password":
                self._reset(selectors.account(options["username"]), prompts=options["prompt"])
            case "disable":
                user = set_active(user=selectors.account(options["username"]), is_active=False)
                self.stdout.write(f"{user} cannot sign in any more.")
            case "enable":
                user = set_active(user=selectors.account(options["username"]), is_active=True)
                self.stdout.write(f"{user} can sign in again, with the password of before.")
            case "role":
                user = selectors.account(options["username"])
                set_house_role(user=user, role=HouseRole(options["role"]))
                self.stdout.write(f"{user} has the role {user.house_role.label} now.")
            case "reset-second-factor":
                user = selectors.account(options["username"])
                reset_second_factor(user=user)
                self.stdout.write(f"{user} has no second factor any more, and is signed out everywhere.")
            case _:
                self._list()

    def _add(self, options: dict[str, Any]) -> None:
        chosen = {"username": options["username"], "email": options["email"], "role": HouseRole(options["role"])}
        user = make_account(**chosen, password=_asked() if options["prompt"] else "")
        self.stdout.write(f"{user} has an account as {user.house_role.label}.")
        if not options["prompt"]:
            self._print_link(user, invite(user=user, valid_days=options["days"]), options["days"])

    def _reset(self, user: User, *, prompts: bool) -> None:
        if prompts:
            set_password(user=user, password=_asked())
            self.stdout.write(f"{user} has a new password; every browser is signed out.")
        elif not user.is_active:
            raise CommandError(f"{user} is disabled: python manage.py user enable {user}")
        else:
            self._print_link(user, entry_link(user=user), accounts.VALID_DAYS)

    def _print_link(self, user: User, link: str, days: int) -> None:
        self.stdout.write(
            f"Send {user} this link on a way that others do not read. Whoever opens it chooses the password; it works "
            f"once, for {days} days:"
        )
        self.stdout.write(link)

    def _list(self) -> None:
        for user in selectors.accounts():
            seen = f"{user.last_login:%Y-%m-%d}" if user.last_login else "never"
            facts = [str(user.house_role.label)] + ["disabled"] * (not user.is_active)
            if not user.has_usable_password():
                facts.append("has chosen no password yet")
            self.stdout.write(
                "\t".join([user.get_username(), user.email or "-", f"signed in {seen}", ", ".join(facts)])
            )

    def _warn_of_keys(self) -> None:
        """Accounts are made under any key; whoever restores an installation is still warned."""
        try:
            fault = sealing.fault_of_key()
        except DatabaseError as error:
            raise CommandError(f"The database cannot be asked: {error}") from error
        if fault:
            self.stderr.write(f"{fault} {sealing.REMEDY}")


def _asked() -> str:
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise CommandError("The two passwords differ: nothing was changed.")
    if not password:
        raise CommandError("A password is needed: nothing was changed.")
    return password
