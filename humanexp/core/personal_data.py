"""Where personal data lie, and what stays of rows that were deleted: the database's journal, files that name them.

The keys of the tables say where: a new table about people is found without being named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, models

from humanexp.core.storage import write_whole

#: Fields that are not given to the person: they open sessions or tell right answers, and so would harm others.
WITHHELD = frozenset(
    {
        "card_key",
        "code_hash",
        "correct",
        "correct_response",
        "handoff_nonce",
        "lease",
        "mask_seed",
        "opening_hash",
        "reference_hash",
        "role",
        "token_nonce",
        "wanted",
    }
)

Table = type[models.Model]


def tables_about(start: Table) -> list[Table]:
    """Tables whose rows lead to a row of `start` by keys, nearest first."""
    found, waiting = [start], deque([start])
    while waiting:
        for table, _key in _below(waiting.popleft()):
            if table not in found:
                found.append(table)
                waiting.append(table)
    return found


def rows_about(people: models.QuerySet[Any]) -> dict[Table, set[Any]]:
    """Primary keys of all rows that lead to these people, by table, as `tables_about` finds them."""
    found: dict[Table, set[Any]] = {people.model: set(people.values_list("pk", flat=True))}
    waiting = deque([(people.model, found[people.model])])
    while waiting:
        above, keys = waiting.popleft()
        for table, key in _below(above):
            rows = table._base_manager.filter(**{f"{key}__in": keys}).values_list("pk", flat=True)
            new = set(rows) - found.setdefault(table, set())
            if new:
                found[table] |= new
                waiting.append((table, new))
    return {table: keys for table, keys in found.items() if keys}


def written_out(table: Table, keys: Collection[Any]) -> list[dict[str, Any]]:
    """The rows with every field that the person may have."""
    fields = [field.attname for field in table._meta.concrete_fields if field.name not in WITHHELD]
    return list(table._base_manager.filter(pk__in=keys).order_by("pk").values(*fields))


def _below(table: Table) -> Iterator[tuple[Table, str]]:
    """Tables with a key of this one, and the name of that key."""
    for field in table._meta.get_fields(include_hidden=True):
        if isinstance(field, models.ManyToOneRel):  # one-to-one keys, too
            yield field.related_model, field.field.name


#: Kinds of files that name nobody: pictures, and numbers by picture.
_MUTE = frozenset({".png", ".jpg", ".jpeg", ".npy", ".npz", ".pt", ".pt2", ".onnx"})
_AT_ONCE = 2**20


def empty_journal() -> bool:
    """Write SQLite's journal back into the file and cut it off; False where somebody is reading it just now.

    Call it outside a transaction. Other databases clean up by themselves.
    """
    if connection.vendor != "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        is_busy, *_pages = cursor.fetchone()
    return not is_busy


def files_naming(codes: Collection[str]) -> list[Path]:
    """Files under MEDIA_ROOT, the database's own apart, in which one of the codes stands as text."""
    root = Path(settings.MEDIA_ROOT)
    wanted = [code.encode() for code in codes]
    return sorted(path for path in _written(root) if _names(path, wanted))


def rename_in(path: Path, names: dict[str, str]) -> None:
    """Put other names into a text file, which is whole at every moment."""
    content = path.read_bytes()
    for code, other in names.items():
        content = content.replace(code.encode(), other.encode())
    write_whole(path, content)


def _written(root: Path) -> Iterator[Path]:
    own = Path(str(settings.DATABASES["default"]["NAME"])).name
    for path in root.rglob("*"):
        if path.suffix.lower() not in _MUTE and not (own and path.name.startswith(own)) and path.is_file():
            yield path


def _names(path: Path, wanted: Collection[bytes]) -> bool:
    overlap = max(map(len, wanted), default=1) - 1
    rest = b""
    with path.open("rb") as stream:
        while piece := stream.read(_AT_ONCE):
            text = rest + piece
            if any(code in text for code in wanted):
                return True
            rest = text[-overlap:] if overlap else b""
    return False
