"""Layers of a torch network: which there are, and a network that ends with one of them.

A layer is called as the module that puts it out, such as ``layer4`` or ``blocks.11``. `PENULTIMATE` is what goes into
the last linear layer, or into the last convolution where there is none: the features that the network itself decides
by. Where no such layer has an output for each label, as in a CLIP network, it is the last layer with one row a picture.
Of places (n, channels, h, w) and of tokens (n, tokens, channels) the mean is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.networks import TorchNetwork, arithmetic, is_accelerator, pictures_at_once
from analysis.errors import ClassifierUnavailable

PENULTIMATE = "penultimate"
#: Names of layers in one sentence.
_NAMED = 40
#: Operations that end a network in an exported program, each with the place of its input.
_HEADS = {"aten.linear.default": 0, "aten.addmm.default": 1, "aten.conv2d.default": 0, "aten.convolution.default": 0}


@dataclass(frozen=True, slots=True)
class Tap:
    """A network that ends with a layer.

    Attributes
    ----------
    layer : str
        As it was asked for.
    place : str
        Where that is, in words.
    width : int
        Numbers that it puts out for a picture.
    forward : callable
        From a normalised float tensor (n, 3, s, s) to features (n, width): a ``torch.nn.Module``.
    """

    layer: str
    place: str
    width: int
    forward: Callable[[Any], Any]


def tap(network: TorchNetwork, layer: str = PENULTIMATE) -> Tap:
    """The network up to a layer.

    Raises
    ------
    ClassifierUnavailable
        If there is no such layer, with those that there are.
    """
    import torch

    if not isinstance(network.forward, torch.nn.Module):
        raise ClassifierUnavailable(f"{network.name} is no torch module: its layers cannot be read.")
    is_graph = isinstance(network.forward, torch.fx.GraphModule)
    found = _of_graph(network) if is_graph else _of_modules(network)
    if layer not in found:
        raise ClassifierUnavailable(f"{network.name} has no layer {layer!r}; there are: {_listed(found)}.")
    place, width, cut = found[layer]
    return Tap(layer, place, width, _pooled(cut()))


def features_of(network: TorchNetwork, tapped: Tap, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Features, shape (n, width), of RGB pictures, shape (n, h, w, 3): in the batches in which the network predicts.

    Raises
    ------
    ClassifierUnavailable
        If one of them is no finite number.
    """
    import torch

    parts = [np.zeros((0, tapped.width), np.float32)]
    size = pictures_at_once(network.device)
    with torch.inference_mode(), arithmetic(network.device, network.precision):
        for start in range(0, len(pictures), size):
            batch = torch.from_numpy(pictures[start : start + size]).to(network.device)
            inputs = network.inputs.apply_to_tensor(batch.permute(0, 3, 1, 2).float().div_(255))
            if is_accelerator(network.device):
                inputs = inputs.contiguous(memory_format=torch.channels_last)
            parts.append(tapped.forward(inputs).float().cpu().numpy())
    found = np.concatenate(parts)
    finite = np.isfinite(found).all(axis=1)
    if not finite.all():
        raise ClassifierUnavailable(
            f"{network.name} puts out values that are no numbers (NaN or infinite) at {tapped.place}, first for "
            f"picture {int(np.argmin(finite)) + 1} of {len(found)}. Check its weights and its mean and std."
        )
    return found


#: A layer's place in words, its width, and how the network is cut there.
_Found = dict[str, tuple[str, int, Callable[[], Any]]]


def _listed(found: _Found) -> str:
    names = list(found)
    if len(names) <= _NAMED:
        return ", ".join(names)
    # The deepest names are the parts of blocks; blocks themselves say more.
    blocks = sorted(names, key=lambda name: (name != PENULTIMATE, name.count("."), names.index(name)))[:_NAMED]
    return f"{', '.join(blocks)} and {len(names) - _NAMED} more inside of these"


def _width(values: Any, n_pictures: int) -> int:
    """Numbers a picture once places are averaged; 0 where the output is not one row or one map a picture."""
    shape = tuple(getattr(values, "shape", ()))
    if not 2 <= len(shape) <= 4 or shape[0] != n_pictures:
        return 0
    return int(shape[1] if len(shape) != 3 else shape[2])


