"""Studies, their plans, their members, and what each role of a member may do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import models, transaction

from analysis.labels.files import default_labels, parse_labels
from analysis.labels.space import LabelSpace
from humanexp.stimuli.models import StimulusSet


class Role(models.TextChoices):
    """What a researcher is in one study."""

    OWNER = "owner", "owner"
    RESEARCHER = "researcher", "researcher"
    REVIEWER = "reviewer", "reviewer"
    PAYER = "payer", "payer"
    VIEWER = "viewer", "viewer"


class Action(models.TextChoices):
    """What can be done in a study."""

    SEE = "see", "see design, progress and results"
    TRY = "try", "take it themselves"
    DESIGN = "design", "change the design"
    CHECK = "check", "run the pre-flight check"
    LAUNCH = "launch", "launch, extend, set caps, write to participants"
    STOP = "stop", "stop everything"
    EVIDENCE = "evidence", "see single submissions, payments and worker ids"
    REVIEW = "review", "decide whether sessions count"
    REJECT = "reject", "reject a submission"
    PAY = "pay", "pay"
    ANALYSE = "analyse", "run analyses"
    EXPORT = "export", "take the answers away as files"
    AUDIT = "audit", "read who did what"
    MEMBERS = "members", "invite and remove people"


_EVERYBODY = frozenset(Role)
_MAKERS = frozenset({Role.OWNER, Role.RESEARCHER})

MAY: Mapping[Action, frozenset[Role]] = {
    Action.SEE: _EVERYBODY,
    Action.TRY: _EVERYBODY,
    Action.DESIGN: _MAKERS,
    Action.CHECK: _MAKERS,
    Action.LAUNCH: _MAKERS,
    # In an emergency whoever handles people or money can end it.
    Action.STOP: _EVERYBODY - {Role.VIEWER},
    Action.EVIDENCE: _EVERYBODY - {Role.VIEWER},
    Action.REVIEW: _MAKERS | {Role.REVIEWER},
    Action.REJECT: frozenset({Role.OWNER, Role.REVIEWER}),
    Action.PAY: frozenset({Role.OWNER, Role.PAYER}),
    Action.ANALYSE: _MAKERS,
    Action.EXPORT: _MAKERS,
    Action.AUDIT: _EVERYBODY - {Role.VIEWER},
    Action.MEMBERS: frozenset({Role.OWNER}),
}

#: What a person reads who chooses a role for somebody.
MEANING: Mapping[Role, object] = {
    Role.OWNER: "Everything, and who else takes part.",
    Role.RESEARCHER: "Designs, checks, launches, stops, reviews, analyses and exports. Does not pay.",
    Role.REVIEWER: "Decides which sessions count, and rejects submissions.",
    Role.PAYER: "Pays, and sees what is paid for.",
    Role.VIEWER: "Looks at everything but single people, and takes nothing away.",
}


class StudyFamily(models.Model):
    """Versions of one study, and studies whose participants must not overlap."""

    slug = models.SlugField(max_length=80, unique=True)

    class Meta:
        db_table = "experiments_studyfamily"
        verbose_name_plural = "study families"

    def __str__(self) -> str:
        return self.slug


class Protocol(models.Model):
    """A frozen presentation protocol: the snapshot a study was validated with."""

    name = models.CharField(max_length=60)
    configuration = models.JSONField()
    digest = models.CharField(max_length=64, unique=True)

    class Meta:
        db_table = "experiments_protocol"

    def __str__(self) -> str:
        return self.name


class StudyState(models.TextChoices):
    DRAFT = "draft", "draft"
    COLLECTING = "collecting", "collecting"
    PAUSED = "paused", "paused"
    STOPPED = "stopped", "stopped"


#: Which states may follow a state of a study.
STUDY_TRANSITIONS = {
    StudyState.DRAFT: {StudyState.COLLECTING},
    StudyState.COLLECTING: {StudyState.PAUSED, StudyState.STOPPED},
    StudyState.PAUSED: {StudyState.COLLECTING, StudyState.STOPPED},
    StudyState.STOPPED: {StudyState.COLLECTING},
}


class Population(models.TextChoices):
    """Who answers. The two never mix in one study."""

    PEOPLE = "people", "people"
    SCRIPTED = "scripted", "scripted participants"


@lru_cache(maxsize=16)
def _labels_in(document: str) -> LabelSpace:
    return parse_labels(document)


class Origin(models.TextChoices):
    COLLECTED = "collected", "collected here"
    IMPORTED = "imported", "imported trials"


class Study(models.Model):
    """What is asked of whom. The configuration snapshot and its digest are the truth once `frozen_at` is set."""

    family = models.ForeignKey(StudyFamily, on_delete=models.PROTECT, related_name="studies")
    version = models.PositiveSmallIntegerField(default=1)
    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.COLLECTED)
    population = models.CharField(max_length=10, choices=Population.choices, default=Population.PEOPLE)
    state = models.CharField(max_length=12, choices=StudyState.choices, default=StudyState.DRAFT)
    protocol = models.ForeignKey(Protocol, null=True, blank=True, on_delete=models.PROTECT, related_name="studies")
    stimulus_set = models.ForeignKey(
        StimulusSet, null=True, blank=True, on_delete=models.PROTECT, related_name="studies"
    )
    #: validated snapshot of study.toml
    configuration = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, blank=True)
    #: the rule set as it was when the study was created: rules, thresholds, version
    rule_set = models.JSONField(default=dict)
    seed = models.BigIntegerField(default=0)
    #: how many sessions the plan holds, where the plan lies under MEDIA_ROOT, and the SHA-256 of that file
    planned_sessions = models.PositiveIntegerField(default=0)
    plan_file = models.CharField(max_length=300, blank=True)
    plan_digest = models.CharField(max_length=64, blank=True)
    #: what the planner cut or noticed, one sentence each
    plan_notes = models.JSONField(default=list)
    #: a file of labels, where trials were imported that name others than the product's; else those of the pictures hold
    labels_document = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    #: when the first session was opened; from then on a change is a new version
    frozen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "experiments_study"
        ordering = ["-created_at"]
        verbose_name_plural = "studies"
        constraints = [models.UniqueConstraint(fields=["family", "version"], name="study_version_once")]

    def __str__(self) -> str:
        return self.slug

    @property
    def space(self) -> LabelSpace:
        """The labels among which people and networks answer."""
        if self.labels_document:
            return _labels_in(self.labels_document)
        return self.stimulus_set.source_set.space if self.stimulus_set is not None else default_labels()

    @property
    def alternatives(self) -> int:
        """Labels that a trial offers: as many as the design says, or all."""
        return (self.configuration.get("design") or {}).get("alternatives") or len(self.space)

    @property
    def chance(self) -> float:
        """Share of right answers of whoever guesses among the labels that a trial offers."""
        return 1.0 / self.alternatives

    @property
    def offers_none(self) -> bool:
        """Whether "none of these" can be answered."""
        return bool((self.configuration.get("design") or {}).get("none_of_these"))

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Who makes a study owns it."""
        is_new = self._state.adding
        super().save(*args, **kwargs)
        if is_new and self.created_by is not None:
            StudyMembership.objects.create(study=self, user=self.created_by, role=Role.OWNER)

    @property
    def is_revisable(self) -> bool:
        """Nobody has taken part and nobody is invited to: a change replaces the plan. Else it is a new version."""
        return self.frozen_at is None and self.state != StudyState.COLLECTING

    @property
    def is_validation(self) -> bool:
        """Whether pictures are judged without a time limit, which works on phones as well."""
        design = self.configuration.get("design") or {}
        return bool(design.get("validation"))


class StudyMembership(models.Model):
    """What one researcher may do in one study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="study_memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "experiments_studymembership"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="study_member_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="study_member_has_a_role"),
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.study}"


class PowerEstimate(models.Model):
    """What a planned study could show, by simulation. Complete once `completed_at` is set; then never changed."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="power_estimates")
    #: `studies.power.PowerQuestion`
    question = models.JSONField()
    #: `analysis.power.study.PlannedStudy`: the design in numbers, as it was
    planned = models.JSONField()
    #: of the plan that the design had
    plan_digest = models.CharField(max_length=64)
    #: sizes that are simulated so far: an interrupted job goes on from them
    found = models.JSONField(default=list)
    #: `analysis.power.sizes.SizeReport`
    report = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "experiments_powerestimate"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"power of {self.study}"
