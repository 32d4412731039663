from __future__ import annotations

from django.db import models

from humanexp.participation.models.sessions import Session


class EarlierCurves(models.Model):
    """Curves of a study that is over, as they were when a campaign was launched; never changed."""

    digest = models.CharField(max_length=64, unique=True)
    #: as `participation.earlier_curves.Earlier` writes them
    content = models.JSONField()
    frozen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.digest[:12]


class OwnCurve(models.Model):
    """The promise of a curve to the person of a session, and the card that they share. No number of it is stored."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="own_curve")
    compared_with = models.ForeignKey(
        EarlierCurves, null=True, blank=True, on_delete=models.PROTECT, related_name="own_curves"
    )
    #: made at random: whoever has it sees the card; none while there is no card
    card_key = models.CharField(max_length=43, unique=True, null=True, blank=True)
    card_made_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"own curve of {self.session_id}"
