"""What a planned study could show: the difference that matters between curves, and pairs that people tell apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from analysis.claims import telling_apart as claims
from analysis.corruptions.registry import NO_CORRUPTION
from analysis.errors import InvalidInput
from humanexp.core import clock
from humanexp.core.errors import InputRefused, StudyRefused
from humanexp.core.models import User, record
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.studies import permissions
from humanexp.studies.models import Action, PowerEstimate, Study
from humanexp.studies.plans import plan_head
from humanexp.studies.selectors import POWER, configuration_of, power_job, subject_of

if TYPE_CHECKING:
    from analysis.power.study import PlannedStudy, PowerReport


#: Difference in area that a study is planned for unless it says otherwise.
USUAL_DIFFERENCE = 0.033
#: What each part of a question may be.
LIMITS: Mapping[str, tuple[float, float]] = {
    "people": (2, 5000),
    "difference": (0.005, 0.5),
    "bend": (0.0, 1.0),
    "image_sd": (0.0, 10.0),
    "participant_sd": (0.0, 10.0),
    "runs": (20, 1000),
    "seed": (0, 2**31 - 1),
}


@dataclass(frozen=True, kw_only=True)
class PowerQuestion:
    """Which difference is to be found, by how many people, and what is believed of them."""

    people: int
    difference: float = USUAL_DIFFERENCE
    #: visual change at which accuracy is half-way down
    bend: float = 0.8
    #: spread of pictures and of people on the logit
    image_sd: float = 2.0
    participant_sd: float = 0.5
    runs: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            if not low <= getattr(self, name) <= high:
                said = f"{name} lies between {low:g} and {high:g}, not at {getattr(self, name):g}."
                raise InputRefused(said, fields={name: f"{low:g} to {high:g}"})

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class PlannedAnswers:
    """What a plan holds that power depends on."""

    #: corruption functions that people name pictures of
    functions: int
    people: int
    #: answers of a person on the function with the fewest
    trials_each: int
    answers_per_stimulus: int
    originals: int
    clean_answers: int


def planned_answers(study: Study) -> PlannedAnswers | None:
    """None where no two corruptions are compared by their curves: the study judges pairs, or a single corruption."""
    configuration, summary = configuration_of(study), plan_head(study)["summary"]
    answers = [sum(counts) for name, counts in summary["strata"].items() if name != NO_CORRUPTION and any(counts)]
    if configuration.design.validation is not None or len(answers) < 2:
        return None
    people = -(-summary["sessions"] // configuration.max_sessions_per_worker)
    return PlannedAnswers(
        functions=len(answers),
        people=people,
        trials_each=max(1, round(min(answers) / people)),
        answers_per_stimulus=max(1, round(sum(answers) / max(1, summary["stimuli_used"]))),
        originals=summary["pools"]["main"]["originals"],
        clean_answers=summary["clean_answers"],
    )


def common_pictures(study: Study, *, of_two_people: bool) -> int:
    """Pictures of one corruption that any two people have in common, or that a person shares with every model."""
    summary = plan_head(study)["summary"]
    if of_two_people:
        shared = summary["overlap"]["trials"] // max(1, len(summary["strata"]))
        if not shared:
            raise StudyRefused(
                "Two people of this study have no pictures of a corruption in common. Set overlap under [design], or "
                "leave the study out of the command."
            )
        return int(shared)
    planned = planned_answers(study)
    if planned is None:
        raise StudyRefused("Error consistency is planned for studies in which people name pictures of corruptions.")
    return planned.trials_each


def planned_study(study: Study, question: PowerQuestion) -> PlannedStudy:
    """The design as the simulation takes it; refuses a study without two curves to compare."""
    from analysis.power.crowd import Crowd, LogisticDrop
    from analysis.power.study import PlannedStudy

    planned = planned_answers(study)
    if planned is None:
        raise StudyRefused("Power is simulated for studies in which people name pictures of at least two corruptions.")
    plan = configuration_of(study).analysis
    found = PlannedStudy(
        crowd=Crowd(
            people=question.people,
            trials_each=planned.trials_each,
            answers_per_stimulus=planned.answers_per_stimulus,
            originals=planned.originals,
            image_sd=question.image_sd,
            participant_sd=question.participant_sd,
        ),
        functions=planned.functions,
        clean_answers=round(planned.clean_answers * question.people / planned.people),
        curve=LogisticDrop(bend=question.bend, lower=study.chance),
        chance=study.chance,
        margin=plan.margin,
        band_margin=plan.band_margin,
        recruiters=_people_of_recruiters(configuration_of(study).recruitment.places, question.people),
    )
    found.curve.lowered(question.difference)
    return found


def _people_of_recruiters(places: Mapping[str, int], people: int) -> tuple[int, ...]:
    """So many people in proportion to the places that are planned with each of several recruiters."""
    total = sum(places.values())
    return tuple(max(1, round(people * one / total)) for one in places.values()) if len(places) > 1 else ()


#: True shares of right answers, of people without bias, that a reader may have in mind; guessing is 0.5.
SHARES = (0.55, 0.6, 0.65, 0.7, 0.8)
WANTED_POWER, ALPHA = 0.8, 0.05
#: Believed lean of people's criteria: towards "same"; in ABX towards neither side.
LEAN = {"same-different": 0.5, "abx": 0.0}


@dataclass(frozen=True, kw_only=True)
class NeededPeople:
    """What one aim takes; None where it is beyond any study."""

    #: true share of right answers of people without bias, and their d'
    share: float
    d_prime: float
    people: int | None
    #: trials of a pair
    trials: int | None
    #: whether the plan has so many people
    is_planned: bool


@dataclass(frozen=True, kw_only=True)
class TellingApart:
    """The comparisons of a plan, and what they could show."""

    pairs: int
    people: int
    #: planned trials of a pair, and those of one person; plain pairs of a person
    trials: int
    trials_each: int
    plain_each: int
    d_prime_margin: float
    #: to show that people of these shares tell the pair apart
    detect: tuple[NeededPeople, ...]
    #: to show that people who cannot tell them apart are within the margin
    equivalent: NeededPeople
    #: what is assumed, and by which test
    assumed: str

    @property
    def rows(self) -> tuple[NeededPeople, ...]:
        return (*self.detect, self.equivalent)


def telling_apart(study: Study) -> TellingApart | None:
    """None where a study compares no pictures. Differences are sought at the hardest step of Holm's rule."""
    from analysis.similarity.sample_size import PlannedPairs, people_for_equivalence, people_to_detect
    from analysis.similarity.sensitivity import d_prime_of
    from analysis.study.analysis_plan import D_PRIME_MARGIN, OBSERVER_MODEL

    configuration, summary = configuration_of(study), plan_head(study)["summary"]
    asked = configuration.design.discrimination
    # Either answer is right in half of the trials: beside every trial of a pair stands one of a corruption with itself.
    planned = [2 * count for name, count in summary.get("comparisons", {}).items() if len(set(name.split(" / "))) == 2]
    if asked is None or not planned:
        return None
    pairs, trials, sessions = len(planned), min(planned), configuration.max_sessions_per_worker
    people = -(-summary["sessions"] // sessions)
    each = max(1, round(trials / people))
    plain = asked.sentinels * min(sessions, summary["sessions"])
    does = PlannedPairs(each, plain, form=asked.form, bias=LEAN[asked.form])

    def needed(d_prime: float, share: float, count: Callable[[], int]) -> NeededPeople:
        try:
            wanted = count()
        except InvalidInput:
            return NeededPeople(share=share, d_prime=d_prime, people=None, trials=None, is_planned=False)
        return NeededPeople(
            share=share, d_prime=d_prime, people=wanted, trials=wanted * each, is_planned=wanted <= people
        )

    d_primes = {share: d_prime_of(share, asked.form, OBSERVER_MODEL) for share in SHARES}
    return TellingApart(
        pairs=pairs,
        people=people,
        trials=trials,
        trials_each=each,
        plain_each=does.plain_each,
        d_prime_margin=D_PRIME_MARGIN,
        detect=tuple(
            needed(d_prime, share, lambda d=d_prime: people_to_detect(d, does, power=WANTED_POWER, alpha=ALPHA / pairs))  # type: ignore[misc]
            for share, d_prime in d_primes.items()
        ),
        equivalent=needed(0.0, 0.5, lambda: people_for_equivalence(does, power=WANTED_POWER, alpha=ALPHA)),
        assumed=claims.planned_sentence(
            power=WANTED_POWER,
            alpha=ALPHA,
            pairs=pairs,
            model=OBSERVER_MODEL,
            bias=does.bias,
            bias_sd=does.bias_sd,
            careless=does.careless,
            plain_missed=does.plain_missed,
            plain_each=does.plain_each,
        ),
    )


@transaction.atomic
def request_power(*, study: Study, question: PowerQuestion, by: User | None = None) -> tuple[PowerEstimate, Job]:
    """Ask what the design could show; the very same asked again while it is simulated is the job that there is."""
    permissions.check(by, Action.DESIGN, study)
    planned = planned_study(study, question)
    job = power_job(study)
    if job is not None and not job.is_finished:
        asked = PowerEstimate.objects.get(pk=job.parameters["estimate_id"])
        if (asked.question, asked.plan_digest) == (question.to_dict(), study.plan_digest):
            return asked, job
        raise StudyRefused("The power of this study is being simulated already: wait, or cancel that job.")
    estimate = PowerEstimate.objects.create(
        study=study,
        question=question.to_dict(),
        planned=planned.to_dict(),
        plan_digest=study.plan_digest,
        created_by=by,
    )
    record(action="power", subject=f"study:{study.slug}", study=study.slug, by=by, **question.to_dict())
    return estimate, jobs.submit(POWER, subject=subject_of(study), by=by, estimate_id=estimate.pk)


def simulate_power(*, estimate: PowerEstimate, report: Progress) -> PowerEstimate:
    """Simulate the study that was planned, and others of other sizes; sizes found by an earlier attempt stay."""
    from analysis.compute import executor
    from analysis.power.sizes import estimate_sizes
    from analysis.power.study import PlannedStudy, PowerReport

    question = PowerQuestion(**estimate.question)

    def keep(found: PowerReport) -> None:
        estimate.found = [*estimate.found, found.to_dict()]
        estimate.save(update_fields=["found"])

    with executor(settings.COMPUTE) as pool:
        sizes = estimate_sizes(
            PlannedStudy.from_dict(estimate.planned),
            question.difference,
            runs=question.runs,
            seed=question.seed,
            executor=pool,
            known=[PowerReport(**found) for found in estimate.found],
            keep=keep,
            progress=lambda done, total, people: report(done, total, f"studies of {people} people simulated"),
        )
    estimate.report, estimate.completed_at = sizes.to_dict(), clock.now()
    estimate.save(update_fields=["report", "completed_at"])
    return estimate
