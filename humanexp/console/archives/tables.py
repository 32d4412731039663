"""Every row of a database as lines of JSON, and back; and the facts and files by which two databases are compared.

The lines are the same from SQLite and from PostgreSQL.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.apps import apps as all_apps
from django.apps.registry import Apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Sum
from django.db.utils import DEFAULT_DB_ALIAS
from django.utils.duration import duration_string
from pydantic import BaseModel, ConfigDict

from humanexp.core.batches import batches_of
from humanexp.evaluations.models import EvaluationRun
from humanexp.ledger.models import Payment
from humanexp.recruiters.models import RecruiterAccount
from humanexp.results.models import AnalysisRun, TrialImport
from humanexp.stimuli.models import SourceImage, Stimulus
from humanexp.studies.models import Study

Table = type[models.Model]
#: Rows that are read, written or checked together.
BATCH = 5_000
#: Tables that `migrate` fills; a restored database has the archive's rows in them instead.
FILLED_BY_MIGRATIONS = frozenset(
    {"django_content_type", "auth_permission", "core_lab", "recruitment_senderlease", "django_site"}
)
#: Types whose values JSON does not have; `to_python` reads them back.
_WRITTEN_OUT = (
    models.DateField,
    models.TimeField,
    models.DurationField,
    models.DecimalField,
    models.UUIDField,
    models.BinaryField,
)
#: PostgreSQL's JSON keeps numbers as decimals: it writes these otherwise than SQLite.
_AMBIGUOUS = re.compile(r"-0\.0|e\+|\d{16}")


@dataclass
class Tally:
    """How many rows there are, and a digest of all of them that does not depend on their order."""

    rows: int = 0
    total: int = 0

    def add(self, line: str, row: Sequence[Any]) -> None:
        if _AMBIGUOUS.search(line):
            line = _line([_plain(value) for value in row])
        self.rows += 1
        self.total += int.from_bytes(hashlib.sha256(line.encode()).digest(), "big")

    @property
    def digest(self) -> str:
        return f"{self.total % (1 << 256):064x}"


def models_of(apps: Apps) -> list[Table]:
    """Every table, each after those that its keys lead to."""
    waiting = [model for model in apps.get_models(include_auto_created=True) if _has_table(model)]
    ordered: list[Table] = []
    while waiting:
        ready = [model for model in waiting if not (_leads_to(model) & set(waiting))] or waiting[:1]
        ordered += ready
        waiting = [model for model in waiting if model not in ready]
    return ordered


def _has_table(model: Table) -> bool:
    """A proxy narrows another model's."""
    return model._meta.managed and not model._meta.proxy


def _leads_to(model: Table) -> set[Table]:
    targets = {field.related_model for field in model._meta.local_concrete_fields if field.is_relation}
    found = {target for target in targets if isinstance(target, type) and issubclass(target, models.Model)}
    return {target._meta.concrete_model or target for target in found} - {model}


# Reading ----------------------------------------------------------------------------------------------------------


def rows_of(model: Table, connection: BaseDatabaseWrapper) -> Iterator[tuple[Any, ...]]:
    """In the order of the key: rows that are only added leave the earlier ones where they were."""
    rows = model._base_manager.using(connection.alias).order_by("pk").values_list(*columns_of(model))
    return rows.iterator(chunk_size=BATCH)


def columns_of(model: Table) -> list[str]:
    """In an order that no migration changes."""
    return sorted(field.attname for field in model._meta.local_concrete_fields)


def lines_of(model: Table, connection: BaseDatabaseWrapper, tally: Tally) -> Iterator[str]:
    """One line a row; each is counted."""
    for row in rows_of(model, connection):
        line = _line(row)
        tally.add(line, row)
        yield line


def estimated_rows(connection: BaseDatabaseWrapper) -> int:
    """For a line of progress: PostgreSQL counts slowly, and knows about how many there are."""
    if connection.vendor != "postgresql":
        return sum(model._base_manager.using(connection.alias).count() for model in models_of(all_apps))
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(sum(n_live_tup), 0) FROM pg_stat_user_tables")
        return int(cursor.fetchone()[0])


def tally_of(model: Table, connection: BaseDatabaseWrapper) -> Tally:
    tally = Tally()
    for _line_of_it in lines_of(model, connection, tally):
        pass
    return tally


