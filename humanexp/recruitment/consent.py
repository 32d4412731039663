"""What people agree to: the study's blocks with the sentences of the house, or the study's own text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.html import linebreaks
from django.utils.safestring import SafeString

from analysis.spec.ethics import SINCE, Ethics
from humanexp.core.text_bundles import CONSENT
from humanexp.studies.facts import StudyFacts
from humanexp.studies.languages import code_in
from humanexp.studies.models import Study

#: Change the number with the text in templates/recruitment/take/consent; old files stay, so that old sessions can be
#: looked up.
HOUSE_VERSION = "house-5"
#: Of studies that were made before the blocks: people agree to what those before them agreed to.
HOUSE_VERSION_WITHOUT_BLOCKS = "house-4"
#: Languages of the house text: English under the bare version, the others under version and language, "house-5.de".
HOUSE_LANGUAGES = ("en", "de")
#: Blocks that stand under "Your data" in it.
_OF_DATA = ("data", "storage", "retention", "recipients", "transfers", "legal_basis", "deletion")


@dataclass(frozen=True, kw_only=True)
class Consent:
    """A text as it is shown to one reader, and the name under which a session remembers it."""

    version: str
    language: str
    html: SafeString
    #: how old people are who agree for themselves, and whether younger ones may take part with a guardian
    ethics: Ethics

    @cached_property
    def digest(self) -> str:
        """SHA-256 of exactly what is shown."""
        return hashlib.sha256(self.html.encode()).hexdigest()


def ethics_of(study: Study) -> Ethics:
    """The study's blocks, as its configuration states them."""
    return Ethics.from_dict(study.configuration.get("ethics") or {})


def has_blocks(study: Study) -> bool:
    """Whether it was made since studies have blocks of consent; earlier ones keep their text."""
    return int(study.configuration.get("spec", 1)) >= SINCE


def consent_of(study: Study, language: str, facts: StudyFacts) -> Consent:
    """What a reader of this language agrees to.

    The study's configuration holds its own text and the text's version; both are frozen with it. The house text comes
    in the reader's language, and its version says which one that was; in a brought language, sentence by sentence.
    """
    own = str(study.configuration.get("consent") or "").strip()
    house = HOUSE_VERSION if has_blocks(study) else HOUSE_VERSION_WITHOUT_BLOCKS
    code = code_in(study, language)
    is_brought = code != language
    spoken = language if is_brought or language in HOUSE_LANGUAGES else "en"
    version = house if spoken == "en" else f"{house}.{spoken}"
    ethics = ethics_of(study)
    if own and not has_blocks(study):
        html = SafeString(linebreaks(own, autoescape=True))
    else:
        own_language = str(study.configuration.get("language") or "en")
        texts = ethics.texts_in(spoken)
        context = {
            "facts": facts,
            "ethics": ethics,
            "texts": texts,
            "texts_language": spoken if spoken in ethics.translations else own_language,
            "own_text": own,
            "own_language": own_language,
            # an own text has said it all already, unless blocks add to it
            "tells_of_data": not own or facts.gives_deletion_code or any(getattr(texts, name) for name in _OF_DATA),
        }
        template = CONSENT if is_brought else f"recruitment/take/consent/{version}.html"
        with translation.override(code if is_brought else spoken):
            html = render_to_string(template, context)
    stated = str(study.configuration.get("consent_version") or "1") if own else version
    return Consent(version=stated, language=spoken, html=html, ethics=ethics)
