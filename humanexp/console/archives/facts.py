"""What has to be the same in two databases that hold the same: rows of each table, sums of the ledger, plans."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Sum
from pydantic import BaseModel, ConfigDict

from humanexp.console.archives.tables import Tally
from humanexp.ledger.models import Payment
from humanexp.recruiters.models import RecruiterAccount
from humanexp.studies.models import Study


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
