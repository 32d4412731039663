"""Training a network further on a stimulus set, and testing it before and after on other originals."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork, require_gradients
from analysis.classifiers.port import classify, rehearse, seen_by
from analysis.classifiers.shards import ShownStimulus, prediction_rows, read_picture
from analysis.energy import Energy
from analysis.labels.mapping import Answering
from analysis.labels.space import LabelSpace
from analysis.retraining.held_out import Split, check_disjoint, hold_out, split_originals
from analysis.retraining.training import Recipe, Retrained, fine_tune, warnings_after, warnings_before
from analysis.sets.set_file import is_test_only
from analysis.tables.stimuli import PREDICTIONS
from humanexp.core import clock, file_store, ownership
from humanexp.core.batches import batches_of
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.programs import check_out, write_network
from humanexp.evaluations.services.prediction import shown_stimuli
from humanexp.evaluations.specs import SHELF, check_safe, check_spec, check_trainable, default_name, located
from humanexp.jobs.registry import Progress
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.selectors.sets import bring_stimuli

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_BATCH = 64
#: Refits of the bootstrap over originals.
REFITS = 1000
#: What makes two retrainings the same.
_ASKED = (
    *("stimulus_set_id", "evaluation_set_id", "spec", "device", "labels_file", "corruptions", "recipe", "share"),
    *("power", "people_of"),
)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A retraining as it is asked for."""

    #: trained on, and unless another set is named, tested on (other originals of it)
    stimulus_set: StimulusSet
    #: adapter string of the network before
    spec: str
    #: the .pt2 file to write
    out: Path
    recipe: Recipe
    evaluation_set: StimulusSet | None = None
    #: empty: all of the set
    corruptions: Sequence[str] = ()
    #: of the originals that are trained on, where one set is divided
    share: float = 0.5
    device: str = "cpu"
    #: mapping file of a network with its own labels
    labels: Path | None = None
    #: of `Energy`
    power: Mapping[str, float] = field(default_factory=dict)
    #: name of the study whose people it is compared with
    people_of: str = ""


def describe(wanted: Wanted, *, by: User | None = None, owner: User | None = None) -> Retraining:
    """The row of a retraining that is about to start; refuses what cannot end well before anything is trained.

    The very same while it is under way is the row that there is. `owner`: whose it is where no account asks.
    """
    spec = check_trainable(check_spec(wanted.spec) if by is None else check_safe(wanted.spec))
    stimulus_set, evaluation_set = wanted.stimulus_set, wanted.evaluation_set
    for one in filter(None, (stimulus_set, evaluation_set)):
        ownership.check(by, Right.READ, one)
        if one.completed_at is None:
            raise InvalidRequest(f"The stimulus set {one} is not complete yet: let its job finish first.")
    check_may_train(stimulus_set.source_set, field="stimulus_set")
    unknown = sorted(set(wanted.corruptions) - set(stimulus_set.corruptions))
    if unknown:
        raise InvalidRequest(
            f"The set {stimulus_set} has no stimuli of {', '.join(unknown)}; there are: "
            f"{', '.join(stimulus_set.corruptions)}.",
            fields={"corruptions": "of the set"},
        )
    check_out(wanted.out)
    if evaluation_set is not None:
        check_same_labels(stimulus_set.source_set, evaluation_set.source_set, field="evaluation_set")
    _split(stimulus_set, evaluation_set, share=wanted.share, seed=wanted.recipe.seed)
    row = Retraining(
        stimulus_set=stimulus_set,
        evaluation_set=evaluation_set,
        name=default_name(spec),
        spec=spec,
        device=wanted.device,
        labels_file=str(wanted.labels.resolve()) if wanted.labels else "",
        corruptions=list(wanted.corruptions),
        recipe=asdict(wanted.recipe),
        share=wanted.share,
        power=dict(wanted.power),
        people_of=wanted.people_of,
        out=str(wanted.out.resolve()),
        lab_id=stimulus_set.lab_id,
        created_by=by or owner,
    )
    same = _under_way(row)
    if same is None:
        row.save()
    return same or row


#: Digests in one query: SQLite takes no more than some thousand variables.
_DIGESTS = 500


def check_may_train(source_set: SourceSet, *, field: str) -> None:
    """Refuse pictures of a published set that is for tests alone, also where they were imported under another name."""
    digests = source_set.images.exclude(pixel_sha256="").values_list("pixel_sha256", flat=True)
    check_contents_may_train(str(source_set), list(digests), field=field)


def check_contents_may_train(name: str, contents: Collection[str], *, field: str) -> None:
    """The same of pictures by the digests of their pixels."""
    for published in SourceSet.objects.exclude(set_document="").only("set_document", "name"):
        if not is_test_only(published.set_document):
            continue
        for some in batches_of(_DIGESTS, contents):
            if published.images.filter(pixel_sha256__in=some).exists():
                raise InvalidRequest(
                    f"Pictures of {name} belong to {published}, whose author allows tests alone: train and fit on "
                    "others.",
                    fields={field: "pictures that may be trained on"},
                )


