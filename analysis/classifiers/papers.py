"""The networks that the papers compare with people: what they are, how to get them, and of which kind they are.

They are listed in ``papers.toml``, which the console, the manual and `kind_of` read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from analysis.figures.value import Kind
from analysis.observers.kinds import kind_named

_FILE = Path(__file__).with_name("papers.toml")
#: Where weights come from, and what that takes.
_NEEDS = {
    "library": "weights of the library: --allow-download once, or a file",
    "hub": "weights of the hub (4.5 GB): --allow-download once, or a folder",
    "file of tensors": "weights of the linked code; a file of tensors",
    "RobustBench": "weights of the RobustBench model zoo: load it there, normalise inside the module, torch.export it "
    "to this file",
    "size of ours": "weights of the library: --allow-download once; the paper does not state the size, this one is our "
    "choice",
    "unpublished": "its weights are not published: train_network makes a small one for the same pictures",
}
#: Those that the console can evaluate by name, once downloads are allowed.
_BY_NAME = frozenset({"library", "hub", "size of ours"})
#: Kind of whatever a scheme loads, where it is always the same.
_OF_SCHEME = {"lite": "supervised", "open_clip": "clip", "openai": "words", "vlm": "words"}


@dataclass(frozen=True, slots=True)
class PaperModel:
    """One network.

    Attributes
    ----------
    papers : mapping of str to str
        Its name in each of the papers that has it, by "VCR", "OOR" and "ImageNet-D".
    architecture, training : str
        As the papers give them, and what is known beyond.
    kind : Kind
    source, year : str, int
        Who described it, and when.
    paper, code : str
        Addresses; `code` is empty where none is published.
    licence : str
        Of the weights, where it is stated with them; empty where it is not.
    spec : str
        Adapter string; empty where no weights are published.
    needs : str
        What it takes to have it here.
    is_published : bool
        Whether the console can evaluate it by name, once downloads are allowed.
    """

    papers: Mapping[str, str]
    architecture: str
    training: str
    kind: Kind
    source: str
    year: int
    paper: str
    code: str
    licence: str
    spec: str
    needs: str
    is_published: bool

    @property
    def name(self) -> str:
        """In the first of the papers that has it."""
        return next(iter(self.papers.values()))


@cache
def paper_models() -> tuple[PaperModel, ...]:
    """All of them: those of VCR first, each once, whatever several papers call it."""
    return tuple(map(_model, tomllib.loads(_FILE.read_text(encoding="utf-8"))["network"]))


def _model(row: Mapping[str, object]) -> PaperModel:
    told = {"code": "", "licence": "", "spec": "", **row}
    came_from = str(told.pop("from"))
    told |= {"kind": kind_named(str(told["kind"])), "needs": _NEEDS[came_from], "is_published": came_from in _BY_NAME}
    return PaperModel(**told)  # type: ignore[arg-type]


def model_of(spec: str) -> PaperModel | None:
    """The network of the papers that this adapter string loads, if it is one."""
    return next((one for one in paper_models() if spec and one.spec == spec), None)


def kind_of(spec: str, name: str = "") -> str:
    """Id of the kind of a network by its adapter string, or by its name in one of the papers; empty if unknown.

    Parameters
    ----------
    spec : str
        Adapter string; empty for answers that came without one.
    name : str
        Of the network, to the letter.
    """
    found = model_of(spec) or next((one for one in paper_models() if name in one.papers.values()), None)
    if found is not None:
        return found.kind.id
    return _OF_SCHEME.get(spec.partition(":")[0], "")
