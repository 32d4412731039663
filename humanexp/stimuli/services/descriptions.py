"""What a set of stimuli is asked to be, and what of it cannot be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Q

from analysis.corruptions import CORRUPTIONS, find_corruption
from analysis.corruptions.imagenet_c import LEVELS
from analysis.design.pairs import choose_plain
from analysis.errors import InvalidInput, UnknownName
from analysis.labels.conflicts import conflicts
from analysis.native_size import MAXIMUM_ENLARGEMENT, native_side
from analysis.persons.sentinels import CUE_CONFLICT, SENTINELS, Sentinel
from humanexp.core.errors import InvalidRequest
from humanexp.stimuli.models import Framing, Sampling, SourceSet
from humanexp.stimuli.selectors.sources import enlargement_of

SIZES_PX = range(96, 1025)
MOST_PER_CORRUPTION = 1_000_000
#: What can be asked for here; a set that was imported says so itself.
SAMPLINGS = (Sampling.EVEN, Sampling.UNIFORM, Sampling.UNIFORM_PARAMETER, Sampling.LEVELS)


@dataclass(frozen=True, kw_only=True)
class Described:
    """A set of stimuli as it is asked for: `count` a corruption function, and one clean stimulus an original."""

    source_set: SourceSet
    name: str
    corruptions: Sequence[str]
    #: stays 0 with the sampling "imagenet-c-levels", which shows every original at every level
    count: int = 0
    seed: int = 0
    size_px: int = 224
    sampling: str = Sampling.EVEN
    framing: str = Framing.WHOLE
    #: an enlarged picture is blurred before any corruption: this says that it is wanted
    enlarge: bool = False
    #: pictures of size_px / enlarged px are corrupted as they are, then shown with each pixel as a square of so many
    enlarged: int = 1
    #: adds what practice and plain pairs of same/different and ABX need: one stimulus an original of two more functions
    with_plain: bool = False
    #: adds sentinels of persons: families that are made of the pictures, and a set of pictures that are cue conflicts
    person_families: Sequence[str] = ()
    cue_conflicts: SourceSet | None = None

    @property
    def functions(self) -> list[str]:
        return list(dict.fromkeys(self.corruptions))

    @property
    def plain_functions(self) -> list[str]:
        return plain_functions_beside(self.functions) if self.with_plain else []

    def columns(self) -> dict[str, Any]:
        """What a set that is made like this has in its row."""
        return {
            "source_set": self.source_set,
            "corruptions": self.functions,
            "plain_functions": self.plain_functions,
            "person_families": families_of(self.person_families, self.cue_conflicts),
            "cue_conflicts": self.cue_conflicts,
            "sampling": self.sampling,
            "framing": self.framing,
            "count_per_corruption": self.count,
            "seed": self.seed,
            "size_px": self.size_px,
            "enlarged": self.enlarged,
        }


def check_description(described: Described) -> None:
    """Refuse what cannot be made, before anything is written."""
    _check_kinds(described)
    _check_corruptions(described)
    _check_shown(described)
    check_sentinels(described.source_set, described.person_families, described.cue_conflicts)


def plain_functions_beside(corruptions: Sequence[str]) -> list[str]:
    """The two functions that a set of these functions shows in practice and plain pairs."""
    chosen = choose_plain(CORRUPTIONS, compared=corruptions)
    if chosen is None:
        raise InvalidRequest(
            "No two plainly different functions remain: leave two functions out of the set, or make it without "
            "pictures for plain pairs.",
            fields={"with_plain": "no two functions are left"},
        )
    return sorted(chosen)


def made_families() -> list[Sentinel]:
    """Families whose pictures are made from a set's own."""
    return [sentinel for sentinel in SENTINELS.values() if sentinel.make is not None]


def families_of(made: Sequence[str], cue_conflicts: SourceSet | None) -> list[str]:
    """The families of a set, by name."""
    return sorted({*made, *([CUE_CONFLICT.name] if cue_conflicts is not None else [])})


def check_sentinels(source_set: SourceSet, made: Sequence[str], cue_conflicts: SourceSet | None) -> None:
    """Refuse families that cannot be made, and pictures that are no cue conflicts, with the field at fault."""
    known = [sentinel.name for sentinel in made_families()]
    unknown = [name for name in made if name not in known or name in CORRUPTIONS]
    if unknown:
        raise InvalidRequest(
            f"No sentinels of persons of the family {unknown[0]!r} are made here: choose from {', '.join(known)}.",
            fields={"person_families": f"one of {', '.join(known)}"},
        )
    if cue_conflicts is not None:
        _check_conflicts(source_set, cue_conflicts)


