"""Where personal data lie. The keys of the tables say so: a new table about people is found without being named."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import Any

from django.db import models

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
