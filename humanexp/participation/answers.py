"""Pictures as participants get them, stored answers as rows of `TRIALS`, and which pictures people have seen."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from django.db.models import F, QuerySet
from numpy.typing import NDArray

from analysis.labels.lists import ACCEPTED, COMPETING, OPTIONS
from analysis.masks import noise_mask
from analysis.study.protocol import ProtocolConfig
from analysis.tables.trials import TIMING_COLUMNS
from humanexp.core.errors import FileRefused, PictureDamaged
from humanexp.core.storage import read_checked
from humanexp.participation.models import Response, Session, SessionState, Trial, counting
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study

#: Noise fields in stock; with their shifts they make 3 million different masks of 224 px.
MASK_FIELDS = 64
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Header, palette, transparency, pixels, end. Text, times and profiles could tell where a picture is from.
_KEPT = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})


class Picture(NamedTuple):
    """A stimulus that is to be shown: its row, its file, and what the file held when it was made."""

    pk: int
    file: str
    sha256: str


def stimulus_png(picture: Picture) -> bytes:
    """A stored stimulus without metadata; the very bytes of the file when it has none.

    Raises PictureDamaged where the file is missing, or not the one that was made: an answer to it would be stored for
    another picture.
    """
    content = checked(picture)
    return without_metadata(content) if content.startswith(_SIGNATURE) else _as_png(content)


def checked(picture: Picture) -> bytes:
    """The bytes of the file, if they are those of the record."""
    try:
        content = read_checked(picture.file, picture.sha256)
    except OSError as error:
        raise PictureDamaged(is_missing=True) from error
    except FileRefused as error:
        raise PictureDamaged(is_missing=error.is_missing) from error
    if content is None:
        raise PictureDamaged
    return content


def mask_png(*, seed: int, protocol: ProtocolConfig) -> bytes:
    """The noise mask of a trial: one of a stock of noise fields, shifted around by an offset of the trial's own.

    The fields are periodic: a shifted one is noise of the same spectrum, without a seam, for a tenth of the cost.
    """
    number, place = seed % MASK_FIELDS, seed // MASK_FIELDS
    field = _mask_field(number, protocol.size_px, protocol.mask_contrast)
    down, right = divmod(place % field.size, protocol.size_px)
    return _grey_png(np.roll(field, (down, right), axis=(0, 1)))


def _grey_png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG without compression, which noise does not yield to: a fifth of the time of a library's."""
    height, width = pixels.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)  # each line begins with its filter: none
    lines[:, 1:] = pixels
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    drawn = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(lines.tobytes(), 0)), _chunk(b"IEND", b""))
    return b"".join((_SIGNATURE, *drawn))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(content, zlib.crc32(kind)))


@lru_cache(maxsize=4 * MASK_FIELDS)
def _mask_field(number: int, size_px: int, contrast: float) -> NDArray[np.uint8]:
    return noise_mask(number, size_px, contrast)


def without_metadata(png: bytes) -> bytes:
    """The PNG with its drawing chunks only."""
    parts, place, end = [_SIGNATURE], len(_SIGNATURE), len(png)
    while place + 12 <= end:
        length = int.from_bytes(png[place : place + 4], "big")
        kind = png[place + 4 : place + 8]
        if kind in _KEPT:
            parts.append(png[place : place + 12 + length])
        place += 12 + length
        if kind == b"IEND":
            break
    return b"".join(parts)


def _as_png(content: bytes) -> bytes:
    from PIL import Image

    stream = BytesIO()
    with Image.open(BytesIO(content)) as picture:
        picture.convert("RGB").save(stream, format="PNG")
    return stream.getvalue()


