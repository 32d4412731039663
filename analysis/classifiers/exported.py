"""Adapter ``export:PATH.pt2``: a torch.export program and, beside it, PATH.json, which says what goes in and out."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.classifiers.description import Description, check_outputs, probing_pictures, read_beside
from analysis.classifiers.grey import grey_input
from analysis.classifiers.networks import TorchNetwork, check_device
from analysis.errors import ClassifierUnavailable
from analysis.examples import located
from analysis.labels.space import LabelSpace

#: Entries of an archive that torch.export would unpickle without asking what they are.
_CODE = ("custom_obj_", "opaque_obj_")


def load(
    reference: str, *, device: str = "cpu", labels: tuple[str, ...] | None = None, space: LabelSpace | None = None
) -> TorchNetwork:
    """Load a program and its description.

    Parameters
    ----------
    labels : tuple of str, optional
        Instead of those of the description.
    space : LabelSpace, optional
        Labels that a mapping file beside it names; by default the product's.

    Raises
    ------
    ClassifierUnavailable
        If a file is missing, unreadable, or holds more than a program and its weights.
    """
    path = located(Path(reference))
    if path.suffix != ".pt2":
        raise ClassifierUnavailable(f"{path}: a torch.export program is a .pt2 file.")
    described, content = read_beside(path, how_to_make="Save the network with torch.export.save", space=space)
    check_device(device)

    import torch

    _check_archive(path)
    try:
        with _weights_only():
            program = torch.export.load(path)
    except (
        AssertionError, RuntimeError, ValueError, KeyError, OSError, zipfile.BadZipFile, pickle.UnpicklingError
    ) as error:  # fmt: skip
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ClassifierUnavailable(f"{path}: torch.export cannot read it ({reason}). Export it again.") from error
    program = _moved(program, "cpu")
    on_processor = _in_colour(program.module(), described, "cpu")
    _check_batches(on_processor, described.inputs.input_px, path)
    with torch.inference_mode():
        probing = torch.from_numpy(probing_pictures(described.inputs.input_px)).permute(0, 3, 1, 2).float().div_(255)
        check_outputs(on_processor(described.inputs.apply_to_tensor(probing)).float().numpy(), described.outputs, path)
    if device != "cpu":
        program = _moved(program, device)
    # Without the guard on the largest batch that was named at export: any size is right, and retraining exports anew.
    module = _in_colour(program.module(check_guards=False), described, device)
    for weight in module.parameters():
        weight.requires_grad_(False)
    return TorchNetwork(
        name=described.name,
        labels=labels or described.labels,
        digest=hashlib.sha256(path.read_bytes() + content).hexdigest(),
        inputs=described.inputs,
        forward=module,
        device=device,
        outputs=described.outputs,
    )


def _in_colour(module: Any, described: Description, device: str) -> Any:
    """The program as a module that takes colour pictures, whatever its own input is."""
    return module if described.channels == 3 else grey_input(module, described.inputs, channels=1).to(device)


def save(network: Any, path: Path, described: Description, **provenance: Any) -> None:
    """Write a module as a program with a free batch size and, beside it, its description.

    The program is to be shared: it keeps no path of the machine that wrote it, and runs on a processor wherever the
    module computes.
    """
    import torch

    program = _moved(traced(network, described.inputs.input_px), "cpu")
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, path)
    path.with_suffix(".json").write_text(described.to_json(**provenance), encoding="utf-8")


def traced(network: Any, input_px: int) -> Any:
    """A module as a program with a free batch size, on the device on which the module computes."""
    import torch

    device = next((weights.device for weights in network.parameters()), torch.device("cpu"))
    example = (torch.zeros(2, 3, input_px, input_px, device=device),)
    return torch.export.export(network, example, dynamic_shapes=({0: torch.export.Dim("batch", min=1)},))


def _moved(program: Any, device: str) -> Any:
    """The program on a device: its weights, and the tensors that it makes on the way, whose device is written in it."""
    from torch.export.passes import move_to_device_pass

    return move_to_device_pass(program, device)


def _check_batches(module: Any, input_px: int, path: Path) -> None:
    """Refuse a program that was exported for one number of pictures, or for another size."""
    import torch

    try:
        with torch.inference_mode():
            for n_pictures in (1, 3):
                module(torch.zeros(n_pictures, 3, input_px, input_px))
    except (RuntimeError, AssertionError, ValueError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ClassifierUnavailable(
            f"{path}: the program does not take one picture as well as three, {input_px} px wide ({reason}). Correct "
            "input_px, or export it with a free batch size: dynamic_shapes=({0: torch.export.Dim('batch')},)."
        ) from error


def _check_archive(path: Path) -> None:
    """Refuse what is no archive, and what holds pickled objects other than tensors: unpickling those runs code."""
    unreadable = f"{path}: torch.export cannot read it"
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                is_config = name.endswith(("_weights_config.json", "_constants_config.json"))
                entries = json.loads(archive.read(name)).get("config", {}) if is_config else {}
                pickled = [key for key, entry in entries.items() if entry.get("use_pickle")]
                if name.rpartition("/")[2].startswith(_CODE) or pickled:
                    raise ClassifierUnavailable(
                        f"{path}: {', '.join(pickled) or name} holds a pickled object, which could run code. Export "
                        "the network with plain weights."
                    )
    except zipfile.BadZipFile as error:
        raise ClassifierUnavailable(f"{unreadable} (no archive, or a damaged one). Export it again.") from error
    except (ValueError, AttributeError, KeyError, OSError) as error:
        raise ClassifierUnavailable(f"{unreadable} ({error}). Export it again.") from error


@contextmanager
def _weights_only() -> Iterator[None]:
    """For the time of the block, torch unpickles tensors alone, also where torch.export would retry without care."""
    name = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
