"""The pre-flight check's question about notices: whether anyone hears of trouble."""

from __future__ import annotations

from django.urls import reverse

from humanexp.console.preflight.check import Launch, check
from humanexp.core import clock
from humanexp.core.problems import Problem, bad, good, warn
from humanexp.notices import delivery
from humanexp.notices.delivery import DeliveryFailed, ended, target_of, test_letter
from humanexp.notices.models import Address
from humanexp.studies.models import MAY, Action


@check("Notices")
def notices(launch: Launch) -> Problem:
    """A test goes to every address of those who can pay here, and its outcome is shown."""
    way = {"url": reverse("notices:settings"), "button": "Notices"}
    members = launch.study.memberships.filter(role__in=MAY[Action.PAY], user__is_active=True)
    addresses = list(Address.objects.filter(user__in=members.values("user")).select_related("user").order_by("pk"))
    if not addresses:
        return warn(
            "No one who can pay in this study has an address for notices: trouble is seen only on the pages.",
            "Enter one, and send a test.",
            **way,
        )
    failed = [why for address in addresses if (why := _try(address))]
    if len(failed) == len(addresses):
        say = bad if launch.can.vouches and not launch.is_rehearsal else warn
        return say(f"A test message did not arrive: {failed[0]}", "Repair the address.", **way)
    if failed:
        return warn(
            f"A test message did not arrive at {len(failed)} of {len(addresses)} addresses: {failed[0]}",
            "Repair the address.",
            **way,
        )
    count = len(addresses)
    return good(
        ("A test message was taken by %(n)d address." if count == 1 else "A test message was taken by %(n)d addresses.")
        % {"n": count}
    )


def _try(address: Address) -> str:
    error = ""
    try:
        delivery.deliver(target_of(address), test_letter(at=clock.now()))
    except DeliveryFailed as failed:
        error = failed.message
    ended(address, error)
    return error
