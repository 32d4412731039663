"""A study's pictures and answers as a published set: the folder that `score --on` takes on another installation."""

from __future__ import annotations

import csv
import hashlib
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from analysis.errors import AnalysisError
from analysis.findings.factors import MOST_VALUES
from analysis.labels.files import labels_to_toml, shipped, shipped_names
from analysis.labels.space import LabelSpace
from analysis.sets.set_file import FILE, PublishedSet, SetFile, Use, is_test_only, licence_forbids, may_be_passed_on
from analysis.study.toml import to_toml
from humanexp.core.batches import batches_of
from humanexp.core.errors import InputRefused, NotAllowed, StudyRefused
from humanexp.core.models import User, record
from humanexp.participation.answers import Picture, stimulus_png
from humanexp.results.published_sets import factors_by_file
from humanexp.results.services import found_pictures
from humanexp.results.tables import factors_of, trials_of
from humanexp.screening.services import judge_study
from humanexp.stimuli.models import SourceSet, Stimulus, StimulusSet
from humanexp.studies import permissions
from humanexp.studies.models import Action, Origin, Population, Study, StudyState
from humanexp.studies.selectors import configuration_of

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings.observations import Observations

PICTURES, DIGESTS, TRIALS = "pictures", "pictures.sha256", "trials/people.csv"
TABLE, LABELS = "table.csv", "labels.toml"
_LONGEST_NAME = 60
#: Stimuli in one query: SQLite takes no more than some thousand variables.
_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What the author says of the set.

    Attributes
    ----------
    licence : str
        Of the set; empty: that of the originals.
    use : {"any", "test-only", "no-redistribution"}, or None
        None: as the originals.
    citation, version : str
    """

    licence: str = ""
    use: Use | None = None
    citation: str = ""
    version: str = "1"


@dataclass(frozen=True)
class Publication:
    """What a folder has, and what its author should know before passing it on, a sentence each."""

    file: SetFile
    people: int
    answers: int
    pictures: int
    warnings: tuple[str, ...]


def publish_set(*, study: Study, folder: Path, terms: Terms, by: User | None = None) -> Publication:
    """Write a study as a published set into a new or empty folder; the whole folder or nothing.

    The folder has the pictures that people saw in trials that count, these trials without anything that says who
    answered, the labels, and a ``set.toml``. It is read back before it appears.
    """
    from analysis.findings.observations import read_trials
    from analysis.sets.set_trials import set_trials

    permissions.check(by, Action.EXPORT, study)
    stimulus_set = _pictures_of(study)
    _check_empty(folder)
    judge_study(study)
    trials = trials_of(study)
    counted = read_trials(trials)
    _check_answers(study, trials, counted)
    names = {key: f"p{number:05d}" for number, key in enumerate(sorted(set(counted.stimulus.tolist())), start=1)}
    sources = _sources(stimulus_set, sorted(names))
    factors = _factors(study, counted)
    stated = _stated(study, counted, _checked(terms, sources), sorted(factors))
    file = SetFile.from_dict(stated)
    people = sorted(set(counted.observer.tolist()))
    # In an order that neither codes nor dates give away.
    secrets.SystemRandom().shuffle(people)
    with _whole(folder) as place:
        digests = dict(_write_pictures(place, stimulus_set, names))
        if factors:
            digests[TABLE] = _write_table(place, counted, names, factors)
        (place / DIGESTS).write_text(digest_list(digests), encoding="utf-8", newline="\n")
        for name, text in label_files(study.space).items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
        (place / TRIALS).parent.mkdir()
        set_trials(trials, names, people).to_csv(place / TRIALS, index=False, lineterminator="\n", na_rep="")
        (place / FILE).write_text(_head(study, len(people), len(counted)) + to_toml(stated), encoding="utf-8")
        _check_readable(place, study.space)
    made = Publication(file, len(people), len(counted), len(names), tuple(_warnings(study, sources, terms)))
    record(
        action="publish-set", subject="folder", study=study.slug, by=by,
        set=file.name, version=file.version, people=made.people, pictures=made.pictures,
    )  # fmt: skip
    return made


def _pictures_of(study: Study) -> StimulusSet:
    """The study's stimuli, if it may be published at all."""
    if study.origin == Origin.IMPORTED:
        raise StudyRefused(f"The trials of {study} were published before: pass on the folder that they came in.")
    if study.is_validation or study.stimulus_set is None:
        raise StudyRefused(f"{study} asks for no label of a picture: only a study with forced choice becomes a set.")
    return study.stimulus_set