#: Columns of `trials.TRIALS` that rules read (`analysis.acceptance.record.SessionRecord`), and where they are stored.
_RULE_COLUMNS = {
    "position": "position",
    "block": "trial__block",
    "task": "trial__task",
    "role": "trial__role",
    "original": "trial__stimulus__source_image__key",
    "stimulus": "trial__stimulus__key",
    "category": "trial__stimulus__source_image__category",
    "corruption": "trial__stimulus__corruption",
    "visual_change": "trial__stimulus__visual_change",
    "response": "response",
    "correct": "correct",
    "rt_ms": "rt_ms",
    "input_kind": "input_kind",
    "timing_ok": "timing_ok",
    "set_aside": "set_aside",
}
#: Those that a table of answers has as well.
_TRIAL_COLUMNS = {
    **_RULE_COLUMNS,
    "participant": "session__participant__code",
    "session": "session__code",
    "second_original": "trial__second_stimulus__source_image__key",
    "second_stimulus": "trial__second_stimulus__key",
    "second_corruption": "trial__second_stimulus__corruption",
    "third_original": "trial__third_stimulus__source_image__key",
    "third_stimulus": "trial__third_stimulus__key",
    "third_corruption": "trial__third_stimulus__corruption",
    "wanted": "trial__wanted",
    "timing_rule": "timing_rule",
    "simulated": "is_scripted",
    "stim_sha256": "trial__stimulus__sha256",
    "mask_seed": "trial__mask_seed",
    "server_received_at": "received_at",
    "grid_order": "session__grid_order",
    OPTIONS: "trial__options",
    ACCEPTED: "trial__stimulus__source_image__accepted",
    COMPETING: "trial__stimulus__source_image__competing",
}
#: Kept as JSON with the answer, and unpacked into columns.
_PACKED = ("timing", "clicks")
#: Rows that are fetched at once.
_ROWS_AT_ONCE = 2000


def iter_trial_rows(study: Study) -> Iterator[dict[str, Any]]:
    """Every stored answer with the columns of `tables.trials.TRIALS`; `accepted` is left to whoever knows verdicts.

    Answers of sessions that cannot count are left out: of people who took them back, or whom no recruiter lists. They
    come one after the other: a study of any size is never held as a whole.
    """
    return _iter_rows(Response.objects.filter(counting("session"), session__study=study), study.slug)


def iter_timing_rows(study: Study, tasks: Collection[str]) -> Iterator[dict[str, Any]]:
    """Of every answer after practice to a task of these, but those set aside: whose it is, and what was measured."""
    stored = Response.objects.filter(counting("session"), session__study=study, trial__task__in=tasks)
    measured = stored.exclude(trial__role="practice").exclude(set_aside=True).order_by()
    rows = measured.values_list("session__participant__code", "timing")
    for participant, timing in rows.iterator(chunk_size=_ROWS_AT_ONCE):
        yield {**timing, "participant": participant}


def session_rows(session: Session) -> list[dict[str, Any]]:
    """The stored answers of one session, with the columns of `iter_trial_rows`; none of a withdrawn one."""
    return list(_iter_rows(answers_of([session]), session.study.slug))


def rows_of(sessions: Collection[Session], study: Study) -> dict[str, list[dict[str, Any]]]:
    """The stored answers of some sessions of a study, by the session's code."""
    found: dict[str, list[dict[str, Any]]] = {session.code: [] for session in sessions}
    for row in _iter_rows(answers_of(sessions), study.slug):
        found[row["session"]].append(row)
    return found


def rule_rows_of(sessions: Collection[Session]) -> dict[int, list[dict[str, Any]]]:
    """The stored answers of some sessions, by primary key, with no more than rules read: for lists of many sessions."""
    found: dict[int, list[dict[str, Any]]] = {session.pk: [] for session in sessions}
    stored = answers_of(sessions).order_by("session_id", "position")
    for session_pk, *values in stored.values_list("session_id", *_RULE_COLUMNS.values()):
        found[session_pk].append(dict(zip(_RULE_COLUMNS, values, strict=True)))
    return found


def answers_of(sessions: Iterable[Session | int]) -> QuerySet[Response]:
    """Those that nobody took back."""
    return Response.objects.filter(session__in=list(sessions)).exclude(session__state=SessionState.WITHDRAWN)


