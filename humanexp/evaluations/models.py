from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django.db import models

from analysis.classifiers.papers import kind_of
from analysis.observers.kinds import KINDS
from humanexp.core.models import Owned
from humanexp.evaluations.specs import shown
from humanexp.stimuli.models import StimulusSet


class EvaluationRun(Owned):
    """One classifier on one stimulus set; predictions lie in a Parquet file. Complete once `completed_at` is set."""

    stimulus_set = models.ForeignKey(StimulusSet, on_delete=models.CASCADE, related_name="evaluations")
    #: the `classifier` column of the predictions, and the name on the dashboard
    name = models.CharField(max_length=80)
    #: adapter string, e.g. "timm:resnet50"
    spec = models.CharField(max_length=300)
    #: of networks, an id of `analysis.observers.kinds.KINDS`; empty: what is known of the spec and the name
    kind = models.CharField(max_length=20, blank=True)
    device = models.CharField(max_length=20, default="cpu")
    #: how the outputs that stand for a label became its score: mean, sum or max
    rule = models.CharField(max_length=8, default="mean")
    #: among: the labels' outputs compete alone; open: outputs that stand for no label compete as well
    decide = models.CharField(max_length=8, default="among")
    #: digest of `LabelSpace.identity` of the pictures' labels; empty of predictions from before it was recorded
    labels_identity = models.CharField(max_length=64, blank=True)
    #: decided among the classifier's own labels, e.g. 1,000-way
    own_labels = models.BooleanField(default=False)
    #: mapping file of a network with its own labels
    labels_file = models.CharField(max_length=300, blank=True)
    #: digest of the weights that were used
    classifier_digest = models.CharField(max_length=64, blank=True)
    #: number of labels that it chose from
    label_space = models.PositiveIntegerField(default=16)
    preprocessing = models.CharField(max_length=300, blank=True)
    #: of torch and the other libraries that had a part in it, and the precision
    versions = models.JSONField(default=dict, blank=True)
    predictions_file = models.CharField(max_length=300, blank=True)
    predictions_sha256 = models.CharField(max_length=64, blank=True)
    #: of an observer that is asked in words: every answer to every question
    answers_file = models.CharField(max_length=300, blank=True)
    #: which questions were asked, what they cost, and what all answers say
    asking = models.JSONField(default=dict, blank=True)
    count = models.PositiveIntegerField(default=0)
    accuracy_clean = models.FloatField(null=True, blank=True)
    #: that predicting took, summed over processes; reading ahead, joining and waiting are not in it
    seconds = models.FloatField(null=True, blank=True)
    #: what predicting took: kWh and kg CO2, measured or estimated
    energy = models.JSONField(default=dict, blank=True)
    #: subject of the newest job that classifies for this run together with others; empty: for it alone
    together = models.CharField(max_length=40, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["stimulus_set", "name"], name="evaluation_name_once")]

    def __str__(self) -> str:
        return f"{self.name} on {self.stimulus_set}"

    @property
    def network_kind(self) -> str:
        """Id of its kind: as somebody said, or as the papers' networks are known; empty if unknown."""
        return self.kind or kind_of(self.spec, self.name)

    @property
    def network_kind_name(self) -> str:
        """The same for people."""
        return KINDS[self.network_kind].name if self.network_kind else "not known"

    @property
    def alternatives(self) -> int:
        """Labels that each question to it offered, where these were fewer than all; else 0."""
        return int(self.asking.get("alternatives") or 0)

    @property
    def among(self) -> str:
        """To follow "right": how many labels each question offered, where it did not offer all."""
        number = self.alternatives
        return f" among {number} alternatives (chance {1 / number:.3f})" if number else ""

    @property
    def job_subject(self) -> str:
        """Under this subject jobs about the run are found."""
        return self.together or f"evaluation:{self.pk}"

    @property
    def folder(self) -> str:
        """Where its files lie, relative to MEDIA_ROOT."""
        return f"evaluations/{self.pk}"

    @property
    def pictures_per_s(self) -> float | None:
        """Pictures a second and process; None for answers on record, which no picture is read for."""
        return self.count / self.seconds if self.seconds and not self.spec.startswith("table:") else None

    @property
    def shown_spec(self) -> str:
        """The adapter string for people: no folder of the server, of an uploaded table the digest's beginning."""
        return shown(self.spec)


