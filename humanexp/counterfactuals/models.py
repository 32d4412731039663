from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from humanexp.core.models import Owned
from humanexp.stimuli.models import SourceImage, SourceSet, StimulusSet
from humanexp.studies.models import Population, Study

#: How the crowd is named as an oracle.
CROWD = "crowd:"


class SearchRun(Owned):
    """One search for counterfactuals against one model; complete once `completed_at` is set."""

    name = models.SlugField(max_length=60, unique=True)
    source_set = models.ForeignKey(SourceSet, on_delete=models.PROTECT, related_name="searches")
    #: specifications, e.g. "export:model.pt2", "pixel:", "classifier:export:oracle.pt2" or "crowd:"
    classifier = models.CharField(max_length=300)
    generator = models.CharField(max_length=300)
    oracle = models.CharField(max_length=600)
    #: python: runs code; only a search from the command line may name it
    may_run_code = models.BooleanField(default=False)
    #: name of the model in tables
    model_name = models.CharField(max_length=80)
    budget = models.PositiveSmallIntegerField(default=10)
    batch = models.PositiveSmallIntegerField(default=32)
    size_px = models.PositiveSmallIntegerField(default=224)
    seed = models.BigIntegerField(default=0)
    greyscale = models.BooleanField(default=False)
    #: size of an initial signed gradient step, of 1; 0 for none
    fgsm = models.FloatField(default=0.0)
    device = models.CharField(max_length=20, default="cpu")
    #: crowd: people who judge each picture of a round, who they are, and what all rounds may cost together in each
    #: currency that they are paid in
    answers_per_picture = models.PositiveSmallIntegerField(default=5)
    population = models.CharField(max_length=10, choices=Population.choices, default=Population.PEOPLE)
    cap_cents = models.PositiveIntegerField(null=True, blank=True)
    #: SHA-256 of what determines classifier, generator and oracle; written when the search begins
    digests = models.JSONField(default=dict, blank=True)
    #: scores with intervals, pooled and by class, and by budget; written at the end
    scores = models.JSONField(default=dict, blank=True)
    #: weights and pictures a second of the model; seconds that the search took, over all attempts, without people's
    facts = models.JSONField(default=dict, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_crowd(self) -> bool:
        return self.oracle == CROWD

    @property
    def job_subject(self) -> str:
        """Under this subject jobs about the search are found."""
        return f"search:{self.pk}"

    @property
    def folder(self) -> str:
        """Relative to MEDIA_ROOT."""
        return f"counterfactuals/{self.name}"


class Counterfactual(models.Model):
    """What a search made of one original."""

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="counterfactuals")
    source_image = models.ForeignKey(SourceImage, on_delete=models.PROTECT, related_name="+")
    #: order of the originals in the search; its seed follows from it
    place = models.PositiveIntegerField()
    #: accepted at step 0; None while nobody has judged it
    valid = models.BooleanField(null=True)
    accepted_steps = models.PositiveSmallIntegerField(default=0)
    #: "refused" or "budget"; empty while the search is under way
    ending = models.CharField(max_length=10, blank=True)
    clean_response = models.CharField(max_length=40, blank=True)
    clean_loss = models.FloatField(null=True)
    #: loss and response of the model at every accepted picture, step 0 first
    losses = models.JSONField(default=list)
    responses = models.JSONField(default=list)
    #: what the oracle said of every proposal
    oracle_responses = models.JSONField(default=list)
    #: of the kept picture's file; empty without one
    sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(fields=["run", "source_image"], name="counterfactual_once"),
            models.UniqueConstraint(fields=["run", "place"], name="counterfactual_place_once"),
        ]

    def __str__(self) -> str:
        return f"{self.run}: {self.source_image}"

    @property
    def category(self) -> str:
        return self.source_image.category

    @property
    def response(self) -> str:
        """What the model answers to the kept picture; empty without one."""
        return str(self.responses[-1]) if self.responses else ""

    @property
    def oracle_response(self) -> str:
        """What the oracle saw in the kept picture; of a picture refused at once, what it saw there."""
        heard = self.oracle_responses
        return str(heard[min(self.accepted_steps, len(heard) - 1)]) if heard else ""

    @property
    def original_file(self) -> str:
        """Relative to MEDIA_ROOT."""
        return f"{self.run.folder}/originals/{self.source_image.key}.png"

    @property
    def kept_file(self) -> str:
        """Relative to MEDIA_ROOT."""
        return f"{self.run.folder}/pictures/{self.source_image.key}.png"


class RoundState(models.TextChoices):
    """Where a round stands."""

    OPEN = "open", "waits for judgements"
    JUDGED = "judged", "judged"


class Round(models.Model):
    """Pictures of one step that people judge, as a study of validation."""

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="rounds")
    step = models.PositiveSmallIntegerField()
    study = models.OneToOneField(Study, on_delete=models.PROTECT, related_name="counterfactual_round")
    state = models.CharField(max_length=10, choices=RoundState.choices, default=RoundState.OPEN)
    #: stimulus of every picture to judge, by the key of its original
    stimuli = models.JSONField(default=dict)
    #: what people said, by the same key: {"yes": 4, "n": 5, "accepted": true}
    verdicts = models.JSONField(default=dict, blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    judged_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["run", "step"]
        constraints = [
            models.UniqueConstraint(fields=["run", "step"], name="round_step_once"),
            models.CheckConstraint(
                condition=Q(state="open", judged_at=None) | Q(state="judged", judged_at__isnull=False),
                name="round_judged_at_when_judged",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run}, step {self.step}"


class Benchmark(models.Model):
    """The kept pictures of a search, frozen with their manifest: a static set of test pictures."""

    name = models.SlugField(max_length=60, unique=True)
    run = models.OneToOneField(SearchRun, on_delete=models.PROTECT, related_name="benchmark")
    #: digest of the manifest, which holds the digest of every file
    manifest_sha256 = models.CharField(max_length=64)
    count = models.PositiveIntegerField()
    #: the same pictures as stimuli for people
    stimulus_set = models.OneToOneField(
        StimulusSet, null=True, blank=True, on_delete=models.SET_NULL, related_name="benchmark"
    )
    frozen_at = models.DateTimeField(auto_now_add=True)
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class SearchGroup(models.Model):
    """What finished searches of the same pictures, oracle and budget say together: see `groups`."""

    #: digest of what its searches have in common
    key = models.SlugField(max_length=16, unique=True)
    #: searches that the result was computed from
    run_ids = models.JSONField(default=list, blank=True)
    #: {"transfer": [one matrix a generator], "agreement": [one entry a pair of generators]}
    result = models.JSONField(default=dict, blank=True)
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.key

    @property
    def job_subject(self) -> str:
        """Under this subject jobs about the group are found."""
        return f"search_group:{self.pk}"
