"""The demo: the product's own steps in a row, from pictures to a dashboard, with people whose true curves are known."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import math
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django.core.management import call_command
from django.db import DatabaseError, connection

from analysis.classifiers.onnx_network import INSTALL, is_installed
from analysis.design.originals_needed import demand_of, smallest_demand
from analysis.errors import install
from analysis.labels.files import default_labels
from analysis.study.study import StudyConfiguration
from humanexp.console import scripted_participants
from humanexp.console.scripted_participants import Cast
from humanexp.core.errors import InputRefused, JobError, StudyRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path, write_whole
from humanexp.evaluations.services import evaluations
from humanexp.evaluations.specs import default_name
from humanexp.jobs.models import Job, JobState
from humanexp.ledger.budgets import set_month_cap
from humanexp.ledger.figures import payment_summary
from humanexp.ledger.settlement import settle
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.results.services import request_analysis
from humanexp.screening.services import judge_study
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.personas import DEFAULT_MIX
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generation import create_stimulus_set, start_generation
from humanexp.stimuli.services.imports import check_images, import_images
from humanexp.stimuli.services.sources import ImportOrder
from humanexp.studies import services
from humanexp.studies.models import Study
from humanexp.table_making import OtherTables, check_tables

#: Everything of the demo has one of these names.
NAMES = frozenset({"demo", "try-it"})
RESEARCHER = "researcher"
PICTURES_PER_CATEGORY = 24
_RECORD = "demo.json"
#: Labels with the fewest pictures that a refusal names.
_LABELS_TOLD = 4
#: What a demo writes under MEDIA_ROOT, beside its database, keys and logs. Nothing else there is ever removed.
_MADE = (
    *(_RECORD, "demo-numbers.json", "demo", "originals", "thumbnails", "stimuli", "plans", "evaluations", "results"),
    *(f"{site}.sqlite3{end}" for site in ("marketplace", "panel") for end in ("", "-wal", "-shm")),
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What decides the demo's numbers."""

    participants: int
    seed: int
    #: folder of photographs; empty: the drawings
    images: str = ""
    #: the site of this distribution on which its people are found
    recruiter: str = "marketplace"


def check(options: Options) -> None:
    """Refuse, before anything is removed or written, what could never be made."""
    if not options.images:
        from analysis.examples.pictures import source_seeds

        source_seeds(PICTURES_PER_CATEGORY, options.seed)
        return
    images = Path(options.images)
    if not images.exists():
        raise InputRefused(f"{images}: there is no such folder or file.")
    if any(images.is_relative_to(media_path(made)) for made in _MADE):
        raise InputRefused(
            f"{images} belongs to the demo, which is about to be made anew: copy the pictures elsewhere."
        )


def check_photographs(options: Options) -> None:
    """Refuse photographs that cannot be read or are too few, before anything is removed; every file is looked at.

    Raises
    ------
    InputRefused
        Naming the files, or the labels with the fewest photographs.
    """
    if not options.images:
        return
    found = check_images(source=Path(options.images), order=ImportOrder(name="demo"))
    n = found.total()
    needed = smallest_demand(configuration_of("demo", options).design, originals=n).originals
    if n >= needed:
        return
    fewest = sorted((found[label], label) for label in default_labels().ids)[:_LABELS_TOLD]
    told = ", ".join(f"{label} ({count})" for count, label in fewest)
    raise InputRefused(
        f"{options.images}: {n} different photographs are too few, the demo takes at least {needed}. Fewest are of "
        f"{told}. Add {needed - n}, or leave out --images for a demo of drawings."
    )


@contextlib.contextmanager
def owned() -> Iterator[None]:
    """For the time of the block, no other demo works on this MEDIA_ROOT; the lock dies with the process.

    Raises
    ------
    StudyRefused
        If another one does.
    """
    path = media_path("logs/demo.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StudyRefused(
                f"Another demo is at work in {path.parents[1]}: stop it first, or set MEDIA_ROOT to another folder."
            ) from error
        yield


