"""Kinds of observers: people, and networks by architecture and training, as figures colour, order and name them.

The first six are those by which VCR colours its figures (Shen et al., Fig. 6 and 7: human, vision transformer,
supervised learning, SWSL, adversarial training, CLIP); the others are ours. A network is of one kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analysis.errors import UnknownName
from analysis.figures.value import INK, PALETTE, Kind, Observer

_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _SKY = PALETTE
#: Wine of Tol (2021), which is darker than the palette's colours, and the grey of soft ink.
_WINE, _GREY = "#882255", "#7b8794"

HUMAN = Kind("human", "people", INK, 0)
#: Kinds of networks by their ids, in the order in which figures and tables have them.
KINDS: dict[str, Kind] = {
    kind.id: kind
    for kind in (
        Kind("vit", "vision transformer", _PURPLE, 1),
        Kind("supervised", "supervised", _BLUE, 2),
        Kind("semi-supervised", "semi-weakly supervised", _GREEN, 3),
        Kind("adversarial", "adversarially trained", _VERMILION, 4),
        Kind("clip", "CLIP", _ORANGE, 5),
        Kind("corruptions", "trained on corruptions", _SKY, 6),
        Kind("words", "answers in words", _WINE, 7),
        Kind("other", "other", _GREY, 8),
    )
}
OTHER = KINDS["other"]


def kind_named(name: str) -> Kind:
    """The kind of networks with this id.

    Raises
    ------
    UnknownName
        If there is none.
    """
    try:
        return KINDS[name]
    except KeyError:
        raise UnknownName(f"There is no kind of networks {name!r}; choose from {', '.join(KINDS)}.") from None


def observers_by_kind(names: Iterable[str], kinds: Mapping[str, str]) -> dict[str, Observer]:
    """Networks as figures show them: one after the other in the palette, or by kind.

    Parameters
    ----------
    names : iterable of str
        Networks, each once, in their own order.
    kinds : mapping of str to str
        Id of the kind of each network that has one.

    Returns
    -------
    dict of str to Observer
        In the order given, where the networks have fewer than two kinds: then colours would say nothing. Else ordered
        by kind, in its colour, and told apart by dashes; networks without a kind are "other".

    Raises
    ------
    UnknownName
        If a kind is none of `KINDS`.
    """
    names = list(names)
    known = {name: kind_named(kinds[name]) for name in names if name in kinds}
    if len(set(known.values())) < 2:
        return {name: Observer(name, "classifier", place) for place, name in enumerate(names)}
    members: dict[Kind, list[str]] = {}
    for name in names:
        members.setdefault(known.get(name, OTHER), []).append(name)
    return {
        name: Observer(name, "classifier", place, kind)
        for kind in sorted(members, key=lambda one: one.order)
        for place, name in enumerate(members[kind])
    }
