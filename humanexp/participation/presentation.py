"""What participants are shown: the course of a session, kept in memory, its pace, and the pictures of its trials.

The least time of a trial stays on the server, and differs from what the rules of the study ask: whoever learns to stay
just above it has not learned what a rule reads.

The rule is kept block by block: from the moment at which a block's pictures could first be fetched (the last answer of
the block before, or the opening of the session) to the arrival of any of its answers, at least the time has passed that
the pictures of all its trials up to that one take. Answers that waited for the network arrive in a burst and are
accepted; answers that nobody can have given yet are not.

Both moments come from the machine's clock, which may be set. Forward, a block is paced less; back, which is noticed by
a session that was seen later than now, its block is timed anew, so that nobody waits for the clock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from analysis.labels.space import NO_ANSWER, NONE_OF_THESE, LabelSpace
from analysis.study.protocol import ProtocolConfig
from analysis.study.rules import FastSettings, RuleSet
from humanexp.core import clock
from humanexp.core.connections import write_turn
from humanexp.core.errors import NotFound, PictureDamaged
from humanexp.core.models import record
from humanexp.participation import answers
from humanexp.participation.answers import Picture, checked, stimulus_png
from humanexp.participation.models import DamagedPicture, Session, Trial
from humanexp.participation.sessions import SessionClaim, session_of
from humanexp.studies.models import Study
from humanexp.studies.tasks import TASKS, Task

#: Of the answers of 90 published observers at most 0.2 % came sooner than 0.3 s (`analysis/rule_sets/vcr.toml`).
UNDER_MS = 340.0
#: How far the time moves away from that of a rule.
STEP_MS = 25.0

#: The message comes when so many answers, and this share of them, came too fast.
LEAST, IMPLAUSIBLE_SHARE = 8, 0.2


def asks_to_slow_down(*, fast: int, answered: int) -> bool:
    """Whether the page asks before the next block, after so many answers in time."""
    return fast >= max(LEAST, IMPLAUSIBLE_SHARE * answered)


def too_fast_ms(rule_set: Mapping[str, object]) -> float:
    """Answers sooner than this are implausibly fast; never the time of a rule of the study."""
    rules = RuleSet.from_dict(rule_set).settings_of(FastSettings) if rule_set else []
    taken = {float(settings.under_ms) for settings in rules}
    under_ms = UNDER_MS
    while any(abs(under_ms - other) < STEP_MS for other in taken):
        under_ms += STEP_MS
    return under_ms


#: Phases are whole frames, up to half a frame shorter than the protocol says; clocks of two machines differ a little.
SHARE = 0.9


def least_s(task: Task, protocol: ProtocolConfig | None) -> float:
    """Seconds that the phases of one trial take."""
    if protocol is None or not task.is_timed:
        return 0.0
    shown_ms = task.showings * (protocol.fixation_ms + protocol.stimulus_ms + protocol.mask_ms)
    if protocol.fixed_response_window:
        shown_ms += protocol.response_ms
    return shown_ms / 1000


#: Sessions in memory; one of a hundred trials takes about 50 kB.
KEPT = 1000
#: Kinds of blocks that come before what is measured.
PREPARING = ("practice", "qualification")


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """A trial as the API needs it."""

    pk: int
    position: int
    block: int
    task: Task
    correct_response: str
    mask_seed: int
    wanted: str
    #: in the order of their showings
    pictures: tuple[Picture, ...]
    #: seconds that all trials of its block take at least, up to the end of this one's pictures
    not_before_s: float
    #: labels that are right, where there are several; empty: `correct_response` alone
    accepted: tuple[str, ...] = ()
    #: answers that are offered, in the order shown; empty: all labels
    options: tuple[str, ...] = ()

    def takes(self, response: str, space: LabelSpace) -> bool:
        """Whether this is one of the possible answers."""
        if self.options:
            return response in self.options or (self.task.is_timed and response == NO_ANSWER)
        return self.task.accepts(response, space)

    def judge(self, response: str) -> bool | None:
        """Whether an answer is right; None where nobody knows the right one. No answer in time is wrong."""
        if self.accepted and self.task.is_of_labels:
            return response in self.accepted
        return response == self.correct_response if self.correct_response else None


@dataclass(frozen=True, kw_only=True)
class Course:
    """A session's plan with the study's protocol and words."""

    session_id: int
    is_scripted: bool
    blocks: list[dict[str, Any]]
    trials: tuple[PlannedTrial, ...]
    protocol: ProtocolConfig | None
    #: the study's: its own words are in it
    configuration: Mapping[str, Any]
    #: labels among which answers are
    space: LabelSpace
    #: answers sooner than this are implausibly fast; 0 where nobody is asked to slow down
    too_fast_ms: float = 0.0

    @property
    def counts_from(self) -> int:
        """The first position after practice and qualification; a plan that has nothing else counts from its first."""
        return next((block["first"] for block in self.blocks if block["kind"] not in PREPARING), 0)

    def trial(self, position: int) -> PlannedTrial:
        if position >= len(self.trials):
            raise NotFound
        return self.trials[position]

    def own_options(self, trial: PlannedTrial) -> tuple[int, ...]:
        """What a trial offers that offers some of the labels only: places among the choices of the session."""
        choices = (*self.space.in_grid, NONE_OF_THESE)
        if not trial.options or set(self.space.ids) <= set(trial.options):
            return ()
        return tuple(choices.index(one) for one in trial.options)

    def fetchable(self, positions: Sequence[int], cursor: int) -> list[PlannedTrial]:
        """The trials at these positions, if the pictures of all may be fetched: unanswered, in the cursor's block."""
        trials = [self.trial(position) for position in positions]
        if any(trial.position < cursor or self.blocks[trial.block]["first"] > cursor for trial in trials):
            raise NotFound
        return trials

    def measured_before(self, position: int) -> list[int]:
        """The finished blocks of timed tasks whose answers are measured, where a block begins at this position."""
        if not self.begins_block(position):
            return []
        return [
            block["index"]
            for block in self.blocks
            if block["last"] < position and block["kind"] not in PREPARING and TASKS[block["task"]].is_timed
        ]

    def begins_block(self, position: int) -> bool:
        return position < len(self.trials) and self.blocks[self.trials[position].block]["first"] == position


