from __future__ import annotations

from django.conf import settings
from django.db import models

from humanexp.studies.models import Study


class AnalysisRun(models.Model):
    """A finished analysis: findings lie in a JSON file, the row says what they were computed from. Never changed."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="analysis_runs")
    #: version of the code
    version = models.CharField(max_length=40)
    seed = models.BigIntegerField(default=0)
    #: digest of the responses and predictions that went in
    data_digest = models.CharField(max_length=64)
    #: relative to MEDIA_ROOT
    findings_file = models.CharField(max_length=300)
    #: refits per resampled unit
    n_bootstrap = models.PositiveIntegerField(default=1000)
    trials = models.PositiveIntegerField(default=0)
    #: which sessions and trials were chosen (`results.selection.Selection`); empty = all that the rules count
    selection = models.JSONField(default=dict, blank=True)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        get_latest_by = "pk"

    def __str__(self) -> str:
        return f"analysis {self.pk} of {self.study}"


class AnalysisPlan(models.Model):
    """What was decided before looking: frozen once a study, with the digest of its content. Never changed."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="analysis_plan")
    #: as `analysis.reporting.plan.FrozenPlan` wrote it
    content = models.JSONField()
    digest = models.CharField(max_length=64)
    #: answers of people that were stored at that moment
    answers_before = models.PositiveIntegerField(default=0)
    frozen_at = models.DateTimeField()
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return f"plan {self.digest[:12]} of {self.study}"


class Report(models.Model):
    """A report on an analysis: an HTML and a PDF file."""

    run = models.ForeignKey(AnalysisRun, on_delete=models.CASCADE, related_name="reports")
    #: relative to MEDIA_ROOT
    html_file = models.CharField(max_length=300)
    pdf_file = models.CharField(max_length=300)
    #: of the two files
    html_digest = models.CharField(max_length=64)
    pdf_digest = models.CharField(max_length=64)
    figures = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"report {self.pk} on {self.run}"


class TrialImport(models.Model):
    """Published trials of an imported study: a Parquet file and this row. There are no sessions and no participants."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="trial_import")
    #: of the files' bytes, whatever they are called and in whatever order they were given
    digest = models.CharField(max_length=64)
    #: [{"name", "sha256", "trials"}]
    files = models.JSONField()
    #: {"subject-01": "human", "vgg": "classifier"}
    observers = models.JSONField()
    #: of models that answered in words: {"model": {"label": 1190, "refusal": 10}}
    kinds = models.JSONField(default=dict, blank=True)
    trials = models.PositiveIntegerField()
    #: relative to MEDIA_ROOT
    trials_file = models.CharField(max_length=300)
    #: which stimulus of the study's set is the picture of which trials, relative to MEDIA_ROOT; empty without pictures
    pictures_file = models.CharField(max_length=300, blank=True, default="")
    #: archive of an export's tables and settings, relative to MEDIA_ROOT; empty for trial files
    export_file = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    def __str__(self) -> str:
        return f"{self.trials} imported trials of {self.study}"
