from __future__ import annotations

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.experiments import members
from humanexp.experiments.models import Study
from humanexp.experiments.roles import Action
from humanexp.recruitment import money, selectors
from humanexp.recruitment.selectors.wages import TOP_UP, TopUpPlan
from humanexp.recruitment.services.extending import check_confirmed
from humanexp.recruitment.services.settling import plan_bonus

REASON = "The work took longer than we had thought. This brings your pay for the hour to {floor} dollars. Thank you."


@transaction.atomic
def top_up(
    *, study: Study, floor_cents: int | None = None, confirm_total_cents: int | None = None, by: User | None
) -> TopUpPlan:
    """Bring everybody to the floor by a bonus; twice is once, and a higher floor later pays the difference alone.

    All or nothing: a cap that would not hold it refuses the whole.
    """
    members.check(by, Action.PAY, study)
    # Two who click at once: the second sees the first one's bonuses.
    Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
    wanted = selectors.top_up_plan(study, floor_cents)
    if not wanted.rows:
        raise Conflict("Nobody is below this floor.")
    for environment in {row.assignment.environment for row in wanted.rows}:
        check_confirmed(environment, wanted.total_cents, confirm_total_cents)
    for row in wanted.rows:
        plan_bonus(
            assignment=row.assignment,
            amount_cents=row.bonus_cents,
            cause=f"{TOP_UP}-{wanted.floor_cents}",
            reason=REASON.format(floor=money.dollars(wanted.floor_cents)),
            by=by,
        )
    record(
        action="top-up",
        subject=f"study:{study.pk}",
        study=study.slug,
        by=by,
        people=wanted.people,
        floor_cents=wanted.floor_cents,
        cents=wanted.total_cents,
    )
    return wanted