def _check_conflicts(source_set: SourceSet, cue_conflicts: SourceSet) -> None:
    pictures = list(cue_conflicts.images.order_by("key").values_list("key", "category"))
    shapes, _, are_conflicts = conflicts(np.array([key for key, _ in pictures], dtype=np.str_))
    if not are_conflicts.any():
        raise _refused(
            f"No picture of {cue_conflicts} is a cue conflict by its name. Name the files like cat3-elephant1.png "
            "(shape, then texture), and import them again under another name."
        )
    for (key, category), shape, is_conflict in zip(pictures, shapes.tolist(), are_conflicts.tolist(), strict=True):
        if is_conflict and shape != category:
            raise _refused(
                f"{key} has the shape {shape} by its name, but was imported as {category}: put cue conflicts into the "
                "folder of their shape, and import them again under another name."
            )
    shared = cue_conflicts.images.filter(key__in=source_set.images.values("key")).order_by("key").first()
    if shared is not None:
        raise _refused(
            f"The picture {shared.key} is in both {source_set} and {cue_conflicts}: choose a set of cue conflicts "
            "that shares no name with the pictures."
        )


def _refused(sentence: str) -> InvalidRequest:
    return InvalidRequest(sentence, fields={"cue_conflicts": sentence})


def _check_kinds(described: Described) -> None:
    asked = (("sampling", described.sampling, SAMPLINGS), ("framing", described.framing, Framing.values))
    for what, kind, kinds in asked:
        if kind not in kinds:
            known = ", ".join(kinds)
            raise InvalidRequest(f"There is no {what} {kind!r}: choose from {known}.", fields={what: f"one of {known}"})


def _check_corruptions(described: Described) -> None:
    if not described.functions:
        raise InvalidRequest("Choose at least one corruption function.", fields={"corruptions": "choose at least one"})
    for name in described.functions:
        try:
            find_corruption(name)
        except UnknownName as error:
            raise InvalidRequest(str(error), fields={"corruptions": str(error)}) from error
    without = [name for name in described.functions if name not in LEVELS]
    if described.sampling == Sampling.LEVELS and without:
        known = ", ".join(name for name in CORRUPTIONS if name in LEVELS)
        raise InvalidRequest(
            f"No levels of {', '.join(without)} as ImageNet-C publishes them are made here: choose from {known}, or "
            "another sampling.",
            fields={"corruptions": f"with these levels: {known}"},
        )


def refusal_of(described: Described) -> str:
    """Why pictures cannot be shown as described; empty where they can."""
    try:
        _check_shown(described)
    except InvalidRequest as error:
        return error.message
    return ""


def _check_shown(described: Described) -> None:
    _check_numbers(described)
    _check_enlargement(described)
    _check_originals(described)


def _check_numbers(described: Described) -> None:
    count, seed, size_px = described.count, described.seed, described.size_px
    by_levels = described.sampling == Sampling.LEVELS
    if by_levels and count:
        raise InvalidRequest(
            "With the levels of ImageNet-C every picture is shown at every level: leave the number of stimuli out.",
            fields={"count": "leave it out with these levels"},
        )
    if not by_levels and not 1 <= count <= MOST_PER_CORRUPTION:
        raise InvalidRequest(
            f"The number of stimuli a function must lie between 1 and {MOST_PER_CORRUPTION}, not {count}.",
            fields={"count": f"1 to {MOST_PER_CORRUPTION}"},
        )
    native_side_of(described)
    if size_px not in SIZES_PX:
        raise InvalidRequest(
            f"The size must lie between {SIZES_PX.start} and {SIZES_PX.stop - 1} px, not {size_px}: visual change is "
            "undefined for smaller pictures.",
            fields={"size_px": f"{SIZES_PX.start} to {SIZES_PX.stop - 1} px"},
        )
    if not 0 <= seed < 2**63:
        raise InvalidRequest(f"The seed must lie between 0 and 2^63 - 1, not {seed}.", fields={"seed": "0 or more"})