def check_same_labels(training: SourceSet, evaluation: SourceSet, *, field: str) -> None:
    """Refuse to test on pictures whose labels mean something else than those of the training pictures."""
    if training.space.identity != evaluation.space.identity:
        raise InvalidRequest(
            f"The pictures {evaluation} have the labels {evaluation.space.name}, and those of {training} "
            f"{training.space.name}: test on pictures with the same labels.",
            fields={field: "with the same labels"},
        )


def train_and_compare(
    retraining: Retraining,
    trials: pd.DataFrame | None,
    progress: Progress,
    *,
    allow_download: bool = False,
    allow_code: bool = False,
) -> dict[str, Any]:
    """Train, test before and after, write the network and store the report; an interrupted training goes on."""
    _check_not_written(retraining)
    file_store.bring(SHELF)
    bring_stimuli(retraining.stimulus_set)
    space = retraining.stimulus_set.source_set.space
    network = require_gradients(
        load_classifier(
            located(retraining.spec),
            device=retraining.device,
            allow_download=allow_download,
            allow_code=allow_code,
            labels=Path(retraining.labels_file) if retraining.labels_file else None,
            space=space,
        )
    )
    rehearse(network, retraining.stimulus_set.size_px, Answering(space))
    recipe = stored_recipe(retraining)
    sides = sides_of(retraining)
    training_set, test_set = retraining.stimulus_set, retraining.evaluation_set or retraining.stimulus_set
    bring_stimuli(test_set)
    stimuli = list(_stimuli(training_set, retraining))
    examples = StimulusExamples([one for one in stimuli if one.original in sides.trained_on], network, space)
    held_out = StimulusExamples([one for one in stimuli if one.original in sides.held_out], network, space)
    tests = [one for one in _stimuli(test_set, None) if one.original in sides.test]
    steps = recipe.epochs * -(-len(examples) // recipe.batch)
    total = steps + 2 * -(-len(tests) // _BATCH)

    def tell(done: int, _total: int, loss: float) -> None:
        progress(done, total, f"{retraining.name}: training, loss {loss:.3f}")

    folder = media_path(retraining.folder)
    checkpoint = folder / "checkpoint.pt"
    made = fine_tune(network, examples, recipe, held_out=held_out, checkpoint=checkpoint, tell=tell)
    before, after = (
        _predictions(
            one, tests, space, partial(_tell_batches, progress, done, total, f"{retraining.name}: testing {name}")
        )
        for name, one, done in (("before", network, steps), ("after", made.network, (steps + total) // 2))
    )
    from analysis.retraining.comparison import before_and_after  # with all of the findings: the pages need none of them

    report = before_and_after(
        before,
        after,
        trials,
        training=() if retraining.evaluation_set else sides.trained_on | sides.held_out,
        trained_on=retraining.corruptions or training_set.corruptions,
        seed=recipe.seed,
        n_bootstrap=REFITS,
    )
    report |= _circumstances(retraining, made, sides, n_examples=len(examples), n_held_out=len(held_out))
    _check_not_written(retraining)
    _write(made.network, Path(retraining.out), retraining, report)
    retraining.classifier_digest = made.network.digest
    retraining.report = report
    retraining.completed_at = clock.now()
    retraining.save()
    shutil.rmtree(folder, ignore_errors=True)
    progress(total, total, f"{retraining.name}: retrained")
    return report


@dataclass(frozen=True)
class StimulusExamples:
    """Stimuli as examples that a network learns from; a batch of pictures is read at a time."""

    stimuli: list[ShownStimulus]
    network: TorchNetwork
    space: LabelSpace

    def __len__(self) -> int:
        return len(self.stimuli)

    @property
    def original_names(self) -> list[str]:
        return [one.original for one in self.stimuli]

    def batch(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        chosen = [self.stimuli[number] for number in numbers]
        return _pictures(chosen, self.network), self.space.places_of([one.category for one in chosen])


def _pictures(stimuli: Sequence[ShownStimulus], network: TorchNetwork) -> NDArray[np.uint8]:
    shown = np.stack([read_picture(one.file, one.sha256, one.stimulus) for one in stimuli])
    return seen_by(network, shown, stimuli[0].enlarged)


@dataclass(frozen=True)
class Sides:
    """Names of originals by what a retraining does with them."""

    trained_on: frozenset[str]
    held_out: frozenset[str]
    test: frozenset[str]


def sides_of(retraining: Retraining) -> Sides:
    """What is trained on, what tells when to stop, and what tests; no content is on two sides."""
    recipe, stimulus_set = stored_recipe(retraining), retraining.stimulus_set
    split = _split(stimulus_set, retraining.evaluation_set, share=retraining.share, seed=recipe.seed)
    contents = _contents(stimulus_set.source_set)
    training = {name: content for name, content in contents.items() if name in split.training}
    held_out = hold_out(training, share=recipe.held_out, seed=recipe.seed)
    return Sides(split.training - held_out, held_out, split.evaluation)


def stored_recipe(retraining: Retraining) -> Recipe:
    """The recipe of a row; where it was stored before originals were held out, none are."""
    return Recipe(**{"held_out": 0.0, **retraining.recipe})


def expected_warnings(retraining: Retraining) -> list[str]:
    """What can be said before it is trained."""
    sides, share = sides_of(retraining), stored_recipe(retraining).held_out
    return warnings_before(trained_on=len(sides.trained_on), held_out=len(sides.held_out), share=share)


def _stimuli(stimulus_set: StimulusSet, retraining: Retraining | None) -> Iterator[ShownStimulus]:
    wanted = retraining.corruptions if retraining else []
    if stimulus_set.person_families:  # sentinels of persons train no network and test none
        wanted = wanted or stimulus_set.corruptions
    return shown_stimuli(stimulus_set, corruptions=wanted or None)


def _contents(source_set: SourceSet) -> dict[str, tuple[str, str]]:
    """Category and digest of every original: of its pixels where all of them have one, else of its file."""
    rows = list(source_set.images.order_by("key").values_list("key", "category", "pixel_sha256", "sha256"))
    by_pixels = all(pixels for _, _, pixels, _ in rows)
    return {key: (category, pixels if by_pixels else file) for key, category, pixels, file in rows}


def _split(stimulus_set: StimulusSet, evaluation_set: StimulusSet | None, *, share: float, seed: int) -> Split:
    contents = _contents(stimulus_set.source_set)
    if evaluation_set is None:
        return split_originals(contents, share=share, seed=seed)
    others = _contents(evaluation_set.source_set)
    check_disjoint((digest for _, digest in contents.values()), (digest for _, digest in others.values()))
    return Split(frozenset(contents), frozenset(others))


def _predictions(
    network: TorchNetwork, stimuli: Sequence[ShownStimulus], space: LabelSpace, tell: Callable[[int], None]
) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for number, start in enumerate(range(0, len(stimuli), _BATCH), start=1):
        batch = stimuli[start : start + _BATCH]
        names = [one.stimulus for one in batch]
        decisions = classify(network, names, partial(_pictures, batch, network), Answering(space))
        rows.extend(prediction_rows("network", batch, decisions))
        tell(number)
    return PREDICTIONS.frame(rows)


def _tell_batches(progress: Progress, before: int, total: int, said: str, number: int) -> None:
    progress(min(before + number, total - 1), total, said)


def _circumstances(
    retraining: Retraining, made: Retrained, sides: Sides, *, n_examples: int, n_held_out: int
) -> dict[str, Any]:
    energy = Energy(seconds=made.seconds, **settings.ENERGY.constants(retraining.device, retraining.power))
    return {
        "classifier": retraining.spec,
        "recipe": asdict(made.recipe),
        "losses": list(made.losses),
        "training_originals": len(sides.trained_on),
        "training_stimuli": n_examples,
        "held_out": {
            "originals": len(sides.held_out),
            "stimuli": n_held_out,
            "curve": [one.to_dict() for one in made.curve],
            "kept_epoch": made.kept,
        },
        "warnings": [*expected_warnings(retraining), *warnings_after(made)],
        "energy": energy.to_dict(),
        "device": retraining.device,
    }


def _under_way(row: Retraining) -> Retraining | None:
    """The very same that is being made; another one that would write the same file is in the way."""
    for other in Retraining.objects.filter(out=row.out, completed_at=None):
        job = latest_for(other.job_subject)
        if job is None or job.is_finished:
            continue
        if all(getattr(other, name) == getattr(row, name) for name in _ASKED):
            return other
        raise Conflict(f"{Path(row.out).name} is being made by another retraining: wait, cancel it, or name another.")
    return None


def _check_not_written(retraining: Retraining) -> None:
    """One that was stopped, and goes on after another has taken its name, does not replace that network."""
    if Retraining.objects.filter(out=retraining.out).exclude(completed_at=None).exclude(pk=retraining.pk).exists():
        raise Conflict(f"{Path(retraining.out).name} was made by another retraining in the meantime; start again.")


def _write(network: TorchNetwork, out: Path, retraining: Retraining, report: dict[str, Any]) -> None:
    write_network(
        network,
        out,
        retrained_from=retraining.spec,
        stimuli=retraining.stimulus_set.name,
        corruptions=retraining.corruptions or retraining.stimulus_set.corruptions,
        recipe=report["recipe"],
        training_originals=report["training_originals"],
    )
