"""A network's weights from a file, in whichever layout a training wrote them, read without running code.

Such a file is a pickle. Only tensors and dictionaries are made; whatever else it names (optimisers, callbacks, settings
of a training) is replaced by an empty placeholder.
"""

from __future__ import annotations

import importlib
import json
import pickle
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from analysis.classifiers.description import weights_beside
from analysis.errors import ClassifierUnavailable, install

#: What a file may name besides tensor types.
_ALLOWED = frozenset(
    {
        ("collections", "OrderedDict"),
        ("torch._utils", "_rebuild_tensor_v2"),
        ("torch._utils", "_rebuild_parameter"),
        *(("torch", f"{kind}Storage") for kind in ("Float", "Half", "BFloat16", "Double", "Long", "Int", "Bool")),
    }
)


class Unreadable(Exception):
    """The file is no file of torch.save, or damaged."""


def read_tensors(path: Path) -> Any:
    """What a file of torch.save holds, with placeholders for all but tensors, dictionaries, lists and plain values.

    Raises
    ------
    Unreadable
        If torch cannot read it.
    """
    import torch

    reader = SimpleNamespace(
        Unpickler=_TensorUnpickler, load=lambda file, **how: _TensorUnpickler(file, **how).load(), __name__="tensors"
    )
    try:
        return torch.load(path, map_location="cpu", weights_only=False, pickle_module=reader)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, TypeError, KeyError, AttributeError, IndexError,
            OSError, tarfile.TarError, zipfile.BadZipFile) as error:  # fmt: skip
        raise Unreadable(next(iter(str(error).strip().splitlines()), type(error).__name__)) from error


class _Placeholder:
    """Stands for an object of the training program, and takes whatever a pickle puts into it."""

    def __init__(self, *_arguments: Any, **_named: Any) -> None: ...

    def __setstate__(self, _state: Any) -> None: ...

    def __setitem__(self, _key: Any, _value: Any) -> None: ...

    def append(self, _value: Any) -> None: ...

    def extend(self, _values: Any) -> None: ...


class _TensorUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return super().find_class(module, name)
        return type(name, (_Placeholder,), {})


#: Where checkpoints keep the weights.
_PLACES = ("state_dict", "model_state_dict", "model", "net", "network", "weights", "params")
_BARE = "the file itself"
_AVERAGES = ("model_ema", "state_dict_ema", "ema_state_dict", "ema")
#: What wrappers put in front of names, in the order of preference: several devices, torch.compile, Lightning.
_PREFIXES = ("", "module.", "model.", "_orig_mod.", "module.model.", "model._orig_mod.", "model.module.", "net.")
#: Counters that a wrapper or batch normalisation adds, which decide no prediction.
_COUNTERS = ("n_averaged", "num_batches_tracked")


def load_weights(network: Any, path: Path, spec: str) -> None:
    """Put a file's weights into a network; a file of something else is refused, and no code in it is run.

    Read are a bare dictionary of weights and the checkpoints of usual trainings: under ``state_dict``,
    ``model_state_dict``, ``model`` or ``model_ema``, and with ``module.``, ``model.`` (Lightning) or ``_orig_mod.``
    (torch.compile) in front of the names. Where several of them hold the network's weights and differ, as with an
    average over the training, the JSON file beside says which is meant.

    Raises
    ------
    ClassifierUnavailable
        Naming what was found: no weights, another network's weights, several sets of them, or a layout that is not
        known.
    """
    content = _content(path, spec)
    if not isinstance(content, Mapping):
        raise ClassifierUnavailable(
            f"{spec}: {path.name} holds a pickled object instead of weights, and unpickling it could run code. Save "
            "the network's state_dict() alone."
        )
    wanted = network.state_dict()
    layouts = list(_layouts(content))
    sets: dict[str, dict[str, Any]] = {}
    for place, weights in layouts:
        for prefix, found in _named(weights, wanted):
            if _shapes_fit(found, wanted):
                sets.setdefault(f"{place}:{prefix}" if place and prefix else place or prefix or _BARE, found)
    if not sets:
        raise ClassifierUnavailable(f"{spec}: {path.name} {_refusal([weights for _, weights in layouts], wanted)}")
    # All that matters is there; counters may be missing.
    network.load_state_dict(sets[_meant(sets, path, spec)], strict=False)


