"""What people agree to: the study's own text, or the house text."""

from __future__ import annotations

from dataclasses import dataclass

from humanexp.studies.models import Study

#: Change the number with the text in templates/recruitment/take/consent; old files stay, so that old sessions can be
#: looked up.
HOUSE_VERSION = "house-5"
#: Languages of the house text: English under the bare version, the others under version and language, "house-4.de".
HOUSE_LANGUAGES = ("en", "de")


@dataclass(frozen=True, kw_only=True)
class Consent:
    """The text shown, and the name under which a session remembers it."""

    version: str
    #: the study's own words; empty for the house text
    own_text: str = ""

    @property
    def template(self) -> str:
        """Of the house text."""
        return f"recruitment/take/consent/{self.version}.html"


def consent_of(study: Study, language: str) -> Consent:
    """The study's configuration holds its own text and the text's version; both are frozen with it.

    The house text comes in the reader's language, and its version says which one that was.
    """
    own = str(study.configuration.get("consent") or "").strip()
    if not own:
        is_english = language == "en" or language not in HOUSE_LANGUAGES
        return Consent(version=HOUSE_VERSION if is_english else f"{HOUSE_VERSION}.{language}")
    return Consent(version=str(study.configuration.get("consent_version") or "1"), own_text=own)
