"""`Chart`: a figure with its tables, its definition and its caveats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.functional import Promise

from analysis.figures.table import Table
from analysis.figures.value import Figure
from analysis.findings.model.findings import Findings
from humanexp.core.errors import existing

Text = str | Promise


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Everything that stands around one picture."""

    key: str
    title: Text
    #: None where the table is all there is
    figure: Figure | None
    tables: tuple[Table, ...]
    #: what is drawn and how it is computed
    definition: tuple[Text, ...]
    #: what a reader must not conclude
    caveats: tuple[Text, ...] = ()
    #: what was found about the picture itself, and stands beside it
    found: tuple[Text, ...] = ()
    #: name of the sheet on which the figure stands beside others of its kind; empty where it is the only one
    sheet: str = ""

    def table(self, key: str) -> Table:
        found = next((table for table in self.tables if table.key == key), None)
        return existing(found, f"The figure {self.key!r} has no table {key!r}.")


@dataclass(frozen=True)
class Choice:
    """A chart that can be chosen in its family's card."""

    key: str
    label: Text
    #: heading under which it stands in a long list
    group: Text = ""


@dataclass(frozen=True)
class Family:
    """Charts of one kind: which of them a study has, and how one is built."""

    name: str
    choices: Callable[[Findings], list[Choice]]
    build: Callable[[Findings, str], Chart]


def only_chart(
    key: str, label: Text, is_there: Callable[[Findings], object], build: Callable[[Findings, str], Chart]
) -> Family:
    """A family of a single chart, of the same name, which a study has or has not."""
    return Family(key, lambda findings: [Choice(key, label)] if is_there(findings) else [], build)
