"""The command line of a benchmark, from the function that runs it."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints


def run(benchmark: Callable[..., bool | None]) -> None:
    """Run it with the options of the command line, and end with status 1 if it returns False: a budget was missed.

    Every keyword of the function is an option of its type, ``Annotated`` with its help, and every argument without a
    default is positional; the help begins with the head of the function's module.
    """
    about_it = sys.modules[benchmark.__module__].__doc__
    parser = argparse.ArgumentParser(description=about_it, formatter_class=argparse.RawDescriptionHelpFormatter)
    hints = get_type_hints(benchmark, include_extras=True)
    for name, parameter in inspect.signature(benchmark).parameters.items():
        kind, *about = get_args(hints[name]) if hasattr(hints[name], "__metadata__") else (hints[name],)
        if type(None) in get_args(kind):  # what may be left out: ``Path | None``
            kind = get_args(kind)[0]
        known: dict[str, Any] = {"help": "".join(about) or None}
        if kind is bool:
            known["action"] = "store_true"
        elif get_origin(kind) is Literal:
            known["choices"] = get_args(kind)
        else:
            known["type"] = kind
        is_needed = parameter.default is parameter.empty
        if not is_needed:
            known["default"] = parameter.default
        parser.add_argument(name if is_needed else f"--{name.replace('_', '-')}", **known)
    sys.exit(benchmark(**vars(parser.parse_args())) is False)
