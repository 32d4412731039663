"""Training a network further on stimuli or labelled pictures, and testing it before and after on others."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork, require_gradients
from analysis.classifiers.port import classify, rehearse
from analysis.classifiers.shards import ShownStimulus, prediction_rows
from analysis.energy import Energy
from analysis.labels.mapping import Answering
from analysis.labels.space import LabelSpace
from analysis.native_size import Enlargement
from analysis.retraining.training import Recipe, Retrained, fine_tune, warnings_after, warnings_before
from analysis.tables.stimuli import PREDICTIONS
from humanexp.core import clock, file_store, ownership
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.programs import check_out, write_network
from humanexp.evaluations.services.training_material import (
    Folder,
    ShownExamples,
    Sides,
    all_source_sets,
    check_may_train,
    check_own_labels,
    check_same_labels,
    examples_of,
    folders_of,
    own_space,
    pictures_as_shown,
    shown_in,
    sides_of,
    stimuli_of_test,
)
from humanexp.evaluations.specs import SHELF, check_safe, check_spec, check_trainable, default_name, located
from humanexp.jobs.registry import Progress
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.selectors.sets import bring_originals, bring_stimuli
from humanexp.stimuli.selectors.sources import agreed_originals

if TYPE_CHECKING:
    import pandas as pd

_BATCH = 64
#: Refits of the bootstrap over originals.
REFITS = 1000
#: What makes two retrainings the same.
_ASKED = (
    *("stimulus_set_id", "evaluation_set_id", "spec", "device", "labels_file", "corruptions", "recipe", "share"),
    *("power", "people_of", "pictures", "tests", "own_labels"),
)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A retraining as it is asked for."""

    #: adapter string of the network before
    spec: str
    #: the .pt2 file to write
    out: Path
    recipe: Recipe
    #: trained on, and unless another set is named, tested on (other originals of it)
    stimulus_set: StimulusSet | None = None
    #: clean pictures that are trained on, too
    pictures: Sequence[Folder] = ()
    evaluation_set: StimulusSet | None = None
    #: sets of clean pictures that are tested on, too
    tests: Sequence[SourceSet] = ()
    #: the loss is among all outputs of the network
    own_labels: bool = False
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
    _check_material(wanted, by)
    check_out(wanted.out)
    row = Retraining(
        stimulus_set=wanted.stimulus_set,
        pictures=[folder.to_json() for folder in wanted.pictures],
        evaluation_set=wanted.evaluation_set,
        tests=[Folder(source_set).to_json() for source_set in wanted.tests],
        own_labels=wanted.own_labels,
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
        lab_id=(wanted.stimulus_set or wanted.pictures[0].source_set).lab_id,
        created_by=by or owner,
    )
    _sides(row)
    same = _under_way(row)
    if same is None:
        row.save()
    return same or row


