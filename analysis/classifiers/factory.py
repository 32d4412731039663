"""Adapter ``python:package.module:factory``: a researcher's own classifier.

It runs code, so only the command line allows it.
"""

from __future__ import annotations

import importlib

from analysis.classifiers.port import Classifier
from analysis.errors import ClassifierUnavailable


def load(reference: str, *, device: str = "cpu", allow_code: bool = False) -> Classifier:
    """Call the factory with the device and return what it makes.

    Parameters
    ----------
    reference : str
        ``package.module:factory``; ``factory(device)`` returns a `Classifier`.

    Raises
    ------
    ClassifierUnavailable
        If code is not allowed, cannot be found, or makes something else.
    """
    if not allow_code:
        raise ClassifierUnavailable(
            f"python:{reference} runs code and is not allowed here: use manage.py evaluate on the command line."
        )
    module_name, colon, factory_name = reference.partition(":")
    if not colon or not module_name or not factory_name:
        raise ClassifierUnavailable(f"python:{reference}: write python:package.module:factory.")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ClassifierUnavailable(f"python:{reference}: {module_name} cannot be imported ({error}).") from error
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise ClassifierUnavailable(f"python:{reference}: {module_name} has no function {factory_name}.")
    made = factory(device)
    if not isinstance(made, Classifier):
        wanted = ("name", "labels", "label_space", "digest", "preprocessing", "predict")
        missing = [attribute for attribute in wanted if not hasattr(made, attribute)]
        raise ClassifierUnavailable(f"python:{reference} made something without {', '.join(missing)}.")
    return made