def native_side_of(described: Described) -> int:
    """Side of the pictures that are corrupted; refused where size and factor do not go together."""
    try:
        return native_side(described.size_px, described.enlarged)
    except InvalidInput as error:
        raise InvalidRequest(str(error), fields={"enlarged": str(error)}) from error


def _check_enlargement(described: Described) -> None:
    """What cannot be together with pictures that are shown enlarged."""
    if described.enlarged == 1:
        return
    refusals = (
        (
            described.enlarge,
            "enlarge",
            "Pictures that are shown enlarged have their native size already: leave out “Enlarge small pictures” "
            "(--enlarge), which scales and blurs pictures, or give no factor (--enlarged).",
        ),
        (
            described.framing != Framing.WHOLE,
            "framing",
            "Pictures that are shown enlarged are used whole: choose the framing whole.",
        ),
        (
            described.sampling == Sampling.LEVELS,
            "sampling",
            "The levels of ImageNet-C are published for pictures of 224 px, and mean something else at native size: "
            "choose another sampling.",
        ),
    )
    for is_refused, field, sentence in refusals:
        if is_refused:
            raise InvalidRequest(sentence, fields={field: sentence})


def _check_originals(described: Described) -> None:
    source_set, size_px = described.source_set, described.size_px
    if not source_set.images.exists():
        raise InvalidRequest(f"The set of pictures {source_set} is empty: import pictures first.")
    if described.enlarged > 1:
        for pictures in filter(None, (source_set, described.cue_conflicts)):
            _check_native(pictures, described)
        return
    side_px = shown_side_px(Framing(described.framing), size_px)
    n_small, example = smaller_than(source_set, math.ceil(side_px / MAXIMUM_ENLARGEMENT))
    if n_small:
        raise InvalidRequest(
            f"{n_small} pictures of {source_set} are too small to be shown at {size_px} px, for example "
            f"{example}. {_shown_enlarged(source_set) or 'Choose a smaller size, or import larger pictures.'}",
            fields={"size_px": "larger than the pictures allow"},
        )
    n_enlarged, example = smaller_than(source_set, side_px)
    if n_enlarged and not described.enlarge:
        raise InvalidRequest(
            f"{n_enlarged} of {source_set.images.count()} pictures of {source_set} have a side shorter than "
            f"{side_px} px and would be enlarged, which blurs them before any corruption; for example {example}. "
            "Choose a smaller size, import larger pictures (import_images --minimum-side leaves small ones out), or "
            "allow it: tick “Enlarge small pictures”, or add --enlarge.",
            fields={"enlarge": "some pictures are smaller than the size"},
        )


def _check_native(source_set: SourceSet, described: Described) -> None:
    """Every picture must have its native size already: nothing is scaled."""
    native = native_side_of(described)
    others = source_set.images.exclude(Q(width_px=native) & Q(height_px=native))
    image = others.order_by("key").first()
    if image is None:
        return
    remedy = _shown_enlarged(source_set) or "Choose another size or factor, or the factor 1, which scales pictures."
    sentence = (
        f"{others.count()} pictures of {source_set} do not have {native} x {native} px, for example {image.key} "
        f"({image.width_px} x {image.height_px} px). Pictures that are shown at {described.size_px} px, enlarged "
        f"{described.enlarged} times, must have that size already. {remedy}"
    )
    raise InvalidRequest(sentence, fields={"enlarged": "the pictures have another size"})


def _shown_enlarged(source_set: SourceSet) -> str:
    """How pictures that are all small squares of one size can be shown; empty for other sets."""
    found = enlargement_of(source_set)
    if found is None:
        return ""
    return (
        f"All have {found.native_px} x {found.native_px} px: show them enlarged {found.enlarged} times at "
        f"{found.size_px} px (--enlarged {found.enlarged} --size {found.size_px})."
    )


def shown_side_px(framing: Framing, size_px: int) -> int:
    """Shorter side of an original, of which a square of this size is cut."""
    return size_px if framing == Framing.WHOLE else round(size_px * 256 / 224)


def smaller_than(source_set: SourceSet, side_px: int) -> tuple[int, str]:
    """How many pictures have a shorter side, and one of them with its size."""
    small = source_set.images.filter(Q(width_px__lt=side_px) | Q(height_px__lt=side_px))
    image = small.order_by("key").first()
    return small.count(), f"{image.key} ({image.width_px} x {image.height_px} px)" if image else ""
