"""What an archive says about itself. It is written last: a folder without it is no archive."""

from __future__ import annotations

import json
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from humanexp.console.archives.facts import Facts
from humanexp.core.errors import InputRefused

FORMAT = 1
DIGEST = r"^[0-9a-f]{64}$"


class Part(BaseModel):
    """Rows of one table, one after the other: gzipped lines of JSON."""

    model_config = ConfigDict(frozen=True)

    table: str
    object: str = Field(pattern=DIGEST)
    rows: int


class Listing(BaseModel):
    """The list of files: gzipped lines of `files.FileLine`, sorted."""

    object: str = Field(pattern=DIGEST)
    files: int
    bytes: int


class Manifest(BaseModel):
    format: int = FORMAT
    name: str = Field(pattern=r"^[0-9]{8}T[0-9]{6}-[0-9]{2}Z$")
    #: the version that made it
    product: str
    made_at: datetime
    #: sqlite or postgresql
    database: str
    #: "app.name" of every migration that the database had
    migrations: list[str]
    columns: dict[str, list[str]]
    parts: list[Part]
    sequences: dict[str, int]
    facts: Facts
    #: SQLite files of the sites that this distribution brings along, by name
    sites: dict[str, str]
    listing: Listing
    #: files that the database names and that were missing or altered when it was made
    lost: list[str] = []
    #: by which its SECRET_KEY is recognised (core.sealing)
    key_check: str
    #: there is a file of sealed keys
    has_keys: bool
    public_url: str
    verified_at: datetime | None = None


def read_manifest(content: bytes, *, named: str) -> Manifest:
    """
    Raises
    ------
    InputRefused
        If a newer version made it, or it is damaged.
    """
    try:
        loaded = json.loads(content)
        found = loaded["format"]
    except (ValueError, TypeError, KeyError) as error:
        raise InputRefused(f"The manifest of {named} is damaged. Use another archive.") from error
    if found != FORMAT:
        raise InputRefused(
            f"{named} has format {found}; this version of HumanExp reads format {FORMAT}. Restore it with the version "
            f"that made it: {loaded.get('product', 'unknown')}."
        )
    try:
        return Manifest.model_validate(loaded)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputRefused(f"The manifest of {named} is damaged at {where}. Use another archive.") from error