def finished_with(options: Options) -> bool:
    """Whether the demo of these options stands here, complete.

    Raises
    ------
    StudyRefused
        If one of other options does.
    """
    try:
        record = json.loads(media_path(_RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    # Demos of earlier versions knew one site only.
    if {"recruiter": Options.recruiter, **record} != asdict(options):
        made = ", ".join(f"{name} {value}" for name, value in record.items() if value not in ("", Options.recruiter))
        raise StudyRefused(f"The demo here was made with {made}. Add --fresh to make it anew.")
    return True


def researcher() -> User:
    """Whose everything of the demo is; `report` gives them a password."""
    found, _made = User.objects.get_or_create(username=RESEARCHER, defaults={"is_staff": True, "is_superuser": True})
    return found


def is_finished() -> bool:
    return media_path(_RECORD).exists()


def record_finished(options: Options) -> None:
    write_whole(media_path(_RECORD), json.dumps(asdict(options)).encode())


def set_aside_other_tables() -> None:
    """Rename a SQLite database that another version made, so that the demo begins with an empty one.

    Raises
    ------
    StudyRefused
        If there is other work in it.
    """
    try:
        check_tables(connection)
        return
    except OtherTables:
        if connection.vendor != "sqlite":  # `migrate` refuses it next
            return
    try:
        _refuse_other_work()
    except DatabaseError as error:
        raise StudyRefused(
            "Whether this database of another version holds other work cannot be told. Set MEDIA_ROOT to another "
            "folder for the demo: nothing was removed."
        ) from error
    connection.close()
    name = connection.settings_dict["NAME"]
    for end in ("", "-wal", "-shm"):
        if (file := Path(f"{name}{end}")).exists():
            file.rename(f"{name}.set-aside{end}")


def _refuse_other_work() -> None:
    studies = Study.objects.exclude(slug__in=NAMES).values_list("slug", flat=True)
    pictures = SourceSet.objects.exclude(name__in=NAMES).values_list("name", flat=True)
    if others := [*studies, *pictures]:
        raise StudyRefused(
            f"This database holds other work ({', '.join(others[:3])}). "
            "Set MEDIA_ROOT to another folder for the demo: nothing was removed."
        )


def clear() -> None:
    """Remove what demos made. Other studies or pictures in this database are never touched: then nothing is removed.

    Raises
    ------
    StudyRefused
        Naming what is in the way.
    """
    _refuse_other_work()
    # First of all: a demo that is half removed is none.
    media_path(_RECORD).unlink(missing_ok=True)
    accounts = list(User.objects.exclude(username=RESEARCHER))
    call_command("flush", interactive=False, verbosity=0)
    for account in accounts:
        account.pk = None
    User.objects.bulk_create(accounts)
    for entry in map(media_path, _MADE):
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)


STUDIES = Path(__file__).resolve().parent / "demo_studies"
#: What ships with the product, as the console names it.
CLASSIFIERS = {
    "trained on clean pictures": "fixtures/classifiers/clean.pt2",
    "trained on corrupted pictures too": "fixtures/classifiers/robust.pt2",
}
#: Of photographs the demo asks a network that was trained on photographs.
KNOWS_PHOTOGRAPHS = "lite:0"
TITLE_OF_PHOTOGRAPHS = "Noise and blur: how far behind people is a network on your photographs?"
CORRUPTIONS = ("gaussian_noise", "uniform_noise", "gaussian_blur")
#: Stimuli made for every one that is shown, at least: those of practice pictures and sentinels are not shown corrupted,
#: and of few pictures they are a larger share.
SPARE = 1.3
#: Seconds at most; payments take a few, or many where other work keeps the machine busy.
PAYMENTS_S = 300

Report = Callable[[int, int], None]


def configuration_of(name: str, options: Options) -> StudyConfiguration:
    """A study of the demo as its file says, with what the options decide."""
    path = STUDIES / f"{name}.toml"
    configuration = StudyConfiguration.from_toml(path.read_text(encoding="utf-8"), source=path.name)
    if name == "demo":
        configuration = configuration.but(design=configuration.design.but(sessions=options.participants))
        if options.images:
            configuration = configuration.but(title=TITLE_OF_PHOTOGRAPHS)
    return configuration.but(seed=options.seed)


@dataclass
class Demo:
    """What has been made so far; steps are called in order."""

    options: Options
    #: called while waiting for another process: raises when one of them has died
    watch: Callable[[], None]
    study: Study = field(init=False)
    campaign: Campaign = field(init=False)
    cast: Cast = field(init=False)
    #: sentences worth telling at the end
    notes: list[str] = field(default_factory=list)

    @property
    def networks(self) -> dict[str, str]:
        """Adapter strings by name, of networks that know such pictures; none where something is not installed."""
        if self._missing:
            return {}
        if self.options.images:
            return {default_name(KNOWS_PHOTOGRAPHS): KNOWS_PHOTOGRAPHS}
        return {name: f"export:{file}" for name, file in CLASSIFIERS.items()}

    @property
    def _missing(self) -> list[str]:
        """Commands that install what the networks need."""
        missing = [] if importlib.util.find_spec("torch") is not None else [install("torch")]
        return missing + ([INSTALL] if self.options.images and not is_installed(KNOWS_PHOTOGRAPHS) else [])

    @property
    def observers(self) -> ObserverModel:
        return ObserverModel(curves=DEMO_CURVES, seed=self.options.seed)

    def pictures(self, report: Report) -> None:
        """A source set: the drawings, or a folder of photographs."""
        if self.options.images:
            source, provenance = Path(self.options.images), ""
        else:
            from analysis.examples.pictures import write_source_folder

            source, provenance = media_path("demo/drawings"), "drawn by analysis.examples.pictures"
            write_source_folder(source, PICTURES_PER_CATEGORY, self.options.seed, progress=report)
        order = ImportOrder(name="demo", provenance=provenance, by_id=researcher().pk)
        made = import_images(source=source, order=order)
        self.notes.extend(f"Left out, the same picture as {kept}: {left}" for left, kept in made.duplicates)
        self.notes.extend(f"Left out: {sentence}" for sentence in made.ignored)
        if self._missing:
            knows = " that knows photographs" if self.options.images else ""
            self.notes.append(f"No network{knows} can run here; to have one: {', then '.join(self._missing)}.")

    def golds(self, report: Report) -> None:
        """Networks say which pictures are easy. Without them pictures stay unchecked, and a note says so."""
        if not self.networks:
            report(1, 1)
            return
        self._wait(
            evaluations.select_gold(source_set=SourceSet.objects.get(name="demo"), specs=list(self.networks.values())),
            report,
        )

    def stimuli(self, report: Report) -> None:
        """Stimuli over the whole reachable range of visual change."""
        source_set = SourceSet.objects.get(name="demo")
        design = configuration_of("demo", self.options).design
        originals = source_set.images.count()
        shown_corrupted = originals - demand_of(design, originals=originals)[0].outside_main
        spare = max(SPARE, 1.15 * originals / shown_corrupted)
        pairs = design.discrimination.trials if design.discrimination else 0
        in_pairs = pairs * (design.discrimination.pictures if design.discrimination else 0)
        shown = self.options.participants * (design.main_trials + in_pairs)
        described = Described(
            source_set=source_set,
            name="demo",
            corruptions=CORRUPTIONS,
            count=math.ceil(shown / len(CORRUPTIONS) * spare),
            seed=self.options.seed,
            with_plain=True,
        )
        made = create_stimulus_set(described, by=researcher())
        self._wait(start_generation(stimulus_set=made), report)

    def studies(self, report: Report) -> None:
        """The scripted study, and a short one for whoever opens the link."""
        self.study = services.create_study(configuration=configuration_of("demo", self.options), by=researcher())
        self.notes.extend(self.study.plan_notes)
        short = services.create_study(configuration=configuration_of("try-it", self.options), by=researcher())
        publish(study=short, terms=LaunchTerms(to="link"), skip_preflight=True)
        report(1, 1)

    def publish(self, report: Report) -> None:
        """The offers, over HTTP as any client makes them."""
        # Money of a site on this machine buys nothing.
        set_month_cap(environment=self.options.recruiter, cap_cents=None, by=None)
        terms = LaunchTerms(to=self.options.recruiter, assignments=self.study.planned_sessions)
        self.campaign = publish(study=self.study, terms=terms)
        self._until(
            lambda: not self.campaign.hits.filter(hit_id="").exists(),
            f"The {self.options.recruiter} did not confirm every offer",
        )
        self.campaign.refresh_from_db()
        report(1, 1)

    def participants(self, report: Report) -> None:
        """Networks start on the stimuli while scripted participants take part."""
        for name, spec in self.networks.items():
            evaluations.evaluate(stimulus_set=self._stimulus_set(), spec=spec, name=name, owner=researcher())

        def watched(done: int, total: int) -> None:
            self.watch()
            report(done, total)

        self.cast = scripted_participants.run_participants(
            study=self.study,
            campaign=self.campaign,
            participants=self.study.planned_sessions,
            mix=DEFAULT_MIX,
            seed=self.options.seed,
            observers=self.observers,
            progress=watched,
        )

    def judge_and_pay(self, report: Report) -> None:
        """Poll the recruiter, judge every session, approve and pay through the ledger."""
        sync(study=self.study)
        judge_study(study=self.study)
        settle(study=self.study)
        expected = self.study.planned_sessions

        def paid() -> bool:
            approved = payment_summary(self.study)["approved"]
            report(approved, expected)
            return approved >= expected

        self._until(paid, "Not everybody was paid")

    def classifiers(self, report: Report) -> None:
        """What is left of the networks' predictions."""
        jobs = Job.objects.filter(kind=evaluations.JOB_KIND).order_by("pk")
        for number, job in enumerate(jobs, start=1):
            self._wait(job, lambda _done, _total, number=number: report(number, len(jobs)))  # type: ignore[misc]

    def analysis(self, report: Report) -> None:
        """Curves with bands, comparisons, tests: stored for the dashboard."""
        self._wait(request_analysis(study=self.study), report)

    def _stimulus_set(self) -> StimulusSet:
        return StimulusSet.objects.get(name="demo")

    def _wait(self, job: Job, report: Report) -> None:
        """Until the job runner has done it."""
        while not job.is_finished:
            time.sleep(0.1)
            self.watch()
            job.refresh_from_db()
            report(job.done, max(1, job.total))
        if job.state != JobState.DONE:
            raise JobError(f"The job {job.kind} ended as {job.state}: {job.error.strip().splitlines()[-1]}")

    def _until(self, holds: Callable[[], bool], complaint: str) -> None:
        deadline = time.monotonic() + PAYMENTS_S
        while not holds():
            self.watch()
            if time.monotonic() > deadline:
                raise JobError(f"{complaint} within {PAYMENTS_S} s: see the Recruit page of the study.")
            time.sleep(0.2)


#: What a person reads while each step runs, in order.
STEPS: tuple[tuple[str, Callable[[Demo, Report], None]], ...] = (
    ("Pictures of 16 categories", Demo.pictures),
    ("Easy pictures for attention checks", Demo.golds),
    ("Stimuli over the whole range of visual change", Demo.stimuli),
    ("Studies and their plans", Demo.studies),
    ("Places are offered", Demo.publish),
    ("Scripted participants answer", Demo.participants),
    ("Sessions judged, people paid", Demo.judge_and_pay),
    ("Networks classify the same stimuli", Demo.classifiers),
    ("Curves, bands, comparisons", Demo.analysis),
)
