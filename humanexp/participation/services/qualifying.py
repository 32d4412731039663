"""Rounds that can be passed in session: the tries of a qualification, and rounds of practice with a criterion.

Who passes one goes on past the others of its kind; who passes none is done, and is paid like all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analysis.acceptance.rules import needed_of, qualification_rule
from humanexp.participation.models import Response, Session, Trial

KIND = "qualification"


class NextRound(NamedTuple):
    """Where a session goes on after a round, and what is known of it by then; None where that is open."""

    cursor: int
    qualified: bool | None = None
    practised: bool | None = None

    @property
    def known(self) -> dict[str, bool]:
        """What is not open any more, as fields of a session."""
        found = {"qualified": self.qualified, "practised": self.practised}
        return {name: value for name, value in found.items() if value is not None}


def can_be_passed(block: Mapping[str, Any]) -> bool:
    """Whether the answers of the block decide how the session goes on."""
    return block["kind"] == KIND or "needed" in block


def after_answer(*, trial: Trial, cursor: int) -> int:
    """Where the session goes on after a stored answer; part of the transaction that stores it."""
    blocks = trial.session.blocks
    if not ends_round(blocks, trial.block, cursor):
        return cursor
    right = Response.objects.filter(session=trial.session, trial__block=trial.block, correct=True).count()
    standing = after_round(blocks, trial.block, rule_set=trial.session.study.rule_set, right=right)
    if not standing.known:
        return cursor
    Session.objects.filter(pk=trial.session_id, cursor=cursor).update(cursor=standing.cursor, **standing.known)
    return standing.cursor


def ends_round(blocks: Sequence[Mapping[str, Any]], index: int, cursor: int) -> bool:
    """Whether the answer before the cursor was the last one of a round that can be passed."""
    return bool(can_be_passed(blocks[index]) and cursor > blocks[index]["last"])


def after_round(
    blocks: Sequence[Mapping[str, Any]], index: int, *, rule_set: Mapping[str, Any], right: int
) -> NextRound:
    """Where a session goes on after a round with so many right answers, and what is known of it then."""
    block = blocks[index]
    following, end = block["last"] + 1, blocks[-1]["last"] + 1
    later = [other for other in blocks[index + 1 :] if can_be_passed(other) and _are_alike(block, other)]
    past = later[-1]["last"] + 1 if later else following
    if block["kind"] == KIND:
        settings = qualification_rule(rule_set)
        if settings is None:
            return NextRound(following)
        if right >= needed_of(block["last"] - block["first"] + 1, settings.pass_of):
            return NextRound(past, qualified=True)
        return NextRound(following) if later else NextRound(end, qualified=False)
    if right >= block["needed"]:
        return NextRound(past, practised=True)
    # Not qualified either: whoever could not practise holds no place of the study.
    return NextRound(following) if later else NextRound(end, qualified=False, practised=False)


def _are_alike(block: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(block["kind"] == other["kind"] and block["task"] == other["task"])
