"""The promise of an own curve, and the card that its person shares."""

from __future__ import annotations

import secrets

from humanexp.core import clock
from humanexp.participation.models import EarlierCurves, OwnCurve, Session


def promise_curve(*, session: Session, compared_with: EarlierCurves | None) -> OwnCurve:
    """From the opening of a session on, its person will see their own curve after the last one."""
    return OwnCurve.objects.get_or_create(session=session, defaults={"compared_with": compared_with})[0]


def make_card(*, curve: OwnCurve) -> OwnCurve:
    """A card under an address that nobody can guess; who has one keeps it."""
    OwnCurve.objects.filter(pk=curve.pk, card_key=None).update(
        card_key=secrets.token_urlsafe(24), card_made_at=clock.now()
    )
    curve.refresh_from_db()
    return curve


def take_card_back(*, curve: OwnCurve) -> OwnCurve:
    """Its address leads nowhere from now on, and no later card has it again."""
    OwnCurve.objects.filter(pk=curve.pk).update(card_key=None, card_made_at=None)
    curve.refresh_from_db()
    return curve