def _check_answers(study: Study, trials: pd.DataFrame, counted: Observations) -> None:
    if len(counted):
        return
    if len(trials) and not (trials["task"] == "categorisation").any():
        raise StudyRefused(f"{study} asks for no label of a picture: only a study with forced choice becomes a set.")
    raise StudyRefused(f"{study} has no answers that count yet: recruit participants first.")


def _check_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputRefused(f"{folder} is not empty. Name a new or an empty folder with --to.")


def _sources(stimulus_set: StimulusSet, keys: Sequence[str]) -> list[SourceSet]:
    """The sets that the originals of these stimuli are from."""
    found: set[int] = set()
    for some in batches_of(_AT_ONCE, keys):
        shown = stimulus_set.stimuli.filter(key__in=some)
        found |= set(shown.values_list("source_image__source_set_id", flat=True))
    return list(SourceSet.objects.filter(pk__in=found))


def _checked(terms: Terms, sources: Sequence[SourceSet]) -> Terms:
    """The terms with what the originals' are, refused where these forbid them."""
    for one in sources:
        check_may_be_passed_on(one)
        if is_test_only(one.set_document) and terms.use == "any":
            raise NotAllowed(f"The pictures of {one} are for tests alone: so must the set be (test-only).")
    of_originals = sorted({one.licence for one in sources if one.licence})
    if not (terms.licence or of_originals):
        raise InputRefused("The licence of the pictures is not recorded. State one that you may give.")
    others = [one for one in of_originals if one != terms.licence]
    stated = f"{terms.licence}; originals: {', '.join(others)}" if terms.licence and others else terms.licence
    usual = usual_terms(sources)
    return Terms(
        licence=stated or usual.licence,
        use=terms.use or usual.use,
        citation=terms.citation or usual.citation,
        version=terms.version,
    )


def check_may_be_passed_on(source: SourceSet) -> None:
    """Refuse originals whose author forbids it."""
    if not may_be_passed_on(source.set_document):
        raise NotAllowed(f"The pictures of {source} may not be passed on: its {FILE} says no-redistribution.")
    if licence_forbids(source.licence):
        raise NotAllowed(f"Pictures made from {source} may not be passed on: their licence is {source.licence}.")


def usual_terms(sources: Sequence[SourceSet]) -> Terms:
    """Those of the originals."""
    return Terms(
        licence=", ".join(sorted({one.licence for one in sources if one.licence})),
        use="test-only" if any(is_test_only(one.set_document) for one in sources) else "any",
        citation="; ".join(filter(None, map(_citation, sources))),
    )


def _citation(source: SourceSet) -> str:
    """Of originals that are a published set themselves."""
    return SetFile.from_toml(source.set_document).citation if source.set_document else ""


def cautions(study: Study) -> list[str]:
    """What the author of a set of this study should know before it is made, a sentence each."""
    originals = SourceSet.objects.filter(images__stimuli__stimulus_set=study.stimulus_set).distinct()
    return list(_warnings(study, list(originals), Terms()))


def _warnings(study: Study, sources: Sequence[SourceSet], terms: Terms) -> Iterator[str]:
    if study.state in (StudyState.COLLECTING, StudyState.PAUSED):
        yield (
            f"{study} is {study.state}, not stopped: answers that come later are not in this set. Publish them "
            "under another version."
        )
    if study.population == Population.SCRIPTED:
        yield "Scripted participants answered, not people: the set says so."
    unknown = [one.name for one in sources if not one.licence]
    if unknown:
        yield f"No licence is recorded for the originals ({', '.join(unknown)}): find out whether you may pass them on."
    if terms.use == "no-redistribution":
        yield "The set says no-redistribution: whoever gets the folder from you must not pass it on."


def _stated(study: Study, counted: Observations, terms: Terms, factors: Sequence[str]) -> dict[str, object]:
    """The settings of ``set.toml``; what is not known is left out."""
    control, excluded = _left_out(counted)
    who = "scripted participants, not people; " if study.population == Population.SCRIPTED else ""
    sessions = len(set(counted.session.tolist()))
    about = {
        "name": plain_name(study.slug),
        "version": terms.version,
        "title": study.title,
        "citation": terms.citation,
        "licence": terms.licence,
        "use": terms.use,
        "labels": labels_of(study.space),
    }
    trials: dict[str, object] = {
        "files": [TRIALS],
        "people": f"{who}sessions that count: {sessions:,}",
        "task": f"forced choice among {study.alternatives} labels{' and none of these' if study.offers_none else ''}",
    }
    if study.configuration:
        protocol = configuration_of(study).protocol
        trials["exposure_ms"] = protocol.stimulus_ms
        if protocol.mask_ms:
            trials["mask"] = f"noise, {protocol.mask_ms} ms"
    if study.offers_none:
        trials["none_offered"] = True
    return {
        **{name: value for name, value in about.items() if value},
        PICTURES: {
            "path": PICTURES,
            "digests": DIGESTS,
            **({"table": TABLE, "factors": factors} if factors else {}),
            "size_px": study.stimulus_set.size_px if study.stimulus_set is not None else None,
        },
        "trials": trials,
        "conditions": {"control": control, "excluded": excluded},
    }


