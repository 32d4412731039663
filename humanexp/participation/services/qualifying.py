"""Qualification in session: who passes a try goes on past the others; who passes none is done, and is paid like all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.acceptance import needed_of, qualification_rule
from humanexp.participation.models import Response, Session, Trial

KIND = "qualification"


def after_answer(*, trial: Trial, cursor: int) -> int:
    """Where the session goes on after a stored answer; part of the transaction that stores it."""
    blocks = trial.session.blocks
    if not ends_try(blocks, trial.block, cursor):
        return cursor
    right = Response.objects.filter(session=trial.session, trial__block=trial.block, correct=True).count()
    target, qualified = after_try(blocks, trial.block, rule_set=trial.session.study.rule_set, right=right)
    if qualified is None:
        return cursor
    Session.objects.filter(pk=trial.session_id, cursor=cursor).update(cursor=target, qualified=qualified)
    return target


def ends_try(blocks: Sequence[Mapping[str, Any]], index: int, cursor: int) -> bool:
    """Whether the answer before the cursor was the last one of a try."""
    return bool(blocks[index]["kind"] == KIND and cursor > blocks[index]["last"])


def after_try(
    blocks: Sequence[Mapping[str, Any]], index: int, *, rule_set: Mapping[str, Any], right: int
) -> tuple[int, bool | None]:
    """Where a session goes on after a try with so many right answers, and whether it is qualified.

    None where that is not known yet: there is another try, or the rules know no qualification.
    """
    block = blocks[index]
    settings = qualification_rule(rule_set)
    if settings is None:
        return block["last"] + 1, None
    qualified = right >= needed_of(block["last"] - block["first"] + 1, settings.pass_of)
    later = [other for other in blocks if other["kind"] == KIND and other["index"] > index]
    if qualified:
        return (later[-1] if later else block)["last"] + 1, True
    return (block["last"] + 1, None) if later else (blocks[-1]["last"] + 1, False)
