"""What people agree to: the study's own text, or the house text."""

from __future__ import annotations

from dataclasses import dataclass

from humanexp.experiments.models import Study

#: Change the number with the text in templates/take/consent/; old files stay, so that old sessions can be looked up.
HOUSE_VERSION = "house-2"


@dataclass(frozen=True, kw_only=True)
class Consent:
    """The text shown, and the name under which a session remembers it."""

    version: str
    #: the study's own words; empty for the house text
    own_text: str = ""

    @property
    def template(self) -> str:
        return f"take/consent/{HOUSE_VERSION}.html"


def consent_of(study: Study) -> Consent:
    """The study's configuration holds its own text and the text's version; both are frozen with it."""
    own = str(study.configuration.get("consent") or "").strip()
    if not own:
        return Consent(version=HOUSE_VERSION)
    return Consent(version=str(study.configuration.get("consent_version") or "1"), own_text=own)