def _meant(sets: Mapping[str, Mapping[str, Any]], path: Path, spec: str) -> str:
    """Place of the set of weights that is meant."""
    said, first = weights_beside(path), next(iter(sets))
    if said in sets:
        return said
    others = [place for place in sets if not _are_equal(sets[place], sets[first])]
    if not said and not others:
        return first
    names = ", ".join(map(repr, sets))
    problem = (
        f"{path.with_suffix('.json').name}, field 'weights': {said!r} is none of the sets of weights in {path.name}"
        if said
        else f"{path.name} holds several sets of weights that differ, and answers depend on which is taken"
    )
    raise ClassifierUnavailable(
        f"{spec}: {problem}: {names}. Write the one that is meant to {path.with_suffix('.json').name} beside it, for "
        f'example {{"weights": "{(others or [first])[-1]}"}}, or save it alone.'
    )


def refuse_two_sets(folder: Path, names: Sequence[str], spec: str) -> None:
    """Refuse a folder that holds one network's weights twice, and not the same ones: a library would take one silently.

    Parameters
    ----------
    folder : Path
        Nothing is done where this is none.
    names : sequence of str
        Files of weights, or indices of their parts (.index.json).

    Raises
    ------
    ClassifierUnavailable
        Naming the two files.
    """
    there = [name for name in names if (folder / name).is_file()]
    if len(there) < 2:
        return
    first = _whole(folder / there[0], spec)
    for name in there[1:]:
        if not _are_equal(first, _whole(folder / name, spec)):
            raise ClassifierUnavailable(
                f"{spec}: the folder holds two sets of weights that differ, {there[0]} and {name}. Move the one away "
                "that is not meant."
            )


def _whole(path: Path, spec: str) -> dict[str, Any]:
    """A file's tensors, or those of all parts that an index names."""
    if not path.name.endswith(".index.json"):
        return _tensors(_content(path, spec))
    parts = sorted(set(json.loads(path.read_bytes())["weight_map"].values()))
    return {name: value for part in parts for name, value in _tensors(_content(path.parent / part, spec)).items()}