def _pooled(module: Any) -> Any:
    """The module, followed by the mean over places or tokens."""
    import torch

    class Pooled(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.cut = module

        def forward(self, pictures: Any) -> Any:
            values = self.cut(pictures)
            if values.ndim == 4:
                return values.mean(dim=(2, 3))
            return values.mean(dim=1) if values.ndim == 3 else values

    return Pooled().eval()


def _first_tensor(values: Any) -> Any:
    """What a layer puts out; layers of transformers put it into a tuple."""
    return values[0] if isinstance(values, tuple) and values else values


def _probe(network: TorchNetwork) -> Any:
    """Two grey pictures: enough to see the shape of every layer."""
    import torch

    side = network.inputs.input_px
    return network.inputs.apply_to_tensor(torch.full((2, 3, side, side), 0.5, device=network.device))


# --- modules that run as Python


def _of_modules(network: TorchNetwork) -> _Found:
    import torch

    root: Any = network.forward
    ran: dict[str, int] = {}
    heads: list[tuple[str, int]] = []
    rows: list[str] = []

    def look(name: str, module: Any) -> Callable[[Any, Any, Any], None]:
        def hook(_module: Any, inputs: Any, outputs: Any) -> None:
            width = _width(_first_tensor(outputs), 2)
            if not width:
                return
            ran.pop(name, None)
            ran[name] = width
            if _first_tensor(outputs).ndim == 2:
                rows.append(name)
            if isinstance(module, torch.nn.Linear | torch.nn.Conv2d) and width == len(network.labels) and inputs:
                heads.append((name, _width(inputs[0], 2)))

        return hook

    named = [(name, module) for name, module in root.named_modules() if name]
    handles = [module.register_forward_hook(look(name, module)) for name, module in named]
    try:
        with torch.inference_mode():
            root(_probe(network))
    finally:
        for handle in handles:
            handle.remove()
    found: _Found = {}
    if heads and heads[-1][1]:
        head, width = heads[-1]
        found[PENULTIMATE] = (f"the input of {head}", width, partial(_hooked, root, head, of_input=True))
    elif rows:
        found[PENULTIMATE] = (f"the output of {rows[-1]}", ran[rows[-1]], partial(_hooked, root, rows[-1]))
    for name, width in ran.items():
        found[name] = (f"the output of {name}", width, partial(_hooked, root, name))
    return found


def _hooked(root: Any, name: str, *, of_input: bool = False) -> Any:
    """The network as a module that returns what went into one of its modules, or came out of it the last time."""
    import torch

    class Hooked(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = root

        def forward(self, pictures: Any) -> Any:
            seen: list[Any] = []

            def hook(_module: Any, inputs: Any, outputs: Any) -> None:
                # A copy: what comes next may write into it, as ReLU in place does.
                seen[:] = [(inputs[0] if of_input else _first_tensor(outputs)).clone()]

            handle = self.network.get_submodule(name).register_forward_hook(hook)
            try:
                self.network(pictures)
            finally:
                handle.remove()
            return seen[0]

    return Hooked().eval()


# --- exported programs, which are one graph


def _of_graph(network: TorchNetwork) -> _Found:
    graph: Any = network.forward
    found: _Found = {}
    head = None
    ends: dict[str, Any] = {}
    for node in graph.graph.nodes:
        width = _width(node.meta.get("val"), _n_pictures(node))
        if node.op != "call_function" or not width:
            continue
        for name in _modules_around(node):
            ends.pop(name, None)
            ends[name] = (node.name, width)
        place = _HEADS.get(str(node.target))
        if place is not None and width == len(network.labels):
            head = node.args[place]
    if head is not None and (width := _width(head.meta.get("val"), _n_pictures(head))):
        found[PENULTIMATE] = ("the input of the last linear layer", width, partial(_ending, graph, head.name))
    for name, (last, width) in ends.items():
        found[name] = (f"the output of {name}", width, partial(_ending, graph, last))
    return found


def _n_pictures(node: Any) -> Any:
    """The free number of pictures of a program, as its values have it."""
    shape = tuple(getattr(node.meta.get("val"), "shape", ()))
    # A number that is fixed is none of pictures: the program takes any.
    return shape[0] if shape and not isinstance(shape[0], int) else -1


def _modules_around(node: Any) -> Iterator[str]:
    """Modules of the network that was exported within which an operation ran."""
    for path, _kind in node.meta.get("nn_module_stack", {}).values():
        name = path.replace("L['self'].", "").removeprefix("L__self__").strip("._")
        if name:
            yield name


def _ending(graph: Any, node_name: str) -> Any:
    """A program that shares the weights and ends with the value of a node."""
    import torch

    cut, copies = torch.fx.Graph(), dict[Any, Any]()
    for node in graph.graph.nodes:
        copies[node] = cut.node_copy(node, copies.__getitem__)
        if node.name == node_name:
            cut.output(copies[node])
            break
    cut.eliminate_dead_code()
    return torch.fx.GraphModule(graph, cut)
