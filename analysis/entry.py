"""The base of every value that is printed as JSON."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, JsonValue


class Entry(BaseModel):
    """A part of the findings: it never changes, and nothing can be put into it that it does not name.

    Notes
    -----
    A field with a default was not written by the first versions, or is not written for everybody. What was not given
    is left out of the JSON, so that absent stays absent and null stays null.
    """

    # Validators are built when the first value is read or made, not when the module is imported.
    model_config = ConfigDict(
        frozen=True, extra="forbid", from_attributes=True, ser_json_inf_nan="constants", defer_build=True
    )

    @classmethod
    def of(cls, found: object, **more: object) -> Self:
        """The entry on what was computed: its attributes by the names of the fields, and ``more`` in place of some.

        Parameters
        ----------
        found : object
            Fields that it does not have, and ``more`` does not give, stay unset.
        **more
            By field; an ellipsis leaves the field unset.
        """
        own = {name: getattr(found, name) for name in cls.model_fields if name not in more and hasattr(found, name)}
        return cls.model_validate(own | {name: value for name, value in more.items() if value is not ...})

    def to_json(self) -> dict[str, JsonValue]:
        """Plain values in the order of the fields, floats unrounded."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
