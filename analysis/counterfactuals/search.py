"""The search for counterfactual pictures, where the oracle answers at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.port import Classifier
from analysis.counterfactuals.ascent import Ascent, Ending, Trace, check_budget
from analysis.counterfactuals.corrupting import beside
from analysis.counterfactuals.files import AS_IT_IS, Control
from analysis.counterfactuals.port import Generator, Oracle, Target
from analysis.errors import PictureRefused, SearchRefused
from analysis.labels.space import LabelSpace

#: Perturbations of a picture unless said otherwise.
BUDGET = 10
#: Pictures that advance together unless said otherwise.
BATCH = 32


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What the search made of one picture.

    Attributes
    ----------
    label : str
        Category of the original.
    picture : ndarray of uint8, shape (h, w, 3), or None
        Last picture that the oracle accepted; None when it refused step 0.
    valid : bool
        Accepted at step 0.
    accepted_steps : int
        Perturbations that were accepted, from 0 to the budget.
    losses : tuple of float
        Loss of the classifier at every accepted picture, step 0 first.
    responses : tuple of str
        What the classifier answered to them.
    oracle_responses : tuple of str
        What the oracle saw in every proposal, the refused one included.
    clean_response, clean_loss : str, float
        The classifier on the original.
    ending : {"refused", "budget"}
        Why the search ended.
    """

    label: str
    picture: NDArray[np.uint8] | None
    valid: bool
    accepted_steps: int
    losses: tuple[float, ...]
    responses: tuple[str, ...]
    oracle_responses: tuple[str, ...]
    clean_response: str
    clean_loss: float
    ending: Ending

    @property
    def clean_correct(self) -> bool:
        """Whether the classifier named the original."""
        return self.clean_response == self.label

    @property
    def response(self) -> str:
        """What the classifier answers to the counterfactual; empty without one."""
        return self.responses[-1] if self.responses else ""

    @property
    def counterfactual_correct(self) -> bool:
        """Whether the classifier names the counterfactual."""
        return self.response == self.label

    @classmethod
    def of(cls, trace: Trace, picture: NDArray[np.uint8] | None) -> Counterfactual:
        """A finished trace and the picture at its end."""
        return cls(
            label=trace.label,
            picture=picture,
            valid=trace.valid,
            accepted_steps=trace.accepted_steps,
            losses=tuple(trace.losses),
            responses=tuple(trace.responses),
            oracle_responses=tuple(trace.oracle_responses),
            clean_response=trace.clean_response,
            clean_loss=trace.clean_loss,
            ending=trace.ending,
        )


def search(
    pictures: NDArray[np.uint8] | Sequence[NDArray[np.uint8]],
    labels: Sequence[str],
    *,
    classifier: Classifier,
    generator: Generator,
    oracle: Oracle,
    budget: int = BUDGET,
    seed: int = 0,
    batch: int = BATCH,
    control: Control = AS_IT_IS,
    space: LabelSpace | None = None,
) -> list[Counterfactual]:
    """Perturb pictures against a classifier for as long as an oracle still sees the same object.

    Parameters
    ----------
    pictures : ndarray of uint8, shape (n, h, w, 3), or a sequence of (h, w, 3)
        RGB originals of one size.
    labels : sequence of str, length n
        Ids of what they show.
    classifier : Classifier
        Model under test, theta.
    generator : Generator
        What perturbs, g; see `load_generator`.
    oracle : Oracle
        What judges, h; see `load_oracle`.
    budget : int
        Most perturbations of a picture, B.
    seed : int
        Same arguments, same pictures, on the same kind of processor.
    batch : int
        Pictures that advance together.
    control : Control
        What is done to the originals first: nothing, greyscale, an initial signed-gradient perturbation.
    space : LabelSpace, optional
        Labels of the pictures; by default the product's.

    Returns
    -------
    list of Counterfactual, length n
        In the order of the pictures.

    Raises
    ------
    SearchRefused
        Before any work, when numbers of labels and pictures differ, a label is none of the space, the oracle does not
        know it, the budget is below 1, or the classifier's gradients are missing.
    PictureRefused
        When a picture is not uint8 RGB, or the sizes differ.

    Notes
    -----
    OOR paper, Algorithm 1.
    """
    checked = [_picture(picture) for picture in pictures]
    if len({picture.shape for picture in checked}) > 1:
        raise PictureRefused("The pictures of a search have one size: cut them to it first.")
    target = Target(classifier, space)
    size_px = checked[0].shape[0] if checked else 64
    check_search(
        labels, len(checked), target=target, generator=generator, oracle=oracle, budget=budget, control=control,
        size_px=size_px, batch=batch,
    )  # fmt: skip
    generator = beside(generator, oracle)
    seeds = picture_seeds(seed, range(len(checked)))
    found: list[Counterfactual] = []
    for places in _batches(range(len(checked)), batch):
        chosen = np.stack([checked[place] for place in places])
        batch_labels = [labels[place] for place in places]
        ascent = Ascent(
            control.prepare(chosen, target.numbers(batch_labels), target), batch_labels,
            [seeds[place] for place in places], target=target, generator=generator, budget=budget,
        )  # fmt: skip
        run_to_the_end(ascent, oracle)
        found += [Counterfactual.of(trace, ascent.kept.get(place)) for place, trace in enumerate(ascent.traces)]
    return found


def run_to_the_end(ascent: Ascent, oracle: Oracle) -> None:
    """Let an oracle judge round after round until every picture has left."""
    while not ascent.is_done:
        verdicts = oracle.judge(ascent.proposals, ascent.active_labels)
        ascent.advance(verdicts.accepted, list(verdicts.responses))


def check_search(
    labels: Sequence[str],
    n_pictures: int,
    *,
    target: Target,
    generator: Generator,
    oracle: Oracle | None,
    budget: int,
    control: Control = AS_IT_IS,
    size_px: int = 64,
    batch: int = BATCH,
) -> None:
    """Refuse a search that cannot run, before any work; the oracle is None where people judge.

    Raises
    ------
    SearchRefused
        See `search`.
    """
    check_budget(budget)
    if batch < 1:
        raise SearchRefused(f"A batch holds one picture or more, not {batch}.")
    if len(labels) != n_pictures:
        raise SearchRefused(f"One label a picture: there are {n_pictures} pictures and {len(labels)} labels.")
    if not n_pictures:
        raise SearchRefused("There is no picture to perturb.")
    target.numbers(labels)
    if oracle is not None and (unknown := sorted(set(labels) - oracle.classes)):
        raise SearchRefused(
            f"The oracle {oracle.name} does not know {', '.join(unknown)}, so that it would refuse every such picture. "
            "Take another oracle, or leave these categories out."
        )
    if generator.needs_gradients or control.needs_gradients:
        target.check_gradients(size_px)


def picture_seeds(seed: int, places: Iterable[int]) -> list[int]:
    """A seed for each picture, by its place: the same whatever batch or shard it is in."""
    return [int(np.random.SeedSequence([seed, place]).generate_state(1, np.uint32)[0]) for place in places]


def _picture(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if getattr(picture, "dtype", None) != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        raise PictureRefused("A search takes RGB pictures, uint8 of shape (h, w, 3) each.")
    return picture


def _batches(places: range, size: int) -> Iterator[range]:
    for start in range(0, len(places), size):
        yield places[start : start + size]
