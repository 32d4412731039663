"""What recruiters post to us: that there is something to look at, and never what it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Hint:
    """Something has happened to an offer or a submission, says an event that a recruiter posts to us."""

    #: The signature of its delivery: the one of its names that nobody else can make up.
    delivery: str
    #: the recruiter's name of it
    about: str