def _are_equal(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether two sets are the same weights, also if one was saved with fewer bits; counters decide nothing."""
    shared = [name for name in some if name in others and _matters(name)]
    return bool(shared) and all(_equal(some[name], others[name]) for name in shared)


def _equal(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    return bool(one.equal(other) or one.to(other.dtype).equal(other) or other.to(one.dtype).equal(one))


def _content(path: Path, spec: str) -> Any:
    try:
        if path.suffix == ".safetensors":
            return importlib.import_module("safetensors.torch").load_file(path)
        return read_tensors(path)
    except (Unreadable, OSError, ValueError, _safetensors_error()) as error:
        raise ClassifierUnavailable(
            f"{spec}: {path.name} cannot be read as weights ({error}). It is damaged, or no file of torch.save."
        ) from error


def _safetensors_error() -> type[Exception]:
    try:
        return importlib.import_module("safetensors").SafetensorError  # type: ignore[no-any-return]
    except ImportError:
        return Unreadable


def _layouts(content: Mapping[Any, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Dictionaries of tensors in a checkpoint, the likeliest first, each with its place."""
    if tensors := _tensors(content):
        yield "", tensors
    others = [key for key in content if key not in (*_PLACES, *_AVERAGES)]
    for place in (*_PLACES, *others, *_AVERAGES):
        candidate = content.get(place)
        if not isinstance(candidate, Mapping):
            continue
        if tensors := _tensors(candidate):
            yield str(place), tensors
        inner = candidate.get("state_dict", candidate.get("module"))
        if isinstance(inner, Mapping) and (tensors := _tensors(inner)):
            yield str(place), tensors


def _tensors(candidate: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        str(name): value for name, value in candidate.items() if hasattr(value, "dtype") and hasattr(value, "shape")
    }


def _matters(name: str) -> bool:
    return not name.endswith(_COUNTERS)


def _named(weights: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The network's weights under its own names, by what stood in front; nothing where they are not all there.

    With a prefix in front, other parts of a training (a loss, a teacher) may stand beside the network. Without one,
    a name too many means another network.
    """
    for prefix in _PREFIXES:
        found = {name: weights[prefix + name] for name in wanted if prefix + name in weights}
        if any(_matters(name) and name not in found for name in wanted):
            continue
        if prefix or not any(_matters(name) for name in set(weights) - set(wanted)):
            yield prefix, found


def _shapes_fit(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(tuple(value.shape) == tuple(wanted[name].shape) for name, value in found.items())


def _refusal(layouts: list[dict[str, Any]], wanted: Mapping[str, Any]) -> str:
    """Whether it is another network, another number of labels, or a layout that nobody here knows."""
    if not layouts:
        return "holds no weights. Save the network's state_dict()."
    shared, prefix, weights = max(
        ((sum(prefix + name in one for name in wanted), prefix, one) for one in layouts for prefix in _PREFIXES),
        key=lambda entry: entry[0],
    )
    if not shared:
        return _unknown_layout(layouts, wanted)
    missing = [name for name in wanted if _matters(name) and prefix + name not in weights]
    extra = [name for name in weights if _matters(name) and name.removeprefix(prefix) not in wanted]
    other = [
        f"{name} is of shape {tuple(weights[prefix + name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in wanted
        if prefix + name in weights and tuple(weights[prefix + name].shape) != tuple(wanted[name].shape)
    ]
    what = (
        other[0]
        if other
        else f"{missing[0]} is missing"
        if missing
        else f"{extra[0] if extra else 'a name'} is too many"
    )
    return (
        f"holds another network's weights, or another number of labels ({what}). A network with its own labels needs a "
        "mapping file."
    )


def _unknown_layout(layouts: list[dict[str, Any]], wanted: Mapping[str, Any]) -> str:
    names = list(layouts[0])
    ours = max(wanted, key=lambda name: any(one.endswith(f".{name}") for one in names))
    inside = next((one for one in names if one.endswith(f".{ours}")), "")
    if inside:
        return (
            f"names its weights with {inside.removesuffix(ours)!r} in front, which is no layout that is known here. "
            "Save the wrapped network's state_dict()."
        )
    return (
        f"holds weights, but none of this network: it begins with {names[0]!r}, and the network has "
        f"{next(iter(wanted))!r}. Name the network that they belong to, or save its state_dict()."
    )


INSTALL = install("classifiers")
#: The one failure of ``import torchvision`` that `import_torchvision` mends.
MISSING_OPERATOR = "operator torchvision::nms does not exist"
#: Kept alive: an operator's declaration lives as long as its library object.
_declarations: list[Any] = []


def import_torchvision() -> ModuleType:
    """``import torchvision``, also where its compiled extension was built for another torch.

    The CPU build of torch with the common build of torchvision fails at import, for want of two detection operators
    that classification never uses. After that failure, and no other, they are declared and the import is repeated.

    Raises
    ------
    ClassifierUnavailable
        If torchvision is not installed.
    """
    try:
        return importlib.import_module("torchvision")
    except ImportError as error:
        raise ClassifierUnavailable(f"torchvision is not installed: {INSTALL}") from error
    except RuntimeError as error:
        if MISSING_OPERATOR not in str(error):
            raise
    declare_detection_operators()
    return importlib.import_module("torchvision")


def declare_detection_operators() -> None:
    """Declare the schemas of torchvision's two operators, and forget its half-imported modules."""
    import torch

    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "FRAGMENT")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declarations.append(library)


def untrained(make: Callable[[], Any]) -> Any:
    """A network with the same random weights every time, leaving torch's own random state alone."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make()
