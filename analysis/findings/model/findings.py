"""`Findings`: every number of the dashboard."""

from __future__ import annotations

from typing import Self

from pydantic import JsonValue

from analysis.claims.claim import FEWEST, Judged, crowd_words, provisional_words
from analysis.claims.curves import NOT_OURS, weights_words
from analysis.entry import Entry
from analysis.findings.model.agreement import (
    Accuracy,
    Agreement,
    AverageObserver,
    Confusion,
    ConsistencyDifference,
    Contrast,
    Difficulty,
    ErrorConsistency,
    FactorAccuracy,
    GroupAccuracy,
    HumanAccuracy,
    Observer,
    Participant,
    ResponseTimes,
    ShapeBias,
    SoftAgreement,
)
from analysis.findings.model.checks import Choice, Levels, Reach, Validation
from analysis.findings.model.comparisons import Comparison, GroupContrast, GroupIndices, GroupMean, Leader
from analysis.findings.model.curves import AlikeClasses, Curve, Discrimination, Similarity
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.people import (
    AskedObserver,
    Crowd,
    Flow,
    Persons,
    RecruiterFindings,
    SessionCounts,
    TrialCounts,
)
from analysis.findings.model.settings import Settings
from analysis.findings.model.told_apart import ModelDiscrimination
from analysis.study.analysis_plan import LEVEL, CurveKind


class Labels(Entry):
    """What people chose among, and pictures show."""

    name: str
    #: digest of ids and partitions
    identity: str
    n: int


