"""Languages that a study brings: bundles are kept by their digest, and the study's configuration names it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from django.db import transaction

from analysis.study.study import StudyConfiguration
from humanexp.core.errors import InputRefused
from humanexp.core.models import StoredBundle, User
from humanexp.core.text_bundles import LONGEST, TextBundle
from humanexp.studies.models import Study
from humanexp.studies.selectors import configuration_of
from humanexp.studies.services.studies import new_version, revise_study


def with_bundles(configuration: StudyConfiguration, bundles: Mapping[str, TextBundle]) -> StudyConfiguration:
    """The configuration with these bundles in place of the files that it names; they are kept."""
    for tag, bundle in bundles.items():
        if bundle.tag != tag:
            sentence = f"languages.{tag} names a bundle for {bundle.tag!r}: name it languages.{bundle.tag}."
            raise InputRefused(sentence, fields={f"languages.{tag}": sentence})
    for bundle in bundles.values():
        StoredBundle.objects.get_or_create(digest=bundle.digest, defaults={"bundle": bundle.to_dict()})
    digests = {tag: bundle.digest for tag, bundle in bundles.items()}
    return configuration.but(languages={**configuration.languages, **digests}) if digests else configuration


def bundles_beside(configuration: StudyConfiguration, folder: Path) -> dict[str, TextBundle]:
    """The bundles that a study file names as files, relative to it or by their whole path."""
    found = {}
    for tag, name in configuration.languages.items():
        if not name.endswith(".toml"):
            continue
        path = folder / name
        if path.stat().st_size > 4 * LONGEST:
            raise InputRefused(f"{path.name} is longer than {LONGEST:,} characters: no bundle is.")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InputRefused(f"{path.name} is not UTF-8: save it as UTF-8.") from error
        found[tag] = TextBundle.read(text, source=path.name)
    return found


@transaction.atomic
def bring_language(*, study: Study, bundle: TextBundle, by: User | None = None) -> Study:
    """Give the study a language, or another text for one: a study that is under way gets a new version."""
    return _changed(study, with_bundles(configuration_of(study), {bundle.tag: bundle}), by)


def take_language_away(*, study: Study, tag: str, by: User | None = None) -> Study:
    """Take a brought language out of the study."""
    configuration = configuration_of(study)
    if tag not in configuration.languages:
        raise InputRefused(f"The study does not bring {tag!r}.")
    left = {name: digest for name, digest in configuration.languages.items() if name != tag}
    return _changed(study, configuration.but(languages=left), by)


def _changed(study: Study, configuration: StudyConfiguration, by: User | None) -> Study:
    change = revise_study if study.is_revisable else new_version
    return change(study=study, configuration=configuration, by=by)