def _left_out(counted: Observations) -> tuple[list[str], list[str]]:
    """Conditions that means leave out by the published rule: unchanged pictures, and those at which people fail."""
    from analysis.findings.agreement import conditions_of, included_conditions
    from analysis.findings.observations import CLEAN

    names = set(conditions_of(counted).tolist())
    return sorted(names & {CLEAN}), sorted(names - set(included_conditions(counted, {})[0]) - {CLEAN})


def plain_name(slug: str) -> str:
    """The name of a set: small letters, digits and single hyphens."""
    return "-".join(part for part in slug.lower().replace("_", "-").split("-") if part)[:_LONGEST_NAME].strip("-")


def labels_of(space: LabelSpace) -> str:
    """What a ``set.toml`` calls its labels: the product's by name, others by the file beside it."""
    is_shipped = space.name in shipped_names() and shipped(space.name).identity == space.identity
    return space.name if is_shipped else LABELS


def label_files(space: LabelSpace) -> dict[str, str]:
    """Texts by path of the labels beside a ``set.toml``, with their drawings; none of labels that the product ships."""
    return {} if labels_of(space) != LABELS else {LABELS: labels_to_toml(space), **space.drawings}


def digest_list(digests: Mapping[str, str]) -> str:
    """The text of `DIGESTS`: the digest of every file below `PICTURES`, as ``sha256sum`` writes it."""
    return "".join(f"{digest}  {PICTURES}/{name}\n" for name, digest in sorted(digests.items()))


def _factors(study: Study, counted: Observations) -> dict[str, dict[str, str]]:
    """The value of each original, of factors that name groups of pictures rather than pictures."""
    table = factors_of(study)
    found: dict[str, dict[str, str]] = {}
    shown = set(counted.original.tolist())
    for row in () if table is None else table.to_dict("records"):
        if row["original"] in shown:
            found.setdefault(str(row["factor"]), {})[row["original"]] = row["value"]
    return {name: values for name, values in found.items() if len(set(values.values())) <= MOST_VALUES}


def _head(study: Study, people: int, answers: int) -> str:
    who = "scripted participants" if study.population == Population.SCRIPTED else "people"
    return f"# Written by HumanExp {settings.VERSION}: {people:,} {who}, {answers:,} answers.\n"


def _write_pictures(place: Path, stimulus_set: StimulusSet, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every picture as it was sent to participants, without metadata; its name and digest."""
    (place / PICTURES).mkdir()
    for keys in batches_of(_AT_ONCE, sorted(names)):
        found = Stimulus.objects.filter(stimulus_set=stimulus_set, key__in=keys)
        for key, *picture in found.values_list("key", *Picture._fields):
            content, name = stimulus_png(Picture(*picture)), f"{names[key]}.png"
            (place / PICTURES / name).write_bytes(content)
            yield name, hashlib.sha256(content).hexdigest()


def _write_table(
    place: Path, counted: Observations, names: Mapping[str, str], factors: Mapping[str, Mapping[str, str]]
) -> str:
    """Label and factors of every picture; the digest of the file."""
    shown = zip(counted.stimulus.tolist(), counted.original.tolist(), counted.category.tolist(), strict=True)
    columns = sorted(factors)
    path = place / PICTURES / TABLE
    with path.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["path", "category", *columns])
        for stimulus, original, category in sorted(set(shown)):
            values = [factors[name].get(original, "") for name in columns]
            writer.writerow([f"{names[stimulus]}.png", category, *values])
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_readable(place: Path, space: LabelSpace) -> None:
    """Read the folder as another installation will, and refuse it where that would."""
    from analysis.published_trials import read_published_trials

    try:
        one = PublishedSet.read(place)
        assert one.file.trials is not None  # noqa: S101 - written above
        read = read_published_trials(
            one.trial_files, study=one.key, space=space, none_offered=one.file.trials.none_offered
        )
        found_pictures(read.trials, read.observers, one.pictures)
        factors_by_file(one, labels=space.name)
    except AnalysisError as error:
        raise InputRefused(f"No set can be made of these answers: {error}") from error


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A folder next to the wanted one, which takes its place when the block has ended without an error."""
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield place
        place.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        place.rename(folder)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
