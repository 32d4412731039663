"""Networks that see no colour: ``grey:SPEC``, and programs whose input has one channel."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from analysis.classifiers.networks import TorchNetwork, frozen
from analysis.classifiers.port import Classifier, RecordedPredictions
from analysis.classifiers.preprocessing import Preprocessing
from analysis.errors import ClassifierUnavailable

#: Shares of red, green and blue in grey, as of `analysis.counterfactuals.files.in_grey`; their sum is 1.
SHARES = (0.299, 0.587, 0.114)


def grey_input(network: Any, inputs: Preprocessing, *, channels: int) -> Any:
    """A torch module with colour pictures as its input, which a network sees in grey.

    Parameters
    ----------
    network : torch.nn.Module
    inputs : Preprocessing
        How pictures are normalised before they come to the module: the grey values are normalised alike.
    channels : {1, 3}
        Of the network's own input: one, or three equal ones.

    Returns
    -------
    torch.nn.Module
        Takes a normalised tensor of shape (n, 3, s, s); differentiable with respect to it.

    Notes
    -----
    OOR paper, appendix F: "changing the ResNet input channel to be 1 and transforming the input images to be
    grayscale".
    """
    import torch

    class GreyInput(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = network
            for name, values in (("shares", SHARES), ("mean", inputs.mean), ("std", inputs.std)):
                self.register_buffer(name, torch.tensor(values, dtype=torch.float32).view(1, 3, 1, 1))

        def forward(self, pictures: Any) -> Any:
            grey = ((pictures * self.std + self.mean) * self.shares).sum(dim=1, keepdim=True)
            return self.network(((grey - self.mean) / self.std)[:, :channels])

        def train(self, mode: bool = True) -> Any:
            """A program of torch.export has no modes."""
            return self if isinstance(self.network, torch.fx.GraphModule) else super().train(mode)

    return GreyInput()


def load(spec: str, load_network: Callable[[str], Classifier | RecordedPredictions]) -> TorchNetwork:
    """The network of any adapter string, shown every picture without colour.

    Raises
    ------
    ClassifierUnavailable
        If it is no torch network.
    """
    network = load_network(spec)
    if not isinstance(network, TorchNetwork):
        raise ClassifierUnavailable(
            f"grey:{spec}: only torch networks are shown pictures without colour: use torchvision:, timm:, hf:, "
            "open_clip: or export:."
        )
    module = grey_input(network.forward, network.inputs, channels=3)
    return replace(
        network,
        name=f"{network.name} in grey",
        digest=hashlib.sha256(f"grey {SHARES} {network.digest}".encode()).hexdigest(),
        forward=frozen(module, network.device),
        facts={**network.facts, "grey": "0.299 R + 0.587 G + 0.114 B, in all channels"},
    )
