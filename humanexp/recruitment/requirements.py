"""Whom a campaign is open to: what recruiters know about people by themselves, in words that fit any of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from humanexp.core.errors import InvalidRequest

_COUNTRY = re.compile(r"[A-Z]{2}")
#: The API guide's limit on places in one requirement.
MOST_COUNTRIES = 30
#: Asking for thousands of approved HITs shuts good newcomers out (arXiv 2105.12762).
USUAL_APPROVAL_PERCENT, USUAL_HITS_APPROVED = 95, 100


@dataclass(frozen=True, kw_only=True)
class WorkerRequirements:
    """What a worker has to be. Nothing is asked where a field is empty."""

    #: at least this share of judged work approved
    approval_percent: int | None = None
    #: at least this many assignments approved
    hits_approved: int | None = None
    #: ISO 3166 codes; one of them
    countries: tuple[str, ...] = ()
    adult: bool = False
    #: Amazon's Masters: five percent more of the reward
    masters: bool = False

    def __post_init__(self) -> None:
        if self.approval_percent is not None and not 0 <= self.approval_percent <= 100:
            raise _refused("approval_percent", "The share of approved work is between 0 and 100 percent.")
        if self.hits_approved is not None and not 0 <= self.hits_approved <= 1_000_000:
            raise _refused("hits_approved", "The number of approved assignments is between 0 and 1,000,000.")
        if len(self.countries) > MOST_COUNTRIES or len(set(self.countries)) != len(self.countries):
            raise _refused("countries", f"Name each country once, and at most {MOST_COUNTRIES} of them.")
        for country in self.countries:
            if not _COUNTRY.fullmatch(country):
                raise _refused("countries", f"{country!r} is no code of a country: write two capitals, like US or DE.")

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `from_dict` is the inverse."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> WorkerRequirements:
        known = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise _refused(unknown[0], f"There is no requirement {unknown[0]!r}.")
        return cls(**{**known, "countries": tuple(known.get("countries") or ())})


NO_REQUIREMENTS = WorkerRequirements()


def _refused(field: str, why: str) -> InvalidRequest:
    return InvalidRequest(why, fields={field: why})
