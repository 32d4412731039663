"""Files that the database knows by name, most of them with their digest."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.utils import DEFAULT_DB_ALIAS

from humanexp.evaluations.models import EvaluationRun
from humanexp.results.models import AnalysisRun, TrialImport
from humanexp.stimuli.models import SourceImage, Stimulus
from humanexp.studies.models import Study


def named_files(using: str = DEFAULT_DB_ALIAS, *, sample: int | None = None) -> Iterator[tuple[str, str]]:
    """(path under MEDIA_ROOT, SHA-256; empty where none is stored). `sample`: so many pictures of a kind, by chance."""
    for pictures in (
        SourceImage.objects.using(using),
        Stimulus.objects.using(using).exclude(stimulus_set__completed_at=None),
    ):
        rows = pictures.values_list("file", "sha256")
        yield from rows.order_by("?")[:sample] if sample is not None else rows.order_by().iterator()
    yield from Study.objects.using(using).exclude(plan_file="").values_list("plan_file", "plan_digest")
    runs = EvaluationRun.objects.using(using).exclude(predictions_file="")
    yield from runs.values_list("predictions_file", "predictions_sha256")
    for file in AnalysisRun.objects.using(using).values_list("findings_file", flat=True):
        yield file, ""
    for files in TrialImport.objects.using(using).values_list("trials_file", "pictures_file"):
        yield from ((file, "") for file in files if file)