def _line(row: Sequence[Any]) -> str:
    return json.dumps(row, default=_written, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _written(value: object) -> str:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_string(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Decimal | UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in an archive")


def _plain(value: Any) -> Any:
    """Whole numbers without a fraction, zero without a sign: what both databases give back alike."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


# Writing ----------------------------------------------------------------------------------------------------------


class Loader:
    """Fills the tables of one database, inside a transaction of the caller's."""

    def __init__(self, connection: BaseDatabaseWrapper, apps: Apps) -> None:
        self._connection = connection
        self.models = models_of(apps)
        self.by_table = {model._meta.db_table: model for model in self.models}
        self._loaded: set[Table] = set()

    def empty(self) -> None:
        """Without what migrations have put there."""
        quoted = self._connection.ops.quote_name
        with self._connection.cursor() as cursor:
            for model in reversed(self.models):
                cursor.execute(f"DELETE FROM {quoted(model._meta.db_table)}")  # noqa: S608

    def load(self, model: Table, columns: Sequence[str], lines: Iterable[str]) -> None:
        fields = {field.attname: field for field in model._meta.local_concrete_fields}
        adapters = [_adapter(fields[column], self._connection) for column in columns]
        names = [fields[column].column or column for column in columns]
        for batch in batches_of(BATCH, lines):
            rows = [
                [adapt(value) if adapt else value for adapt, value in zip(adapters, json.loads(line), strict=True)]
                for line in batch
            ]
            self._insert(model._meta.db_table, names, rows)
            if _leads_to(model) <= self._loaded and not _points_at_itself(model):
                self._check_keys()
        self._loaded.add(model)

    def _insert(self, table: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        quoted = self._connection.ops.quote_name
        into, columns = quoted(table), ", ".join(map(quoted, names))
        with self._connection.cursor() as cursor:
            if self._connection.vendor == "postgresql":
                with cursor.copy(f"COPY {into} ({columns}) FROM STDIN") as copied:
                    for row in rows:
                        copied.write_row(row)
                return
            places = ", ".join(["%s"] * len(names))
            cursor.executemany(f"INSERT INTO {into} ({columns}) VALUES ({places})", rows)  # noqa: S608

    def _check_keys(self) -> None:
        """PostgreSQL keeps a note of every deferred check in memory: not of millions of rows."""
        if self._connection.vendor == "postgresql":
            with self._connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")

    def raise_sequences(self, wanted: dict[str, int]) -> None:
        """No key is given out twice, be it that of a row that was deleted since."""
        for table, model in self.by_table.items():
            _raise_sequence(model, self._connection, wanted.get(table, 0))
        self._connection.check_constraints()
        with self._connection.cursor() as cursor:  # what plans queries knows of none of these rows yet
            cursor.execute("ANALYZE")


def _points_at_itself(model: Table) -> bool:
    return any(field.is_relation and field.related_model is model for field in model._meta.local_concrete_fields)


def _adapter(field: models.Field[Any, Any], connection: BaseDatabaseWrapper) -> Callable[[Any], Any] | None:
    """What makes a value of JSON one of the database; None where they are the same."""
    own = field.target_field if isinstance(field, models.ForeignKey) else field
    if isinstance(own, models.JSONField):
        if not field.null:
            return lambda value: connection.ops.adapt_json_value(value, own.encoder)
        return lambda value: None if value is None else connection.ops.adapt_json_value(value, own.encoder)
    if isinstance(own, _WRITTEN_OUT):
        return lambda value: own.get_db_prep_save(own.to_python(value), connection)
    return None


# Sequences --------------------------------------------------------------------------------------------------------


def sequences_of(connection: BaseDatabaseWrapper, models_: Iterable[Table]) -> dict[str, int]:
    """The last key that each table of these has given out."""
    if connection.vendor == "sqlite":
        known = {model._meta.db_table for model in models_}
        with connection.cursor() as cursor:
            cursor.execute("SELECT name, seq FROM sqlite_sequence")
            return {str(name): int(last) for name, last in cursor.fetchall() if name in known}
    found: dict[str, int] = {}
    for model in models_:
        if (name := _sequence_name(model, connection)) is None:
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT last_value, is_called FROM {name}")  # noqa: S608
            last, is_called = cursor.fetchone()
            if is_called:
                found[model._meta.db_table] = int(last)
    return found


def _raise_sequence(model: Table, connection: BaseDatabaseWrapper, number: int) -> None:
    table, key = model._meta.db_table, model._meta.pk.column or "id"
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            if not number:
                return
            cursor.execute("UPDATE sqlite_sequence SET seq = max(seq, %s) WHERE name = %s", [number, table])
            cursor.execute(
                "INSERT INTO sqlite_sequence (name, seq) SELECT %s, %s "
                "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = %s)",
                [table, number, table],
            )
        elif (name := _sequence_name(model, connection)) is not None:
            quoted = connection.ops.quote_name
            cursor.execute(f"SELECT coalesce(max({quoted(key)}), 0) FROM {quoted(table)}")  # noqa: S608
            if last := max(number, cursor.fetchone()[0]):
                cursor.execute("SELECT setval(%s::regclass, %s)", [name, last])


def _sequence_name(model: Table, connection: BaseDatabaseWrapper) -> str | None:
    if not isinstance(model._meta.pk, models.AutoField | models.BigAutoField):
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_serial_sequence(%s, %s)",
            [connection.ops.quote_name(model._meta.db_table), model._meta.pk.column],
        )
        (name,) = cursor.fetchone()
    return str(name) if name else None


# Comparing --------------------------------------------------------------------------------------------------------


class Counted(BaseModel):
    """Of one table."""

    model_config = ConfigDict(frozen=True)

    rows: int
    digest: str


class Facts(BaseModel):
    """Taken in one transaction."""

    tables: dict[str, Counted]
    #: cents with fees, by currency, account and state
    ledger: dict[str, int]
    #: digest of each study's plan
    plans: dict[str, str]

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())

    def differences(self, other: Facts) -> list[str]:
        """In sentences; empty where both are the same."""
        found = []
        for name in sorted(self.tables.keys() | other.tables.keys()):
            ours, theirs = self.tables.get(name), other.tables.get(name)
            if ours is None or theirs is None:
                found.append(f"The table {name} is in one of them only.")
            elif ours.rows != theirs.rows:
                found.append(f"{name} has {theirs.rows} rows instead of {ours.rows}.")
            elif ours != theirs:
                found.append(f"{name} has {ours.rows} rows, and they are not the same.")
        for what, mine, others in (("ledger", self.ledger, other.ledger), ("plan", self.plans, other.plans)):
            found += [
                f"The {what} of {key} is {others.get(key, 'missing')} instead of {mine.get(key, 'missing')}."
                for key in sorted(mine.keys() | others.keys())
                if mine.get(key) != others.get(key)
            ]
        return found


def facts_of(connection: BaseDatabaseWrapper, tallies: Mapping[str, Tally]) -> Facts:
    """Of the database that these rows were counted in, in the same transaction."""
    accounts = RecruiterAccount.objects.using(connection.alias)
    currencies = dict(accounts.values_list("environment", "currency"))
    sums = (
        Payment.objects.using(connection.alias)
        .order_by()
        .values("environment", "state")
        .annotate(cents=Sum(F("amount_cents") + F("fee_cents")))
    )
    plans = Study.objects.using(connection.alias).exclude(plan_digest="").order_by("slug")
    return Facts(
        tables={name: Counted(rows=tally.rows, digest=tally.digest) for name, tally in tallies.items()},
        ledger={
            f"{currencies.get(row['environment'], '?')} {row['environment']} {row['state']}": row["cents"]
            for row in sums
        },
        plans=dict(plans.values_list("slug", "plan_digest")),
    )


def named_files(using: str = DEFAULT_DB_ALIAS, *, sample: int | None = None) -> Iterator[tuple[str, str]]:
    """(path under MEDIA_ROOT, SHA-256; empty where none is stored). `sample`: so many pictures of a kind, by chance."""
    for pictures in (
        SourceImage.objects.using(using),
        Stimulus.objects.using(using).exclude(stimulus_set__completed_at=None),
    ):
        rows = pictures.values_list("file", "sha256")
        yield from rows.order_by("?")[:sample] if sample is not None else rows.order_by().iterator()
    yield from Study.objects.using(using).exclude(plan_file="").values_list("plan_file", "plan_digest")
    runs = EvaluationRun.objects.using(using).exclude(predictions_file="")
    yield from runs.values_list("predictions_file", "predictions_sha256")
    for file in AnalysisRun.objects.using(using).values_list("findings_file", flat=True):
        yield file, ""
    for files in TrialImport.objects.using(using).values_list("trials_file", "pictures_file", "export_file"):
        yield from ((file, "") for file in files if file)
