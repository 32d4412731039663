from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import CapExceeded, Conflict
from humanexp.core.models import User
from humanexp.counterfactuals.models import Round, RoundState, SearchRun
from humanexp.counterfactuals.selectors import committed_cents
from humanexp.counterfactuals.services.searching import ROUND_KIND
from humanexp.counterfactuals.verdicts import verdicts_on
from humanexp.jobs import selectors as job_selectors
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.recruitment import money
from humanexp.recruitment import services as recruitment
from humanexp.recruitment.models import Campaign
from humanexp.recruitment.selectors import suggested_terms
from humanexp.screening import services as screening
from humanexp.screening.selectors import unjudged
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action


@transaction.atomic
def open_round(*, run: SearchRun, step: int, study: Study, stimuli: Mapping[str, str]) -> Round:
    """Record what people are to judge; the same step again is the same round."""
    opened, _created = Round.objects.get_or_create(
        run=run, step=step, defaults={"study": study, "stimuli": dict(stimuli)}
    )
    return opened


def publish_round(
    *, one: Round, terms: recruitment.LaunchTerms, skip_preflight: bool = False, by: User | None = None
) -> Campaign:
    """Publish a round like any other study, within what all rounds of the search may cost together."""
    if one.state != RoundState.OPEN:
        raise Conflict(f"{one} is judged already.")
    if terms.assignments is None:
        terms = replace(terms, assignments=one.study.planned_sessions)
    run = one.run
    if run.cap_cents is not None:
        price = terms.price(suggested_terms(one.study))
        spent = committed_cents(run)
        if spent + price.total_cents > run.cap_cents:
            raise CapExceeded(
                f"The rounds of {run} may cost ${money.dollars(run.cap_cents)} together: ${money.dollars(spent)} are "
                f"committed, and this round costs ${money.dollars(price.total_cents)}."
            )
    return recruitment.publish(study=one.study, terms=terms, skip_preflight=skip_preflight, by=by)


def start_round(*, one: Round, only_complete: bool = False, by: User | None = None) -> Job | None:
    """Queue the work that takes a round's verdicts and goes on; None while answers are missing.

    With `only_complete` every planned answer must be there; otherwise one answer a picture is enough.
    """
    # The next round is published where this one was, and costs as much.
    permissions.check(by, Action.LAUNCH, one.study)
    if one.state != RoundState.OPEN:
        raise Conflict(f"{one} is judged already.")
    latest = job_selectors.latest_for(one.run.job_subject, ROUND_KIND)
    if latest is not None and not latest.is_finished:
        return None if only_complete else latest
    if unjudged(one.study):
        screening.judge_study(one.study)
    found = verdicts_on(one)
    if only_complete and (not one.stimuli or found.fewest < one.run.answers_per_picture):
        return None
    if found.unanswered:
        raise Conflict(
            f"{found.unanswered} of {len(one.stimuli)} pictures of {one} have no answer from a session that counts: "
            "wait for people, or publish the study for more of them."
        )
    return jobs.submit(ROUND_KIND, subject=one.run.job_subject, by=by, round_id=one.pk)


def close_round(*, one: Round, verdicts: Mapping[str, Mapping[str, Any]]) -> Round:
    """Keep what people said; from then on nothing changes it."""
    updated = Round.objects.filter(pk=one.pk, state=RoundState.OPEN).update(
        state=RoundState.JUDGED, verdicts=dict(verdicts), judged_at=clock.now()
    )
    one.refresh_from_db()
    if not updated and one.verdicts != dict(verdicts):
        raise Conflict(f"{one} was judged already, with other verdicts.")
    return one