def _iter_rows(stored: QuerySet[Response], slug: str) -> Iterator[dict[str, Any]]:
    columns = tuple(_TRIAL_COLUMNS)
    ordered = stored.order_by("session_id", "position").values_list(*_PACKED, *_TRIAL_COLUMNS.values())
    for timing, clicks, *values in ordered.iterator(chunk_size=_ROWS_AT_ONCE):
        row = dict(zip(columns, values, strict=True))
        row["study"] = slug
        row["condition"] = row["accepted"] = None
        row["wanted"] = row["wanted"] or None
        row["timing_rule"] = row["timing_rule"] or None
        row["input_kind"] = row["input_kind"] or None
        row["clicks_json"] = json.dumps(clicks)
        row["server_received_at"] = row["server_received_at"].isoformat()
        row["grid_order"] = " ".join(row["grid_order"]) or None
        row[OPTIONS] = " ".join(row[OPTIONS]) or None
        row[ACCEPTED] = " ".join(row[ACCEPTED]) or None
        row[COMPETING] = row[COMPETING] or None
        for column in TIMING_COLUMNS:
            row[column] = timing.get(column)
        yield row


def gold_answers(study: Study) -> list[tuple[int, str, str, bool]]:
    """(session, original, category, right?) of every answered gold trial that was not set aside."""
    answered = Response.objects.filter(counting("session"), session__study=study, trial__role="gold")
    answered = answered.exclude(set_aside=True)
    columns = ("session_id", "trial__stimulus__source_image__key", "trial__stimulus__source_image__category", "correct")
    return [
        (session, original, category, bool(right))
        for session, original, category, right in answered.values_list(*columns)
    ]


def stimulus_pks(study: Study, keys: Collection[str]) -> dict[str, int]:
    found = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, key__in=list(keys))
    return dict(found.values_list("key", "pk"))


def stimulus_pictures(study: Study, keys: Collection[str]) -> dict[str, Picture]:
    found = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, key__in=list(keys))
    return {key: Picture(*picture) for key, *picture in found.values_list("key", *Picture._fields)}


#: Fields of a trial that name its pictures, in the order of their showings.
PICTURES = ("stimulus", "second_stimulus", "third_stimulus")


def seen_originals(sessions: Iterable[Session], study: Study) -> set[str]:
    """Originals of the study's set that may have been shown in these sessions, told by their content."""
    shown = Trial.objects.filter(session__in=list(sessions), position__lte=F("session__cursor"))
    contents = {
        content
        for pictures in shown.values_list(*(f"{name}__source_image__sha256" for name in PICTURES))
        for content in pictures
        if content
    }
    mine = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, source_image__sha256__in=contents)
    return set(mine.values_list("source_image__key", flat=True))


def stimuli_of(study: Study, originals: Collection[str]) -> set[str]:
    """Names of the study's stimuli that were made from these originals."""
    mine = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, source_image__key__in=originals)
    return set(mine.values_list("key", flat=True))


def given_out(study: Study) -> set[str]:
    """Names of the stimuli that stand in any session of the study, planned or as a replacement."""
    trials = Trial.objects.filter(session__study=study)
    names = trials.values_list(*(f"{name}__key" for name in PICTURES)).distinct()
    return {name for pictures in names for name in pictures if name}


def unfetched_answers(sessions: QuerySet[Session]) -> dict[int, int]:
    """Answers whose pictures were never given out, by the session's primary key; without those for which nobody kept
    that. Hardly any session has one, and the answers of the others are not read."""
    kept = sessions.exclude(pictures_fetched=None).order_by().only("pk", "cursor", "pictures_fetched")
    fetched = {one.pk: (one.fetched or frozenset(), one.cursor) for one in kept.iterator()}
    counts = dict.fromkeys(fetched, 0)
    # A qualification that was passed leaves out the tries that would have followed: no answers are there.
    open_to_doubt = [pk for pk, (known, cursor) in fetched.items() if not known.issuperset(range(cursor))]
    answered = Response.objects.filter(session__in=open_to_doubt).order_by()
    for pk, position in answered.values_list("session_id", "position").iterator():
        counts[pk] += position not in fetched[pk][0]
    return counts
