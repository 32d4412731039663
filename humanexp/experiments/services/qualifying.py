"""Qualification in session: who passes a try goes on past the others; who passes none is done, and is paid like all."""

from __future__ import annotations

from analysis.acceptance import needed_of, qualification_rule
from humanexp.experiments.models import Response, Session, Trial

KIND = "qualification"


def after_answer(*, trial: Trial, cursor: int) -> int:
    """Where the session goes on after a stored answer; part of the transaction that stores it."""
    blocks = trial.session.blocks
    block = blocks[trial.block]
    if block["kind"] != KIND or cursor <= block["last"]:
        return cursor
    settings = qualification_rule(trial.session.study.rule_set)
    if settings is None:
        return cursor
    count = block["last"] - block["first"] + 1
    right = Response.objects.filter(session=trial.session, trial__block=trial.block, correct=True).count()
    qualified = right >= needed_of(count, settings["pass_of"])
    later = [other for other in blocks if other["kind"] == KIND and other["index"] > block["index"]]
    if later and not qualified:
        return cursor
    target = trial.session.total
    if qualified:
        target = later[-1]["last"] + 1 if later else cursor
    Session.objects.filter(pk=trial.session_id, cursor=cursor).update(cursor=target, qualified=qualified)
    return target
