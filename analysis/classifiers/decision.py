"""Names of a network's outputs, from a mapping file and from ImageNet.

A mapping file is a CSV table of one row an output, in the order of the outputs: ``label`` (the network's own name for
it; two outputs may have one name, as the cranes and the maillots of ImageNet) and ``category`` (the label that it
stands for, or empty where it stands for none).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.errors import TableRefused
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.space import LabelSpace

#: Appended to the name of an output that stands for no category, so that no name can be taken for one.
_NO_CATEGORY = " (no category)"
_OUTPUT = "row of the file"


def read_labels(path: Path, space: LabelSpace | None = None) -> tuple[str, ...]:
    """Names of outputs from a mapping file: the label of each, or its own name marked as standing for none.

    Raises
    ------
    TableRefused
        Naming file, row (1 = first after the header), column and remedy.
    """
    from analysis.tables.reading import read_table
    from analysis.tables.schema import Column, TableSchema

    space = space or default_labels()
    schema = TableSchema(
        name="labels",
        description="One row an output, in order.",
        columns=(
            Column(name="label", kind="text", description="the network's own name of the output"),
            Column(name="category", kind="text", description="category", nullable=True, levels=space.ids),
            Column(name=_OUTPUT, kind="integer", description="rows are outputs, whatever their names"),
        ),
        key=(_OUTPUT,),
    )
    rows = read_table(path)
    table = schema.validate(rows.assign(**{_OUTPUT: range(len(rows))}), source=path.name)
    named = table["category"].fillna("").tolist()
    missing = [one for one in space.ids if one not in named]
    if missing:
        raise TableRefused(
            f"{path.name}, column 'category': no output stands for {', '.join(missing)}. Each of the {len(space)} "
            f"labels of {space.name} needs at least one row."
        )
    return tuple(
        category or f"{label}{_NO_CATEGORY}" for label, category in zip(table["label"].tolist(), named, strict=True)
    )


def imagenet_labels(names: Sequence[str]) -> tuple[str, ...]:
    """WordNet ids for the names of ImageNet's 1,000 classes in their usual order; other names as they are.

    A 1,001st output in front, as some networks have for the background, stays without a category.
    """
    shown = list(names)
    background = () if len(shown) != len(class_ids()) + 1 else (f"{shown.pop(0)}{_NO_CATEGORY}",)
    if (
        len(shown) == len(class_ids())
        and shown[0].lower().startswith("tench")
        and shown[-1].lower().startswith("toilet")
    ):
        return (*background, *class_ids())
    return tuple(names)
