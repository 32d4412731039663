"""The labels of a network's outputs: the 16 categories, ImageNet's 1,000, or a lab's own with a mapping file.

A mapping file is a CSV table of one row an output, in the order of the outputs: ``label`` (the network's own name for
it; two outputs may have one name, as the cranes and the maillots of ImageNet) and ``category`` (one of the 16, or empty
where the output stands for none of them).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.categories import CATEGORIES, IMAGENET_WNIDS
from analysis.errors import TableRefused

#: Appended to the name of an output that stands for no category, so that no name can be taken for one.
_NO_CATEGORY = " (no category)"
_OUTPUT = "row of the file"


def read_labels(path: Path) -> tuple[str, ...]:
    """Labels from a mapping file: the category of each output, or its own name marked as standing for none.

    Raises
    ------
    TableRefused
        Naming file, row (1 = first after the header), column and remedy.
    """
    from analysis.tables import Column, TableSchema, read_table

    schema = TableSchema(
        name="labels",
        description="One row an output, in order.",
        columns=(
            Column(name="label", kind="text", description="the network's own name of the output"),
            Column(name="category", kind="text", description="category", nullable=True, levels=CATEGORIES),
            Column(name=_OUTPUT, kind="integer", description="rows are outputs, whatever their names"),
        ),
        key=(_OUTPUT,),
    )
    rows = read_table(path)
    table = schema.validate(rows.assign(**{_OUTPUT: range(len(rows))}), source=path.name)
    named = table["category"].fillna("").tolist()
    missing = [category for category in CATEGORIES if category not in named]
    if missing:
        raise TableRefused(
            f"{path.name}, column 'category': no output stands for {', '.join(missing)}. Each of the 16 categories "
            "needs at least one row."
        )
    return tuple(
        category or f"{label}{_NO_CATEGORY}" for label, category in zip(table["label"].tolist(), named, strict=True)
    )


def imagenet_labels(names: Sequence[str]) -> tuple[str, ...]:
    """WordNet ids for the names of ImageNet's 1,000 classes in their usual order; other names as they are.

    A 1,001st output in front, as some networks have for the background, stays without a category.
    """
    shown = list(names)
    background = () if len(shown) != len(IMAGENET_WNIDS) + 1 else (f"{shown.pop(0)}{_NO_CATEGORY}",)
    if (
        len(shown) == len(IMAGENET_WNIDS)
        and shown[0].lower().startswith("tench")
        and shown[-1].lower().startswith("toilet")
    ):
        return (*background, *IMAGENET_WNIDS)
    return tuple(names)
