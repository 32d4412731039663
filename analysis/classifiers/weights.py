"""A network's weights from a file, in whichever layout a training wrote them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.classifiers.tensors import Unreadable, read_tensors
from analysis.errors import ClassifierUnavailable

#: Where checkpoints keep the weights, in the order of preference: an average of weights only where nothing else is.
_PLACES = ("state_dict", "model_state_dict", "model", "net", "network", "weights", "params")
_AVERAGES = ("model_ema", "state_dict_ema", "ema_state_dict", "ema")
#: What wrappers put in front of names, in the order of preference: several devices, torch.compile, Lightning.
_PREFIXES = ("", "module.", "model.", "_orig_mod.", "module.model.", "model._orig_mod.", "model.module.", "net.")
#: Counters that a wrapper or batch normalisation adds, which decide no prediction.
_COUNTERS = ("n_averaged", "num_batches_tracked")


def load_weights(network: Any, path: Path, spec: str) -> None:
    """Put a file's weights into a network; a file of something else is refused, and no code in it is run.

    Read are a bare dictionary of weights and the checkpoints of usual trainings: under ``state_dict``,
    ``model_state_dict``, ``model`` or ``model_ema``, and with ``module.``, ``model.`` (Lightning) or ``_orig_mod.``
    (torch.compile) in front of the names.

    Raises
    ------
    ClassifierUnavailable
        Naming what was found: no weights, another network's weights, or a layout that is not known.
    """
    content = _content(path, spec)
    if not isinstance(content, Mapping):
        raise ClassifierUnavailable(
            f"{spec}: {path.name} holds a pickled object instead of weights, and unpickling it could run code. Save "
            "the network's state_dict() alone."
        )
    wanted = network.state_dict()
    layouts = list(_layouts(content))
    for weights in layouts:
        if (found := _named(weights, wanted)) is not None and _shapes_fit(found, wanted):
            network.load_state_dict(found, strict=False)  # all that matters is there; counters may be missing
            return
    raise ClassifierUnavailable(f"{spec}: {path.name} {_refusal(layouts, wanted)}")


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


def _layouts(content: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    """Dictionaries of tensors in a checkpoint, the likeliest first, each by its names."""
    known = [content.get(place) for place in (*_PLACES, *_AVERAGES)]
    others = [value for key, value in content.items() if key not in (*_PLACES, *_AVERAGES)]
    for candidate in (content, *known[: len(_PLACES)], *others, *known[len(_PLACES) :]):
        if isinstance(candidate, Mapping) and (tensors := _tensors(candidate)):
            yield tensors
        if isinstance(candidate, Mapping) and candidate is not content:
            inner = candidate.get("state_dict", candidate.get("module"))
            if isinstance(inner, Mapping) and (tensors := _tensors(inner)):
                yield tensors


def _tensors(candidate: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        str(name): value for name, value in candidate.items() if hasattr(value, "dtype") and hasattr(value, "shape")
    }


def _matters(name: str) -> bool:
    return not name.endswith(_COUNTERS)


def _named(weights: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """The network's weights under its own names, or None where this dictionary does not hold all of them.

    With a prefix in front, other parts of a training (a loss, a teacher) may stand beside the network. Without one,
    a name too many means another network.
    """
    for prefix in _PREFIXES:
        found = {name: weights[prefix + name] for name in wanted if prefix + name in weights}
        if any(_matters(name) and name not in found for name in wanted):
            continue
        if prefix or not any(_matters(name) for name in set(weights) - set(wanted)):
            return found
    return None


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
