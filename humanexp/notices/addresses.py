"""Where a person, or the installation, wants to be told; what they do not want to hear for a while."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction

from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest, existing
from humanexp.core.limits import Allowance
from humanexp.core.models import User, record
from humanexp.core.ownership import is_head
from humanexp.core.selectors import mail_is_set_up
from humanexp.notices import delivery
from humanexp.notices.delivery import DeliveryFailed, ended, target_of, test_letter
from humanexp.notices.models import Address, Mute, Pace, Way
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study

#: Of one person.
MOST = 10
#: Tests that a person may send.
TESTS = Allowance(per_s=1 / 20, burst=5)
LONGEST_MUTE = timedelta(days=90)


@transaction.atomic
def add_address(*, by: User, way: str, target: str = "", pace: str = Pace.NOW, of_all_studies: bool = False) -> Address:
    """Of the person who asks. Mail goes to the address of their account, which a password protects."""
    if way == Way.EMAIL:
        _check_mail(by, target)
    elif way in Way.values:
        delivery.check_url(target)
    else:
        raise InvalidRequest("There is no such kind of address.", fields={"way": "unknown"})
    if Address.objects.filter(user=by).count() >= MOST:
        raise Conflict(f"You have {MOST} addresses already: remove one first.")
    try:
        with transaction.atomic():
            made = Address.objects.create(
                user=by,
                way=way,
                target=target.strip() if way != Way.EMAIL else "",
                secret=secrets.token_hex(32) if way == Way.WEBHOOK else "",
                pace=Pace(pace),
                of_all_studies=of_all_studies and is_head(by),
                created_at=clock.now(),
            )
    except IntegrityError as error:
        raise Conflict("You have this address already.") from error
    record(action="add-notice-address", subject=f"user:{by.pk}", by=by, way=way, pace=pace)
    return made


def _check_mail(by: User, target: str) -> None:
    if not mail_is_set_up():
        raise InvalidRequest(
            "Mail is not set up on this server: an operator sets EMAIL_HOST.", fields={"way": "no mail"}
        )
    if not by.email:
        raise InvalidRequest("Your account has no e-mail address: enter one under “Your account”.")
    if target and target.strip().casefold() != by.email.casefold():
        raise InvalidRequest("Mail goes to the address of your account only.", fields={"target": "leave it empty"})


@transaction.atomic
def set_pace(*, by: User, pk: int, pace: str, of_all_studies: bool = False) -> Address:
    """What waits already keeps its time."""
    address = _mine(by, pk)
    address.pace, address.of_all_studies = Pace(pace), of_all_studies and is_head(by)
    address.save(update_fields=["pace", "of_all_studies"])
    return address


@transaction.atomic
def remove_address(*, by: User, pk: int) -> None:
    address = _mine(by, pk)
    record(action="remove-notice-address", subject=f"user:{by.pk}", by=by, way=address.way)
    address.delete()


def send_test(*, by: User, pk: int) -> str:
    """Send a message now; returns why it was not taken, empty where it was. An administrator tries the installation's,
    too."""
    mine = Address.objects.filter(pk=pk, user=by).first()
    here = Address.objects.filter(pk=pk, user=None).first() if is_head(by) else None
    address = existing(mine or here, "There is no such address.")
    if wait_s := TESTS.spend(str(by.pk)):
        raise Conflict(f"You have sent several tests: wait {wait_s:.0f} s.")
    error = ""
    try:
        delivery.deliver(target_of(address), test_letter(at=clock.now()))
    except DeliveryFailed as failed:
        error = failed.message
    ended(address, error)
    return error


@transaction.atomic
def mute(*, by: User, days: int, study: Study | None = None, name: str = "") -> Mute:
    """Hear nothing of a study, of a reason, or of a reason in a study, until a day."""
    if study is None and not name:
        raise InvalidRequest("Say which study or which reason you want to mute.")
    if not 0 < days <= LONGEST_MUTE.days:
        raise InvalidRequest(f"A mute ends after 1 to {LONGEST_MUTE.days} days.", fields={"days": "out of range"})
    if study is not None:
        permissions.check(by, Action.SEE, study)
    made = Mute.objects.create(user=by, study=study, name=name[:40], until=clock.now() + timedelta(days=days))
    slug = study.slug if study is not None else ""
    record(action="mute-notices", subject=f"user:{by.pk}", study=slug, by=by, reason=name or "all", days=days)
    return made


@transaction.atomic
def unmute(*, by: User, pk: int) -> None:
    found = existing(Mute.objects.filter(pk=pk, user=by).first(), "There is no such mute.")
    slug = found.study.slug if found.study is not None else ""
    record(action="unmute-notices", subject=f"user:{by.pk}", study=slug, by=by, reason=found.name or "all")
    found.delete()


@transaction.atomic
def follow_settings() -> int:
    """The installation's addresses are those of the setting; returns how many there are."""
    wanted = {_of_setting(one.strip()) for one in settings.NOTICE_ADDRESSES if one.strip()}
    known = {(row.way, row.target): row for row in Address.objects.filter(user=None)}
    for key, row in known.items():
        if key not in wanted:
            row.delete()
    for way, target in sorted(wanted - set(known)):
        secret = settings.NOTICE_SECRET if way == Way.WEBHOOK else ""
        Address.objects.create(way=way, target=target, secret=secret, created_at=clock.now())
    Address.objects.filter(user=None, way=Way.WEBHOOK).exclude(secret=settings.NOTICE_SECRET).update(
        secret=settings.NOTICE_SECRET
    )
    return len(wanted)


def _of_setting(text: str) -> tuple[str, str]:
    """`mailto:NAME`, `slack+https://...`, or the address of a webhook."""
    if text.startswith("mailto:"):
        return Way.EMAIL, text.removeprefix("mailto:")
    if text.startswith("slack+"):
        return Way.SLACK, text.removeprefix("slack+")
    return Way.WEBHOOK, text


def _mine(by: User, pk: int) -> Address:
    return existing(Address.objects.filter(pk=pk, user=by).first(), "There is no such address.")