class Findings(Entry):
    """What `analysis.findings.analysing.analyse` gives; plain values in a fixed order come from `to_json`."""

    study: str
    version: str
    data_digest: str
    seed: int
    n_bootstrap: int
    settings: Settings | None = None
    observers: tuple[Observer, ...] = ()
    accuracy: tuple[Accuracy, ...] = ()
    human_accuracy: tuple[HumanAccuracy, ...] = ()
    #: by property, corruption, and population, people first
    curves: tuple[Curve, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    leaderboard: tuple[Leader, ...] = ()
    #: over kinds of networks and over families of functions, where there are two or more of these
    group_means: tuple[GroupMean, ...] = ()
    group_contrasts: tuple[GroupContrast, ...] = ()
    #: of consistency, where people's was measured
    group_indices: tuple[GroupIndices, ...] = ()
    #: for people; for classifiers it follows
    similarity: tuple[Similarity, ...] = ()
    classifier_similarity: tuple[Similarity, ...] = ()
    classes: tuple[AlikeClasses, ...] = ()
    discrimination: tuple[Discrimination, ...] = ()
    #: of models that were asked the same comparisons in words
    model_discrimination: tuple[ModelDiscrimination, ...] = ()
    error_consistency: tuple[ErrorConsistency, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    #: of every two models that answered the same pictures of people
    consistency_differences: tuple[ConsistencyDifference, ...] = ()
    #: people's answers predicted by the rest of people, and by models that keep a confidence
    soft_agreement: tuple[SoftAgreement, ...] = ()
    #: of published trials: the table of the model-vs-human benchmark
    benchmark: tuple[AverageObserver, ...] = ()
    #: classifiers over people's own accuracy, the hardest pictures first
    difficulty: tuple[Difficulty, ...] = ()
    #: pictures that people name and a classifier does not, and the reverse
    contrasts: tuple[Contrast, ...] = ()
    shape_bias: tuple[ShapeBias, ...] = ()
    #: of the factors of pictures that were asked for
    factors: tuple[FactorAccuracy, ...] = ()
    #: of labels other than the product's own, where these have partitions
    groups: tuple[GroupAccuracy, ...] = ()
    confusion: tuple[Confusion, ...] = ()
    response_times: tuple[ResponseTimes, ...] = ()
    participants: tuple[Participant, ...] = ()
    sensitivity: tuple[Choice, ...] = ()
    levels: Levels | None = None
    reach: tuple[Reach, ...] = ()
    validation: Validation | None = None
    trials: TrialCounts | None = None
    #: None in findings that say nothing of labels: the 16 entry-level categories
    labels: Labels | None = None
    notes: tuple[str, ...] = ()
    #: where whoever collected the answers counted them
    sessions: SessionCounts | None = None
    #: how many people, and how far the study is; None to findings-7
    crowd: Crowd | None = None
    flow: Flow | None = None
    #: models that were asked in words
    asked: tuple[AskedObserver, ...] = ()
    #: where people came from several
    recruiters: RecruiterFindings | None = None
    #: where people answered sentinels that tell them from machines
    persons: Persons | None = None
    #: the choice of sessions and trials where it is not the planned one
    selection: dict[str, JsonValue] | None = None

    @classmethod
    def read(cls, stored: str | bytes) -> Self:
        """Read what `to_json` wrote, by this version or an earlier one; what is not known is left out."""
        return cls.model_validate_json(stored, extra="ignore")

    @property
    def level(self) -> float:
        """Level of the intervals."""
        return self.settings.level if self.settings else LEVEL

    @property
    def network_kinds(self) -> dict[str, str]:
        """Id of the kind of every network that has one (`analysis.observers.kinds.KINDS`)."""
        return self.settings.network_kinds if self.settings else {}

    @property
    def curve_kind(self) -> CurveKind:
        """How curves are drawn."""
        return self.settings.curve if self.settings else "spline"

    @property
    def curve_note(self) -> str:
        """What stands beside every number of published curves; empty where they are the default method's."""
        return NOT_OURS[self.curve_kind] if self.curves else ""

    @property
    def weights_name(self) -> str:
        """What the plan's weights over visual change are called; empty without any."""
        weights = self.settings.weighting if self.settings else None
        return weights.called if weights else ""

    @property
    def weights_note(self) -> str:
        """The plan's weights over visual change in words; empty without any."""
        weights = self.settings.weighting if self.settings else None
        return weights_words(weights) if weights and self.curves else ""

    @property
    def counts(self) -> SessionCounts:
        """Counts of sessions; zeros where nobody counted them."""
        return self.sessions or SessionCounts()

    def crowd_of(self, people: int) -> Crowd:
        """The words on so many people who answered, of the verdicts and the counts of sessions that are found."""
        judged: dict[Judged, list[int]] = {
            "models": [one.verdict.people for one in self.comparisons if one.verdict is not None],
            "corruptions": [one.people for one in self.similarity] + [one.people for one in self.discrimination],
            "recruiters": [min(one.people) for one in (self.recruiters.pairs if self.recruiters else ())],
        }
        counts = self.sessions
        return Crowd(
            people=people,
            statement=crowd_words(judged, answered=people),
            provisional=provisional_words(counts.accepted, counts.planned) if counts else "",
        )

    @property
    def known_crowd(self) -> Crowd:
        """The crowd as it is stored; of an earlier version, what its other entries tell of it."""
        return self.crowd or self.crowd_of(sum(one.kind == "human" for one in self.observers))

    @property
    def about_people(self) -> tuple[str, ...]:
        """What stands beside everything that is said of people: on how many it rests, and whether it is provisional."""
        crowd = self.known_crowd
        return tuple(said for said in (crowd.statement, crowd.provisional) if said)

    @property
    def is_of_few(self) -> bool:
        """Too few people answered for anything to be said of people at large."""
        return 0 < self.known_crowd.people < FEWEST

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """Best and worst place of every classifier that is ranked, by its mean accuracy over corruptions."""
        ranked = ((one.classifier, one.ranks) for one in self.leaderboard)
        return {name: (places.best, places.worst) for name, places in ranked if places is not None}

    def own_comparisons(self, measure: str = "accuracy") -> tuple[Comparison, ...]:
        """Those with people's own curves, not borrowed ones."""
        return tuple(one for one in self.comparisons if one.property == measure and not one.borrowed)

    @property
    def human_curves(self) -> tuple[Curve, ...]:
        """People's curves."""
        return tuple(curve for curve in self.curves if curve.population == HUMANS)