_ACCEPTED = "stimulus__source_image__accepted"


@lru_cache(maxsize=KEPT)
def course_of(claim: SessionClaim) -> Course:
    """The course of the token's session.

    Whether the token is still good is not looked at when the course is in memory: every call asks the session's row.
    """
    session = session_of(claim)
    study = session.study
    protocol = ProtocolConfig.from_dict(study.protocol.configuration) if study.protocol else None
    rows = Trial.objects.filter(session=session).order_by("position")
    columns = ("pk", "position", "block", "task", "correct_response", "mask_seed", "wanted", _ACCEPTED, "options")
    trials: list[PlannedTrial] = []
    shown = [f"{name}__{part}" for name in answers.PICTURES for part in Picture._fields]
    for row in rows.values_list(*columns, *shown):
        pk, position, block, name, correct, mask_seed, wanted, accepted, options = row[: len(columns)]
        parts = row[len(columns) :]
        task = TASKS[name]
        before = trials[-1].not_before_s if trials and trials[-1].block == block else 0.0
        triples = zip(parts[0::3], parts[1::3], parts[2::3], strict=True)
        pictures = tuple(Picture(*triple) for triple in triples if triple[0] is not None)[: task.showings]
        least = least_s(task, protocol)
        least += before
        trials.append(
            PlannedTrial(
                pk,
                position,
                block,
                task,
                correct,
                mask_seed,
                wanted,
                pictures,
                least,
                accepted=tuple(accepted),
                options=tuple(options),
            )
        )
    return Course(
        session_id=session.pk,
        is_scripted=session.is_scripted,
        blocks=session.blocks,
        trials=tuple(trials),
        protocol=protocol,
        configuration=study.configuration,
        space=study.space,
        too_fast_ms=too_fast_ms(study.rule_set),
    )


