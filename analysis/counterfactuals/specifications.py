"""From a string to a generator or an oracle, such as ``pixel:step=0.01`` or ``classifier:export:model.pt2``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from analysis import plugins
from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.corrupting import STRIDE, CorruptionGenerator
from analysis.counterfactuals.latents import load_latent_generator
from analysis.counterfactuals.oracles import ClassifierOracle, EnsembleOracle
from analysis.counterfactuals.pixels import PixelGenerator
from analysis.counterfactuals.port import Generator, Oracle
from analysis.errors import AnalysisError, GeneratorUnavailable, OracleUnavailable, SearchRefused, UnknownName
from analysis.labels.space import LabelSpace
from analysis.plugins import plugin

#: What people are asked is settled in rounds; see `humanexp.counterfactuals`.
CROWD = "crowd:"


def load_generator(spec: str, *, device: str = "cpu", allow_code: bool = False) -> Generator:
    """Load a generator.

    Parameters
    ----------
    spec : str
        ``corruption:NAME[,step=0.1]``, ``pixel:[epsilon=0.06,step=0.008]`` or
        ``vqgan:CHECKPOINT[,step=0.1,px=256,sparse=DIMENSIONS.npy]``, or one of a plug-in: an entry point of the group
        ``humanexp.generators``, whose object is a function as in `GENERATORS`.
    device : str
        "cpu", "cuda", "cuda:1".
    allow_code : bool
        Needed by plug-ins.

    Raises
    ------
    UnknownName
        If there is no such kind, function or option.
    SearchRefused, GeneratorUnavailable
        If an option or a file cannot be used.
    """
    kind, colon, rest = spec.partition(":")
    make = GENERATORS.get(kind) or _plugged(kind, allow_code=allow_code)
    if not colon or make is None:
        raise UnknownName(
            f"{spec!r} names no generator: write one of {', '.join(f'{name}:' for name in GENERATORS)}, for example "
            "corruption:gaussian_blur, pixel: or vqgan:autoencoder.pt."
        )
    words = [word for word in rest.split(",") if word]
    main = words.pop(0) if words and "=" not in words[0] else ""
    options: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        options[name.strip()] = value.strip()
    return make(main, options, device)


def _plugged(kind: str, *, allow_code: bool) -> Callable[[str, dict[str, str], str], Generator] | None:
    """The function of a plug-in, which is imported only where code is allowed."""
    found = plugin(plugins.GENERATORS, kind)
    if found is None:
        return None
    if not allow_code:
        raise GeneratorUnavailable(
            f"{kind}: runs code of {found.title} and is not allowed here: use manage.py counterfactuals."
        )
    load = found.load()

    def make(main: str, options: dict[str, str], device: str) -> Generator:
        try:
            made = load(main, options, device)
        except AnalysisError:
            raise
        except Exception as error:  # noqa: BLE001  the code of others may raise anything
            raise GeneratorUnavailable(f"{kind}: of {found.title} fails ({type(error).__name__}: {error}).") from error
        if not isinstance(made, Generator):
            raise GeneratorUnavailable(f"{kind}: of {found.title} makes something that is no generator.")
        return made

    return make


def _corruption(main: str, options: dict[str, str], _device: str) -> Generator:
    numbers = _numbers("corruption", options, {"step": "stride"})
    return CorruptionGenerator(main, stride=numbers.get("stride", STRIDE))


def _pixel(main: str, options: dict[str, str], _device: str) -> Generator:
    if main:
        raise UnknownName(f"pixel:{main}: write options by name, such as pixel:epsilon=0.06,step=0.008.")
    return PixelGenerator(**_numbers("pixel", options, {"epsilon": "epsilon", "step": "stride"}))


def _vqgan(main: str, options: dict[str, str], device: str) -> Generator:
    import numpy as np

    dimensions = options.pop("sparse", "")
    numbers = _numbers("vqgan", options, {"step": "stride", "px": "input_px"})
    generator = load_latent_generator(
        Path(main),
        input_px=int(numbers["input_px"]) if "input_px" in numbers else None,
        stride=numbers.get("stride", 0.1),
        device=device,
    )
    if not dimensions:
        return generator
    try:
        return generator.sparse(np.load(dimensions, allow_pickle=False).astype(bool))
    except (OSError, ValueError) as error:
        raise SearchRefused(f"{dimensions}: the selected dimensions cannot be read ({error}).") from error


#: A new generator is one class, one function and one line here.
GENERATORS: Mapping[str, Callable[[str, dict[str, str], str], Generator]] = {
    "corruption": _corruption,
    "pixel": _pixel,
    "vqgan": _vqgan,
}


def load_oracle(
    spec: str,
    *,
    device: str = "cpu",
    allow_code: bool = False,
    allow_download: bool = False,
    space: LabelSpace | None = None,
) -> Oracle:
    """Load an oracle that answers at once.

    Parameters
    ----------
    spec : str
        ``classifier:SPEC``, ``clip:NAME@WEIGHTS`` (a network of open_clip, asked by the prompt "an image of
        {class}"), or ``ensemble:ORACLE|ORACLE|...``.
    device, allow_code, allow_download
        As for `load_classifier`.
    space : LabelSpace, optional
        Labels of the pictures; by default the product's.

    Raises
    ------
    UnknownName
        If there is no such kind.
    OracleUnavailable, ClassifierUnavailable
        If it cannot be loaded here.
    """
    kind, colon, rest = spec.partition(":")
    if spec == CROWD or kind == "crowd":
        raise OracleUnavailable("People answer in rounds: run crowd: from the page or the command counterfactuals.")
    if not colon or not rest or kind not in ORACLES:
        raise UnknownName(
            f"{spec!r} names no oracle: write one of {', '.join(f'{name}:' for name in ORACLES)} or {CROWD}, for "
            "example classifier:export:oracle.pt2."
        )

    if kind == "classifier":
        loaded = load_classifier(rest, device=device, allow_code=allow_code, allow_download=allow_download, space=space)
        return ClassifierOracle(loaded, space=space)  # type: ignore[arg-type]
    if kind == "clip":
        from analysis.classifiers import clip

        network = clip.load(rest, device=device, allow_download=allow_download, sentence=_clip_sentence, space=space)
        return ClassifierOracle(network, kind, space)
    return EnsembleOracle(
        tuple(
            load_oracle(
                member.strip(), device=device, allow_code=allow_code, allow_download=allow_download, space=space
            )
            for member in rest.split("|")
        )
    )


ORACLES = ("classifier", "clip", "ensemble")


def _clip_sentence(category: str) -> str:
    """What a CLIP network compares a picture with; OOR paper, section 4."""
    return f"an image of {category}"


def _numbers(kind: str, options: dict[str, str], known: dict[str, str]) -> dict[str, float]:
    strange = sorted(set(options) - set(known))
    if strange:
        raise UnknownName(f"{kind}: has no option {strange[0]!r}; there are: {', '.join(known)}.")
    try:
        return {known[name]: float(value) for name, value in options.items()}
    except ValueError as error:
        raise SearchRefused(f"{kind}: an option is no number ({error}).") from error
