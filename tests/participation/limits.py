"""What the tests of pace, rates and refused calls share."""

from __future__ import annotations

from humanexp.participation.models import RefusedCall

RUN = "/api/v1/run/"


def audited():
    return list(RefusedCall.objects.order_by("pk").values_list("reason", flat=True))