class Retraining(Owned):
    """A network trained further on stimuli or pictures, and what that brought. Complete once `completed_at` is set."""

    #: what it was trained on, and unless another set is named, tested on (other originals of it)
    stimulus_set = models.ForeignKey(
        StimulusSet, null=True, blank=True, on_delete=models.CASCADE, related_name="retrainings"
    )
    #: sets of clean pictures that it was trained on, too: {"source_set", "name", "count"}, and perhaps "easy", "like"
    pictures = models.JSONField(default=list, blank=True)
    #: sets of clean pictures that it was tested on, too
    tests = models.JSONField(default=list, blank=True)
    evaluation_set = models.ForeignKey(
        StimulusSet, null=True, blank=True, on_delete=models.CASCADE, related_name="tested_retrainings"
    )
    name = models.CharField(max_length=80)
    #: adapter string of the network before
    spec = models.CharField(max_length=300)
    device = models.CharField(max_length=20, default="cpu")
    labels_file = models.CharField(max_length=300, blank=True)
    #: the loss is among all outputs of the network instead of the labels of the pictures
    own_labels = models.BooleanField(default=False)
    #: corruptions trained on; empty: all of the set
    corruptions = models.JSONField(default=list, blank=True)
    #: fields of `analysis.retraining.training.Recipe`
    recipe = models.JSONField(default=dict)
    #: share of the originals that are trained on, where one set is divided
    share = models.FloatField(default=0.5)
    #: device power in watts, overhead, kg CO2 a kWh
    power = models.JSONField(default=dict)
    #: name of the study whose people it is compared with; empty: with nobody
    people_of = models.CharField(max_length=80, blank=True)
    #: the .pt2 file that is written
    out = models.CharField(max_length=300)
    #: digest of the network after
    classifier_digest = models.CharField(max_length=64, blank=True)
    #: before and after, losses, energy
    report = models.JSONField(default=dict, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} retrained on {self.material}"

    @property
    def material(self) -> str:
        """Names of what it was trained on."""
        stimuli = [self.stimulus_set.name] if self.stimulus_set is not None else []
        return ", ".join([*stimuli, *map(_said, self.pictures)])

    @property
    def job_subject(self) -> str:
        """Under this subject jobs about it are found."""
        return f"retraining:{self.pk}"

    @property
    def shown_spec(self) -> str:
        """The adapter string for people, without folders of the server."""
        return shown(self.spec)

    @property
    def new_name(self) -> str:
        """Of the network after."""
        return PurePath(self.out).stem

    @property
    def folder(self) -> str:
        """Where its checkpoint lies, relative to MEDIA_ROOT."""
        return f"evaluations/retraining-{self.pk}"


class UploadedModel(Owned):
    """A network's file that came through the console: it waits, is checked, and is then shelved or refused."""

    #: of its files on the shelf, and in adapter strings
    name = models.CharField(max_length=60)
    #: as a library names the network that the weights belong to, e.g. "timm:resnet50"; empty for whole programs
    architecture = models.CharField(max_length=120, blank=True)
    #: labels, input_px, mean, std, outputs: what is written beside it
    description = models.JSONField(default=dict)
    #: below MEDIA_ROOT, while it waits
    waiting_file = models.CharField(max_length=300, blank=True)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    #: adapter string once it stands on the shelf
    spec = models.CharField(max_length=300, blank=True)
    #: why it was refused
    refusal = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(refusal=""), name="uploaded_model_name_once_unless_refused"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def job_subject(self) -> str:
        """Under this subject jobs about it are found."""
        return f"uploaded_model:{self.pk}"

    @property
    def shown_spec(self) -> str:
        """The adapter string for people, without folders of the server."""
        return shown(self.spec)


def _said(pictures: Mapping[str, Any]) -> str:
    """Pictures of a retraining: their set, and what of it."""
    like = pictures.get("like")
    told = [
        f"{pictures['count']:,}" if pictures["count"] else "",
        "easy ones" if pictures.get("easy") else "",
        f"as many of each label as {_said(like)}" if like else "",
    ]
    which = ", ".join(filter(None, told))
    return f"{pictures['name']} ({which})" if which else str(pictures["name"])
