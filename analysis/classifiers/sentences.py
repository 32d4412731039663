"""The sentences with which a CLIP network compares pictures: a template, and a list of names that it is filled with.

Both move zero-shot accuracy, so each has a name, and their digest is kept with the predictions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from analysis.errors import ClassifierUnavailable
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_words
from analysis.labels.space import LabelSpace


def prompt(label: str) -> str:
    """The product's sentence for a label: "a picture of an airplane"."""
    return f"a picture of {'an' if label[0].lower() in 'aeiou' else 'a'} {label}"


@dataclass(frozen=True)
class Sentences:
    """A sentence for each label.

    Parameters
    ----------
    template : str
        Its name.
    names : str
        Name of the list of names.
    labels : tuple of str
        What is answered: ids of labels, or classes of ImageNet.
    texts : tuple of str
        The sentence of each label.
    """

    template: str
    names: str
    labels: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of labels and sentences."""
        told = "\x00".join(part for pair in zip(self.labels, self.texts, strict=True) for part in pair)
        return hashlib.sha256(told.encode()).hexdigest()

    def __str__(self) -> str:
        """E.g. "vcr of 1000 imagenet-words (3f2a…)": what is kept with predictions."""
        return f"{self.template} of {len(self.texts)} {self.names} ({self.digest[:12]})"


def of_labels(
    space: LabelSpace | None, labels: tuple[str, ...] | None, sentence: Callable[[str], str] = prompt
) -> Sentences:
    """A sentence for each of these labels, or for the words of those of a space; by default the product's ids."""
    named = labels or (space or default_labels()).ids
    words = named if labels or space is None else tuple(space[one].word() for one in named)
    names = "own labels" if labels else (space or default_labels()).name
    return Sentences("product" if sentence is prompt else "own", names, named, tuple(sentence(word) for word in words))


def vcr() -> Sentences:
    """The sentences of VCR: "a picture of (ImageNet class)", for all 1,000 classes.

    Notes
    -----
    Shen et al., section 4. Which of a class's names they took is not said; here it is the first of WordNet's, to the
    letter and without an article: "a picture of tench".
    """
    words = class_words()
    return Sentences(
        "vcr", "imagenet-words", tuple(words), tuple(f"a picture of {names[0]}" for names in words.values())
    )


#: Sentences that an adapter string may ask for.
SENTENCES: Mapping[str, Callable[[], Sentences]] = {"vcr": vcr}


def asked_for(reference: str) -> tuple[str, Sentences | None]:
    """Network, and the sentences that ``NETWORK#SENTENCES`` names; None without any.

    Raises
    ------
    ClassifierUnavailable
        If no sentences have this name.
    """
    network, mark, name = reference.rpartition("#")
    if not mark:
        return reference, None
    if name not in SENTENCES:
        raise ClassifierUnavailable(
            f"open_clip:{reference}: there are no sentences {name!r}; there are: {', '.join(SENTENCES)}. Without # it "
            "takes the labels of the pictures."
        )
    return network, SENTENCES[name]()
