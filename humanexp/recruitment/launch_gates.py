"""What must hold before a launch. Apps that know more than recruitment register a gate; `publish` asks all of them."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import urlsplit

from django.conf import settings

from humanexp.addresses import is_loopback
from humanexp.recruitment.pricing import Quote
from humanexp.recruitment.recruiters import capabilities_of
from humanexp.studies.models import Population, Study


class Gate(Protocol):
    """Says in a sentence why a study may not be launched there at this price; nothing when it may."""

    def __call__(self, *, study: Study, to: str, price: Quote) -> str: ...


GATES: list[Gate] = []


def register(gate: Gate) -> None:
    GATES.append(gate)


def is_at_home() -> bool:
    """Whether the platform answers on this machine alone."""
    return is_loopback(urlsplit(settings.PUBLIC_URL).hostname or "")


def is_rehearsal(to: str) -> bool:
    """No stranger can come: nobody but this machine reaches the platform, or the recruiter is a sandbox."""
    return is_at_home() or capabilities_of(to).is_sandbox


def is_asked(study: Study, to: str) -> bool:
    """Scripted participants are no people: their studies open on our own grounds without a check."""
    return not (study.population == Population.SCRIPTED and capabilities_of(to).is_own_ground)


def refusal(*, study: Study, to: str, price: Quote) -> str:
    """The first gate's sentence, or nothing."""
    if not is_asked(study, to):
        return ""
    return next((sentence for gate in GATES if (sentence := gate(study=study, to=to, price=price))), "")
