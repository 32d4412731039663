"""How the panel behaves where the sources disagree, or where chance decides; and its clock."""

from __future__ import annotations

from datetime import datetime

from django.db import models

from humanexp.sites.rows import Advanced


class Switches(Advanced):
    """/control/ changes it; every field but the advance may be set there."""

    #: a rejection in AWAITING REVIEW opens the study by itself; the guide now says that START is needed
    rejection_reopens = models.BooleanField(default=False)
    #: STOP ends in AWAITING REVIEW instead of COMPLETED
    stop_awaits_review = models.BooleanField(default=False)
    #: APPROVE is accepted for TIMED-OUT, which no source says
    timed_out_can_be_approved = models.BooleanField(default=False)
    #: lists of submissions come in this order, a `states.SubmissionOrder`
    submission_order = models.CharField(max_length=20, default="as asked")
    #: the list of a study's submissions names their bonuses, as the service's own client reads it
    lists_bonuses = models.BooleanField(default=True)
    #: least pay of an hour, in whole sub-units; 0: the usual one of each currency
    least_hourly_cents = models.PositiveIntegerField(default=0)
    #: how long a study is PUBLISHING
    publishing_s = models.FloatField(default=1)
    #: how long a finished submission or a stopped study is PROCESSING, and the word that is shown for it
    processing_s = models.FloatField(default=0)
    processing_word = models.CharField(max_length=40, default="PROCESSING")
    #: how long an accepted bulk approval takes
    approving_s = models.FloatField(default=2)
    #: bonuses settle after an exponential time with this mean; a few take from 30 minutes to 3 hours
    settling_s = models.FloatField(default=240)
    late_share = models.FloatField(default=0.01)
    #: accepted bonuses that are never paid
    lost_share = models.FloatField(default=0)
    #: a call that moves money keeps the wallet busy for so long
    wallet_s = models.FloatField(default=0)
    #: events come twice, in wrong order, or late
    events_doubled = models.BooleanField(default=False)
    events_shuffled = models.BooleanField(default=False)
    events_delay_s = models.FloatField(default=0)
    seed = models.IntegerField(default=0)


def now() -> datetime:
    return Switches.now()
