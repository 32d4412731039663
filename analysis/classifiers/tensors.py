"""Reads what torch.save wrote and makes tensors alone, so that a file can run no code.

Such a file is a pickle. Only tensors and dictionaries are made; whatever else it names (optimisers, callbacks, settings
of a training) is replaced by an empty placeholder.
"""

from __future__ import annotations

import pickle  # noqa: S403  find_class below makes tensors only
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