def _check_material(wanted: Wanted, by: User | None) -> None:
    stimulus_set, evaluation_set = wanted.stimulus_set, wanted.evaluation_set
    for one in filter(None, (stimulus_set, evaluation_set)):
        ownership.check(by, Right.READ, one)
        if one.completed_at is None:
            raise InvalidRequest(f"The stimulus set {one} is not complete yet: let its job finish first.")
    learned = [folder.source_set for folder in wanted.pictures]
    likened = [folder.like for folder in wanted.pictures if folder.like is not None]
    for folder in (*wanted.pictures, *likened):
        if folder.easy and agreed_originals(folder.source_set) is None:
            raise InvalidRequest(
                f"No classifier has looked at the pictures of {folder.source_set}: run select_gold --images "
                f"{folder.source_set} with the classifiers that have to name them right.",
                fields={"pictures": "that classifiers have looked at"},
            )
    for source_set in (*learned, *wanted.tests, *(folder.source_set for folder in likened)):
        ownership.check(by, Right.READ, source_set)
        if not source_set.images.exists():
            raise InvalidRequest(f"The set of pictures {source_set} is empty: import pictures first.")
    if stimulus_set is not None:
        learned.insert(0, stimulus_set.source_set)
    if not learned:
        raise InvalidRequest(
            "There is nothing to train on: name a stimulus set, sets of pictures, or both.",
            fields={"stimulus_set": "or pictures"},
        )
    if stimulus_set is None and evaluation_set is None and not wanted.tests:
        raise InvalidRequest(
            "Pictures are not divided into training and test: name a set to test on.",
            fields={"tests": "a set of other pictures"},
        )
    for source_set in learned:
        check_may_train(source_set, field="stimulus_set")
    tested = [*([evaluation_set.source_set] if evaluation_set is not None else []), *wanted.tests]
    for source_set in (*learned[1:], *(folder.source_set for folder in likened)):
        check_same_labels(learned[0], source_set, field="pictures")
    for source_set in tested:
        check_same_labels(learned[0], source_set, field="evaluation_set")
    if wanted.own_labels:
        check_own_labels(learned)
    functions = stimulus_set.corruptions if stimulus_set is not None else []
    unknown = sorted(set(wanted.corruptions) - set(functions))
    if unknown:
        raise InvalidRequest(
            f"The set {stimulus_set} has no stimuli of {', '.join(unknown)}; there are: {', '.join(functions)}.",
            fields={"corruptions": "of the set"},
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
    learned = list(all_source_sets(retraining))
    space = learned[0].space
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
    shown = shown_in(retraining)
    rehearse(network, shown.size_px, Answering(space))
    if retraining.own_labels:
        check_own_labels(learned, network.labels)
    recipe, test_set = stored_recipe(retraining), retraining.evaluation_set or retraining.stimulus_set
    for stimulus_set in {one.pk: one for one in (retraining.stimulus_set, test_set) if one is not None}.values():
        bring_stimuli(stimulus_set)
    sides = _sides(retraining)
    answers = own_space(network) if retraining.own_labels else space
    examples = examples_of(retraining, network, answers, sides.trained_on)
    held_out = examples_of(retraining, network, answers, sides.held_out)
    tests = _tests(retraining, test_set, sides)
    steps = recipe.epochs * -(-len(examples) // recipe.batch)
    total = steps + 2 * sum(-(-len(one.stimuli) // _BATCH) for one in tests)

    def tell(done: int, _total: int, loss: float) -> None:
        progress(done, total, f"{retraining.name}: training, loss {loss:.3f}")

    folder = media_path(retraining.folder)
    checkpoint = folder / "checkpoint.pt"
    made = fine_tune(network, examples, recipe, held_out=held_out, checkpoint=checkpoint, tell=tell)
    tables: list[list[pd.DataFrame]] = []
    for name, one, done in (("before", network, steps), ("after", made.network, (steps + total) // 2)):
        said = f"{retraining.name}: testing {name}"
        tables.append(_predictions_of(one, tests, space, partial(_tell_batches, progress, done, total, said)))
    from analysis.retraining.comparison import before_and_after  # with all of the findings: the pages need none of them

    functions = retraining.stimulus_set.corruptions if retraining.stimulus_set is not None else []
    compared = [
        before_and_after(
            before,
            after,
            trials if test.source_set is None else None,
            training=sides.trained_on | sides.held_out if test.is_divided else (),
            trained_on=retraining.corruptions or functions,
            seed=recipe.seed,
            n_bootstrap=REFITS,
        )
        for test, before, after in zip(tests, *tables, strict=True)
    ]
    report = compared[0]
    report["tests"] = [
        {"set": test.source_set.name, **found["clean"]}
        for test, found in zip(tests, compared, strict=True)
        if test.source_set is not None
    ]
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
class _Test:
    """Pictures that a network is tested on, before and after."""

    stimuli: list[ShownStimulus]
    #: how its originals are shown; None for stimuli
    shown: Enlargement | None = None
    #: of clean pictures
    source_set: SourceSet | None = None
    #: other originals of the set that was trained on
    is_divided: bool = False


def _tests(retraining: Retraining, test_set: StimulusSet | None, sides: Sides) -> list[_Test]:
    """Stimuli first, then clean pictures set by set."""
    tests = []
    if test_set is not None:
        stimuli = [one for one in stimuli_of_test(test_set) if one.original in sides.test]
        tests.append(_Test(stimuli, is_divided=retraining.evaluation_set is None))
    for folder in folders_of(retraining.tests):
        bring_originals(folder.source_set)
        images = list(folder.source_set.images.order_by("key"))
        tests.append(_Test(pictures_as_shown(folder, images), shown_in(retraining), folder.source_set))
    return tests


def _sides(retraining: Retraining) -> Sides:
    recipe = stored_recipe(retraining)
    return sides_of(retraining, held_out=recipe.held_out, seed=recipe.seed)


def stored_recipe(retraining: Retraining) -> Recipe:
    """The recipe of a row; where it was stored before originals were held out, none are."""
    return Recipe(**{"held_out": 0.0, **retraining.recipe})


def expected_warnings(retraining: Retraining) -> list[str]:
    """What can be said before it is trained."""
    sides, share = _sides(retraining), stored_recipe(retraining).held_out
    return warnings_before(trained_on=len(sides.trained_on), held_out=len(sides.held_out), share=share)


def _predictions_of(
    network: TorchNetwork, tests: Sequence[_Test], space: LabelSpace, tell: Callable[[int], None]
) -> list[pd.DataFrame]:
    """A table a test; `tell` is given how many batches are done."""
    tables, done = [], 0
    for test in tests:
        rows: list[dict[str, Any]] = []
        examples = ShownExamples(test.stimuli, network, space, test.shown)
        for start in range(0, len(test.stimuli), _BATCH):
            batch = test.stimuli[start : start + _BATCH]
            names = [one.stimulus for one in batch]
            decisions = classify(network, names, partial(examples.pictures, batch), Answering(space))
            rows.extend(prediction_rows("network", batch, decisions))
            done += 1
            tell(done)
        tables.append(PREDICTIONS.frame(rows))
    return tables


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
        "loss_among": "own outputs" if retraining.own_labels else "labels of the pictures",
        "material": retraining.material,
        "mix": [
            {"set": folder.source_set.name, "by_label": folder.by_label(made.recipe.seed)}
            for folder in folders_of(retraining.pictures)
        ],
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
        stimuli=retraining.stimulus_set.name if retraining.stimulus_set else "",
        pictures=retraining.pictures,
        corruptions=retraining.corruptions or (retraining.stimulus_set.corruptions if retraining.stimulus_set else []),
        recipe=report["recipe"],
        training_originals=report["training_originals"],
    )
