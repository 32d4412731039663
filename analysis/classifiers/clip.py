"""Adapter ``open_clip:REFERENCE``: a CLIP network that compares pictures with sentences.

REFERENCE is ``MODEL/TAG`` (published weights), ``MODEL@FILE`` (own weights), ``MODEL@random``, or a folder with
``open_clip_config.json`` and weights. A picture's label is the one whose sentence, "a picture of a cat", is nearest;
``REFERENCE#vcr`` takes the sentences of that paper, one for each of ImageNet's 1,000 classes.
"""

from __future__ import annotations

import importlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from analysis.classifiers.networks import TorchNetwork, check_device, frozen, weights_digest
from analysis.classifiers.preprocessing import Preprocessing
from analysis.classifiers.sentences import asked_for, of_labels, prompt
from analysis.classifiers.weights import INSTALL, import_torchvision, refuse_two_sets, untrained
from analysis.errors import ClassifierUnavailable
from analysis.labels.space import LabelSpace

#: As a folder of a CLIP network names its weights.
_WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")


def load(
    reference: str,
    *,
    device: str = "cpu",
    allow_download: bool = False,
    labels: tuple[str, ...] | None = None,
    sentence: Callable[[str], str] = prompt,
    space: LabelSpace | None = None,
) -> TorchNetwork:
    """Load a CLIP network as a classifier by a sentence for each label: ``labels``, or the words of those of ``space``.

    By default the labels are those of the product, each called by its id.

    Raises
    ------
    ClassifierUnavailable
        If open_clip, the network, its weights or the sentences that it names are not here, or damaged.
    """
    check_device(device)
    spec = f"open_clip:{reference}"
    network_name, sentences = (reference, None) if Path(reference).is_dir() else asked_for(reference)
    if sentences is not None and labels is not None:
        raise ClassifierUnavailable(f"{spec} has sentences of its own: leave out the mapping file.")
    told = sentences or of_labels(space, labels, sentence)
    import_torchvision()
    try:
        open_clip = importlib.import_module("open_clip")
    except ImportError as error:
        raise ClassifierUnavailable(f"open_clip is not installed: {INSTALL}") from error
    safetensors = importlib.import_module("safetensors")
    unreadable = (OSError, RuntimeError, ValueError, KeyError, pickle.UnpicklingError, safetensors.SafetensorError)
    try:
        network, tokenizer, config = _made(open_clip, network_name, spec, allow_download=allow_download)
    except unreadable as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ClassifierUnavailable(f"{spec} cannot be loaded: {reason}") from error
    settings = network.visual.preprocess_cfg
    size = settings["size"]
    inputs = Preprocessing(
        int(size[0] if isinstance(size, list | tuple) else size), tuple(settings["mean"]), tuple(settings["std"])
    )
    texts = list(told.texts)
    state = network.state_dict()
    return TorchNetwork(
        name=Path(reference).name if Path(reference).is_dir() else reference,
        labels=told.labels,
        digest=weights_digest(state, also=f"{inputs} {texts} {config}"),
        inputs=inputs,
        forward=_zero_shot(frozen(network, device), tokenizer(texts).to(device)),
        device=device,
        facts={"sentences": str(told)},
    )


def _made(open_clip: ModuleType, reference: str, spec: str, *, allow_download: bool) -> tuple[Any, Any, str]:
    """The network with its weights, its tokenizer, and how it is built: equal weights may compute something else."""
    if Path(reference).is_dir():
        if not any((Path(reference) / name).is_file() for name in _WEIGHTS):
            raise ClassifierUnavailable(f"{spec}: the folder holds no weights ({' or '.join(_WEIGHTS)}).")
        refuse_two_sets(Path(reference), _WEIGHTS, spec)
        name = f"local-dir:{reference}"
        config = (Path(reference) / "open_clip_config.json").read_text(encoding="utf-8")
        return open_clip.create_model(name), open_clip.get_tokenizer(name), config
    name, at, wanted = reference.partition("@")
    name, _, tag = name.partition("/") if not at else (name, "", "")
    if name not in open_clip.list_models():
        raise ClassifierUnavailable(f"open_clip has no network {name!r}; open_clip.list_models() names them.")
    config = json.dumps(open_clip.get_model_config(name), sort_keys=True)
    if wanted == "random":
        return untrained(lambda: open_clip.create_model(name)), open_clip.get_tokenizer(name), config
    if at:
        if not Path(wanted).is_file():
            raise ClassifierUnavailable(f"{spec}: there is no file {wanted}. Give a file of weights, or random.")
        return open_clip.create_model(name, pretrained=wanted), open_clip.get_tokenizer(name), config
    tags = open_clip.list_pretrained_tags_by_model(name)
    if tag not in tags:
        raise ClassifierUnavailable(f"{spec}: write open_clip:{name}/TAG, where TAG is one of {', '.join(tags)}.")
    if not allow_download and not _is_cached(open_clip.get_pretrained_cfg(name, tag)):
        raise ClassifierUnavailable(
            f"The weights of {spec} are not on this machine: allow the download, or give a file "
            f"(open_clip:{name}@FILE)."
        )
    return open_clip.create_model(name, pretrained=tag), open_clip.get_tokenizer(name), config


def _is_cached(published: dict[str, Any]) -> bool:
    """Whether an earlier download left these weights in the Hugging Face cache."""
    hub = importlib.import_module("huggingface_hub")
    repository, _, file = str(published.get("hf_hub", "")).rpartition("/")
    wanted = (file,) if file else _WEIGHTS
    return bool(repository) and any(isinstance(hub.try_to_load_from_cache(repository, one), str) for one in wanted)


def _zero_shot(network: Any, tokens: Any) -> Any:
    """The network as a module from pictures to logits, one a sentence."""
    import torch

    class ZeroShot(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            with torch.inference_mode():
                sentences = network.encode_text(tokens, normalize=True).float()
            self.visual = network.visual
            self.register_buffer("sentences", sentences.clone())
            self.register_buffer("scale", network.logit_scale.detach().exp().clone())

        def forward(self, pictures: Any) -> Any:
            features = self.visual(pictures)
            # CoCa's image tower also puts out tokens for its captions.
            pooled = features[0] if isinstance(features, tuple) else features
            return self.scale * torch.nn.functional.normalize(pooled, dim=-1) @ self.sentences.T

    return ZeroShot().eval()
