"""What a search may name; from a web form, published names and the files of the shelf alone."""

from __future__ import annotations

from django.conf import settings

from analysis.classifiers.loading import SCHEMES
from analysis.corruptions import CORRUPTIONS
from analysis.counterfactuals.specifications import GENERATORS, ORACLES
from humanexp.core.errors import InvalidRequest
from humanexp.counterfactuals.models import CROWD
from humanexp.evaluations.specs import SHELF, check_safe, shelf_files

#: What the first word of each specification may be, and an example of it.
_KINDS = {
    "classifier": (tuple(SCHEMES), "export:model.pt2"),
    "generator": (tuple(GENERATORS), "pixel: or corruption:gaussian_blur"),
    "oracle": ((*ORACLES, CROWD.rstrip(":")), "classifier:export:oracle.pt2"),
}


def check_specifications(*, classifier: str, generator: str, oracle: str, is_form: bool) -> None:
    """Refuse what could only fail once the search has begun, and what a web form must not name."""
    for field, spec in (("classifier", classifier), ("generator", generator), ("oracle", oracle)):
        _check_kind(field, spec)
    if is_form:
        check_safe(classifier, field="classifier")
        _check_safe_generator(generator)
        _check_safe_oracle(oracle)


def _check_kind(field: str, spec: str) -> None:
    kinds, example = _KINDS[field]
    kind, colon, reference = spec.partition(":")
    if not colon or kind not in kinds:
        raise InvalidRequest(
            f"{spec!r} is no {field}: begin with one of {', '.join(f'{kind}:' for kind in kinds)}, for example "
            f"{example}.",
            fields={field: example},
        )
    function = reference.partition(",")[0]
    if (field, kind) == ("generator", "corruption") and function not in CORRUPTIONS:
        raise InvalidRequest(
            f"There is no corruption function {function!r}: choose one of {', '.join(CORRUPTIONS)}.",
            fields={field: "corruption:NAME"},
        )


def _check_safe_generator(spec: str) -> None:
    kind, _, rest = spec.partition(":")
    if kind != "vqgan":
        return
    checkpoint, *options = rest.split(",")
    _check_on_shelf("generator", checkpoint)
    for option in options:
        name, _, value = option.partition("=")
        if name.strip() == "sparse":
            _check_on_shelf("generator", value.strip())


def _check_safe_oracle(spec: str) -> None:
    kind, _, rest = spec.partition(":")
    if kind == "classifier":
        check_safe(rest, field="oracle")
    elif kind == "clip":
        name, at, weights = rest.rpartition("@")
        check_safe(f"open_clip:{name if at and weights in shelf_files() else rest}", field="oracle")
    elif kind == "ensemble":
        for member in rest.split("|"):
            _check_kind("oracle", member.strip())
            _check_safe_oracle(member.strip())


def _check_on_shelf(field: str, path: str) -> None:
    if path not in shelf_files():
        raise InvalidRequest(
            f"{path}: the console takes the files in {settings.MEDIA_ROOT}/{SHELF} and those that ship with it. Put "
            "the file there, or use manage.py counterfactuals.",
            fields={field: "a file of the shelf"},
        )
