"""The 1,000 classes of ImageNet: their ids in the order of outputs, their words, and what each is a kind of."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from analysis.errors import InvalidInput
from analysis.labels.space import Label, LabelSpace

_FOLDER = Path(__file__).parent


def _rows(name: str) -> list[list[str]]:
    lines = (_FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@cache
def class_words() -> dict[str, tuple[str, ...]]:
    """Words of WordNet for every class, by WordNet id, in the order of outputs."""
    return {wnid: tuple(words.split(", ")) for wnid, words in _rows("imagenet1000.tsv")}


@cache
def class_ids() -> tuple[str, ...]:
    """WordNet ids in the order of a network's outputs, which is their own."""
    return tuple(class_words())


@cache
def imagenet1000() -> LabelSpace:
    """All 1,000 classes. Words are WordNet's; *crane* and *maillot* are words of two classes each."""
    return LabelSpace(
        name="imagenet1000",
        labels=tuple(
            Label(id=wnid, words={"en": words[0]}, synonyms={"en": words[1:]}, classes=(wnid,))
            for wnid, words in class_words().items()
        ),
    )


@cache
def _hypernyms() -> dict[str, tuple[str, ...]]:
    return {wnid: tuple(above.split()) for wnid, above in _rows("hypernyms.tsv")}


@cache
def kinds_of(wnid: str) -> tuple[str, ...]:
    """Classes that are this, or a kind of it, in the order of outputs; none for an id that WordNet does not have."""
    return tuple(one for one in class_ids() if wnid in _above(one))


@cache
def _above(wnid: str) -> frozenset[str]:
    return frozenset({wnid}).union(*(_above(one) for one in _hypernyms().get(wnid, ())))


def classes_in(written: str) -> tuple[str, ...]:
    """Classes that one entry of `Label.classes` stands for.

    Raises
    ------
    InvalidInput
        If it is no class, no range of classes, and nothing of which a class is a kind.
    """
    first, dots, last = written.partition("..")
    if dots:
        ids = class_ids()
        if first not in ids or last not in ids or first > last:
            raise InvalidInput(
                f"{written!r} is no range of classes of ImageNet: write two WordNet ids, the lower first."
            )
        return ids[ids.index(first) : ids.index(last) + 1]
    found = (written,) if written in class_words() else kinds_of(written)
    if not found:
        raise InvalidInput(
            f"{written!r} is no class of ImageNet, and none is a kind of it: write a WordNet id, such as n02084071 for "
            "all dogs."
        )
    return found
