"""What a reader of a search should know of its generator, in words."""

from __future__ import annotations

import filecmp
from pathlib import Path

from analysis.counterfactuals.corrupting import CorruptionGenerator
from analysis.counterfactuals.specifications import load_generator
from analysis.errors import UnknownName
from analysis.examples import folder_of, located

#: Of the autoencoder that comes with HumanExp.
DRAWINGS_ONLY = (
    "The autoencoder autoencoder.pt, which comes with HumanExp, was trained on drawings of 64 px. It is no use on "
    "photographs: its pictures of them are blurred beyond recognition, and the scores say nothing about a model. "
    "Search drawings with it, or put a published autoencoder of taming-transformers on the server."
)
#: Of searches along a corruption before the walk looked past local maxima and asked oracles at every strength.
FORMER_WALK = (
    "This search was made by an earlier version, whose walk along a corruption stopped short of the greatest loss that "
    "the oracle accepts. Its OOR can be too high. Compare it only with searches of that version, or search again."
)


def caveats(spec: str, digest: str = "", *, by_people: bool = False) -> list[str]:
    """Caveats of a generator.

    Parameters
    ----------
    spec : str
        As for `load_generator`.
    digest : str
        Of the generator at the time of a search that was made with it; empty where none was.
    by_people : bool
        Whether people judge that search.
    """
    kind, _, rest = spec.partition(":")
    if kind == "vqgan" and is_shipped(Path(rest.partition(",")[0])):
        return [DRAWINGS_ONLY]
    if kind == "corruption" and digest:
        try:
            generator = load_generator(spec)
        except UnknownName:  # a function of somebody's own that is gone
            return []
        if isinstance(generator, CorruptionGenerator) and digest in generator.former_digests(by_people=by_people):
            return [FORMER_WALK]
    return []


def is_shipped(checkpoint: Path) -> bool:
    """Whether a file of weights is the autoencoder that comes with HumanExp, wherever it was copied to."""
    own, found = folder_of("counterfactuals") / "autoencoder.pt", located(checkpoint)
    return found.is_file() and filecmp.cmp(own, found, shallow=False)
