"""Files of networks that are trained here: a torch.export program, and beside it what it says of itself; readouts."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from analysis.classifiers.description import Description
from analysis.classifiers.exported import save
from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.readout import SUFFIX, Readout
from analysis.examples import located
from humanexp.core import file_store
from humanexp.core.errors import InputRefused
from humanexp.core.storage import media_path
from humanexp.evaluations.specs import SHELF


def check_out(out: Path) -> None:
    """Refuse a file that no network can be written to, before anything is trained."""
    check_file(out, ".pt2", what="the network is written as a torch.export program", beside=(".json",))


def check_readout_out(out: Path) -> None:
    """The same of a readout's file."""
    check_file(out, SUFFIX, what="the readout is written as arrays of numpy")


def check_file(out: Path, suffix: str, *, what: str, beside: tuple[str, ...] = ()) -> None:
    """Refuse a file of another suffix, one that is there, and one in a folder that cannot be written to.

    `beside`: suffixes of files that are written next to it.
    """
    if out.suffix != suffix:
        raise InputRefused(f"{out}: {what}: name a {suffix} file.")
    if any(path.exists() for path in (out, *(out.with_suffix(one) for one in beside))):
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
    _shelve(out, out.with_suffix(".json"))


def kind_of_retrained(spec: str) -> str:
    """Kind of a network that was retrained on corruptions, as its description says; empty for every other."""
    scheme, _, file = spec.partition(":")
    if scheme != "export":
        return ""
    try:
        told = json.loads(located(Path(file)).with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    provenance = told.get("provenance") if isinstance(told, dict) else None
    return "corruptions" if isinstance(provenance, dict) and provenance.get("corruptions") else ""


def write_readout(readout: Readout, out: Path) -> None:
    """The file, written whole."""
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        readout.write(Path(folder) / out.name)
        (Path(folder) / out.name).replace(out)
    _shelve(out)


def _shelve(*paths: Path) -> None:
    """Let other machines know of files that were written onto the shelf."""
    if paths[0].parent == media_path(SHELF):
        file_store.publish(*(f"{SHELF}/{path.name}" for path in paths))
