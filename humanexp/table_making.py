"""The operation that initial migrations are made of: many tables at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation, OperationCategory


class MakeTables(Operation):
    """The tables of an app, one after the other.

    The models of all apps so far are rendered once for all of them. Django's own operations render them once for each,
    which would be most of the time that an empty database needs.
    """

    category = OperationCategory.ADDITION

    def __init__(self, operations: Sequence[CreateModel]) -> None:
        self.operations = operations

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [], {"operations": self.operations}

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.__dict__.pop("apps", None)  # rendered anew by whoever asks next
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return "; ".join(operation.describe() for operation in self.operations)