logger = logging.getLogger(__name__)


def show(*, claim: SessionClaim, trials: Sequence[PlannedTrial]) -> list[list[bytes]]:
    """The pictures of each trial, checked against what was made.

    Raises PictureDamaged where one of them is something else: it is noted, and its trial takes no answer until the file
    is restored.
    """
    return [[_show(claim, trial, picture) for picture in trial.pictures] for trial in trials]


def _show(claim: SessionClaim, trial: PlannedTrial, picture: Picture) -> bytes:
    try:
        return stimulus_png(picture)
    except PictureDamaged as error:
        _note(session_pk=claim.session_id, trial_pk=trial.pk, picture=picture, is_missing=error.is_missing)
        raise


@transaction.atomic
def _note(*, session_pk: int, trial_pk: int, picture: Picture, is_missing: bool) -> None:
    now = clock.now()
    is_known = DamagedPicture.objects.filter(stimulus=picture.pk, session__study__sessions=session_pk, mended_at=None)
    if not is_known.exists():
        slug = Study.objects.values_list("slug", flat=True).get(sessions=session_pk)
        kind = "missing" if is_missing else "changed"
        logger.error("picture %s of study %s is %s: it is shown to nobody", picture.file, slug, kind)
        record(action="picture-damaged", subject=f"stimulus:{picture.pk}", study=slug, file=picture.file, found=kind)
    DamagedPicture.objects.update_or_create(
        trial_id=trial_pk,
        defaults={
            "session_id": session_pk,
            "stimulus_id": picture.pk,
            "is_missing": is_missing,
            "found_at": now,
            "mended_at": None,
        },
    )


def not_shown(trial: PlannedTrial) -> QuerySet[DamagedPicture]:
    """Something where the trial's picture was refused to its session: it takes no answer."""
    return DamagedPicture.objects.filter(trial=trial.pk, mended_at=None).order_by()


def is_restored(trial: PlannedTrial) -> bool:
    """Whether the trial's picture was refused to its session, and is whole now; that ends the alarm of this session."""
    refused = not_shown(trial)
    if not refused.exists() or not all(_is_whole(picture) for picture in trial.pictures):
        return False
    refused.update(mended_at=clock.now())
    return True


def look_again() -> dict[str, int]:
    """Read the damaged pictures anew, and end the alarm of those that are whole again."""
    open_rows = DamagedPicture.objects.filter(mended_at=None)
    pictures = {
        Picture(*picture)
        for picture in open_rows.values_list("stimulus_id", "stimulus__file", "stimulus__sha256").distinct()
    }
    mended = [picture.pk for picture in pictures if _is_whole(picture)]
    open_rows.filter(stimulus__in=mended).update(mended_at=clock.now())
    return {"damaged": len(pictures) - len(mended), "mended": len(mended)}


def _is_whole(picture: Picture) -> bool:
    try:
        checked(picture)
    except PictureDamaged:
        return False
    return True


def note_fetched(*, claim: SessionClaim, positions: Iterable[int]) -> None:
    """The pictures of these trials go out now; asked for again, after a reload or in another tab, nothing is stored."""
    mine = Session.objects.filter(pk=claim.session_id).order_by()
    bits = sum(1 << position for position in set(positions))
    stored = mine.values_list("pictures_fetched", flat=True).first()
    known = _bits_of(stored)
    if known is None or known & bits == bits:
        return
    with write_turn():
        if mine.filter(pictures_fetched=stored).update(pictures_fetched=f"{known | bits:x}"):
            return
        # A page fetches in two calls at once: neither may undo what the other has noted.
        known = _bits_of(mine.select_for_update().values_list("pictures_fetched", flat=True).first())
        if known is not None:
            mine.update(pictures_fetched=f"{known | bits:x}")


def _bits_of(kept: str | None) -> int | None:
    """None: the session began before this was kept."""
    return None if kept is None else int(kept or "0", 16)
