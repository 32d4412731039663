"""Files of networks that are trained here: a torch.export program, and beside it what it says of itself."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from analysis.classifiers.description import Description
from analysis.classifiers.exported import save
from analysis.classifiers.networks import TorchNetwork
from humanexp.core import file_store
from humanexp.core.errors import InputRefused
from humanexp.core.storage import media_path
from humanexp.evaluations.specs import SHELF


def check_out(out: Path) -> None:
    """Refuse a file that no network can be written to, before anything is trained."""
    if out.suffix != ".pt2":
        raise InputRefused(f"{out}: the network is written as a torch.export program: name a .pt2 file.")
    if out.exists() or out.with_suffix(".json").exists():
        raise InputRefused(f"{out} is there already: name another file, or move it away.")
    if not out.parent.is_dir() or not os.access(out.parent, os.W_OK):
        raise InputRefused(f"{out}: there is no folder {out.parent} that can be written to.")


def write_network(network: TorchNetwork, out: Path, **provenance: Any) -> None:
    """Program and description, each written whole; the description, which makes it loadable, last."""
    described = Description(out.stem, network.labels, network.inputs, network.outputs)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        save(network.forward, Path(folder) / out.name, described, **provenance)
        (Path(folder) / out.name).replace(out)
        (Path(folder) / out.with_suffix(".json").name).replace(out.with_suffix(".json"))
    if out.parent == media_path(SHELF):
        file_store.publish(*(f"{SHELF}/{name}" for name in (out.name, out.with_suffix(".json").name)))
