"""A study's own words for the categories that pictures are compared with: `[wanted]` of a study file."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from analysis.spec.base import Sparse, refusal


class Wording(Sparse):
    """A study's own words for a category that pictures are compared with."""

    definition: Annotated[str, Field(max_length=400, description="what the category is")] = ""
    link: Annotated[str, Field(max_length=400, description="a page to read more; empty: none is shown")] = ""

    @field_validator("link")
    @classmethod
    def _is_a_page(cls, link: str) -> str:
        try:
            parts = urlsplit(link)
        except ValueError:
            parts = urlsplit("")
        if link and not (parts.scheme in ("https", "http") and parts.netloc):
            raise refusal("{place} must be an address that begins with https:// or http://.")
        return link
