"""From what a source writes about a picture to its label: an id, a word, a class of ImageNet, or a number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import label_of_class
from analysis.labels.space import LabelSpace
from humanexp.stimuli.sources import readable, told

_CLASSES = frozenset(class_ids())


@dataclass(frozen=True)
class Labelling:
    """Reads labels of one space, and counts what it read as what."""

    space: LabelSpace = field(default_factory=default_labels)
    #: numbers are labels in the order of the space, from 0: only where the space was asked for by name
    by_number: bool = False
    #: pictures by what was written and the label that it was read as; None: of no label
    read: Counter[tuple[str, str | None]] = field(default_factory=Counter)

    def label(self, written: str) -> str | None:
        """Id of the label; None where there is none."""
        word = self.space.read(written)
        if word:
            return word
        if self.by_number and written.isdecimal() and int(written) < len(self.space):
            return self.space.labels[int(written)].id
        return label_of_class(written, self.space)

    def is_known(self, written: str) -> bool:
        """Whether it is a label, or a class of ImageNet, perhaps one that stands for no label."""
        return written in _CLASSES or self.label(written) is not None

    def count(self, written: str, n: int = 1) -> str | None:
        """The label of n more pictures, remembered for the list of what was read as what."""
        label = self.label(written)
        self.read[readable(written), label] += n
        return label

    def wnid(self, written: str, file_name: str, label: str) -> str:
        """WordNet id that a label or the file's name (n02085936_1003.JPEG) tells, if it goes with the label."""
        if written in _CLASSES:
            return written
        wnid = file_name[:9]
        return wnid if file_name[9:10] == "_" and label_of_class(wnid, self.space) == label else ""

    # --- sentences

    @property
    def title(self) -> str:
        """The labels as refusals call them."""
        return f"the {len(self.space)} labels of {self.space.name}"

    @property
    def some(self) -> str:
        """The first ids, for a sentence."""
        ids = self.space.ids
        return ", ".join(ids[:20]) + (f" and {len(ids) - 20} more" if len(ids) > 20 else "")

    @property
    def told(self) -> list[tuple[str, str, int]]:
        """What was written, what it was read as, and of how many pictures."""
        return sorted((written, label or "", n) for (written, label), n in self.read.items())

    @property
    def left_out(self) -> list[str]:
        """A sentence on the pictures of classes that stand for no label, if there are any."""
        without = {written: n for (written, label), n in self.read.items() if label is None}
        if not without:
            return []
        pictures = "1 picture" if sum(without.values()) == 1 else f"{sum(without.values()):,} pictures"
        return [f"{pictures} of classes that are none of {self.title}: {told(sorted(without))}"]
