"""What the ledger adds up to, by person, month, study or recruiter: the one source of the money page and its files.

Every line is made of rows of the ledger and belongs to one account, so that it has one currency. Nothing is estimated:
what may still become due is said by `figures.Money`, which looks at open places, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Self

from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncMonth

from humanexp.recruitment import money
from humanexp.recruitment.models import Payment
from humanexp.recruitment.recruiters import capabilities_of, currency_of
from humanexp.recruitment.states import UNFINISHED, WriteState
from humanexp.studies.models import Study

By = Literal["person", "month", "study", "recruiter"]
#: Each payment counts in the month (UTC) in which it was confirmed; until then in that in which it was promised.
_MONTH = TruncMonth(Coalesce("confirmed_at", "created_at"), tzinfo=UTC)
_KEYS: Mapping[By, Any] = {
    "person": F("assignment__person__participant__code"),
    "month": _MONTH,
    "study": F("campaign__study__slug"),
    "recruiter": F("environment"),
}


@dataclass(frozen=True, kw_only=True)
class StatementLine:
    """Payments of one person, month, study or recruiter through one account, in minor units of its currency.

    What people get is promised (on its way), owed (approved, and paid out by the lab itself) or paid (by the
    recruiter); fees and tax are what the recruiter takes for the owed and the paid.
    """

    #: our own code of the person, the month as 2026-11, the study's name in addresses, or the account's code; of people
    #: who had themselves deleted, nothing
    key: str
    environment: str
    currency: str
    payments: int = 0
    promised_cents: int = 0
    owed_cents: int = 0
    paid_cents: int = 0
    fee_cents: int = 0
    tax_cents: int = 0
    #: turned down by the recruiter, and waiting for somebody to look
    refused_cents: int = 0

    @property
    def total_cents(self) -> int:
        """Owed and paid, with fees and tax."""
        return self.owed_cents + self.paid_cents + self.fee_cents + self.tax_cents

    def with_rows(self, *, state: str, rows: int, amount_cents: int, charge_cents: int, tax_cents: int) -> Self:
        """And these rows of the ledger; `charge_cents` has the tax in it."""
        facts = {**vars(self), "payments": self.payments + rows}
        if state == WriteState.CONFIRMED:
            facts["paid_cents" if capabilities_of(self.environment).pays_out else "owed_cents"] += amount_cents
            facts["fee_cents"] += charge_cents - tax_cents
            facts["tax_cents"] += tax_cents
        elif state in UNFINISHED:
            facts["promised_cents"] += amount_cents
        else:
            facts["refused_cents"] += amount_cents
        return type(self)(**facts)


def statement(by: By, study: Study | None = None) -> list[StatementLine]:
    """Of one study, or of all. By month and by study in their order, people by their codes."""
    payments = Payment.objects.all() if study is None else Payment.objects.filter(campaign__study=study)
    lines: dict[tuple[str, str], StatementLine] = {}
    for row in _grouped(payments, by):
        key, environment = _said(row["key"]), row["environment"]
        blank = StatementLine(key=key, environment=environment, currency=currency_of(environment))
        lines[key, environment] = lines.get((key, environment), blank).with_rows(
            state=row["state"],
            rows=row["rows"],
            amount_cents=row["amount"],
            charge_cents=row["charge"],
            tax_cents=row["tax"],
        )
    return [lines[name] for name in sorted(lines)]


def totals(lines: Iterable[StatementLine]) -> list[StatementLine]:
    """One line for each currency; `key` and `environment` are empty."""
    sums: dict[str, dict[str, int]] = {}
    for line in lines:
        of = sums.setdefault(line.currency, dict.fromkeys(_SUMMED, 0))
        for name in _SUMMED:
            of[name] += getattr(line, name)
    return [StatementLine(key="", environment="", currency=one, **sums[one]) for one in money.ordered(sums)]


#: What is added up of lines in one currency.
_SUMMED = (
    "payments",
    "promised_cents",
    "owed_cents",
    "paid_cents",
    "fee_cents",
    "tax_cents",
    "refused_cents",
)


def _grouped(payments: QuerySet[Payment], by: By) -> QuerySet[Any, Any]:
    alike = payments.order_by().annotate(key=_KEYS[by]).values("key", "environment", "state")
    return alike.annotate(rows=Count("pk"), amount=Sum("amount_cents"), charge=Sum("fee_cents"), tax=Sum("tax_cents"))


def _said(key: str | datetime | None) -> str:
    return key.strftime("%Y-%m") if isinstance(key, datetime) else key or ""
