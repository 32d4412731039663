"""The languages in which a study can be read: those that are shipped, and those that it brings."""

from __future__ import annotations

from django.conf import settings

from humanexp.core.languages import brought_language
from humanexp.studies.models import Study


def language_of_study(study: Study) -> str:
    """The tag of the language in which its pages begin."""
    return str(study.configuration.get("language") or "en")


def bundles_of(study: Study) -> dict[str, str]:
    """Digests of the text bundles that it brings, by tag."""
    return dict(study.configuration.get("languages") or {})


def languages_of(study: Study) -> dict[str, str]:
    """Names of all its languages, by tag."""
    brought = [one for digest in bundles_of(study).values() if (one := brought_language(digest))]
    return {**dict(settings.LANGUAGES), **{one.bundle.tag: one.bundle.name for one in brought}}


def code_in(study: Study, tag: str) -> str:
    """How Django calls a language of this study: a brought one has a code of its own."""
    digest = bundles_of(study).get(tag)
    brought = brought_language(digest) if digest else None
    return brought.code if brought else tag
