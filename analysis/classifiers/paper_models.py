"""Networks that the papers compare with people, the adapter string of each, and what it needs.

Names follow the robustness leaderboard that VCR took its networks from (Shen et al., Table 1). Where a network's
weights are not published by one of the libraries, the string names a file, and ``needs`` says where it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What makes a network robust, or that nothing was done.
Training = Literal["standard", "data augmentation", "shape bias", "adversarial", "self-supervised", "language"]


@dataclass(frozen=True, slots=True)
class PaperModel:
    """One network: its name in the papers, how it was trained, its adapter string, and what that needs."""

    name: str
    training: Training
    spec: str
    needs: str
    #: whether the console can evaluate it as it stands, once downloads are allowed
    is_published: bool = False


_LIBRARY = "weights of the library: --allow-download once, or a file"
_SIN = "weights of Geirhos et al. (2019), repository texture-vs-shape; a file of tensors"
_LEADERBOARD = (
    "weights of the RobustBench model zoo: load it there, normalise inside the module, torch.export it to this file"
)

PAPER_MODELS: tuple[PaperModel, ...] = (
    PaperModel("Standard_R50", "standard", "torchvision:resnet50@IMAGENET1K_V1", _LIBRARY, True),
    PaperModel("AlexNet", "standard", "torchvision:alexnet@IMAGENET1K_V1", _LIBRARY, True),
    PaperModel("SIN", "shape bias", "torchvision:resnet50@sin.pth", _SIN),
    PaperModel("SIN_IN", "shape bias", "torchvision:resnet50@sin_in.pth", _SIN),
    PaperModel("SIN_IN_IN", "shape bias", "torchvision:resnet50@sin_in_in.pth", _SIN),
    PaperModel(
        "HAugMix",
        "data augmentation",
        "torchvision:resnet50@augmix.pth",
        "weights of Hendrycks et al. (2020), repository augmix; a file of tensors",
    ),
    PaperModel(
        "HMany",
        "data augmentation",
        "torchvision:resnet50@deepaugment_augmix.pth",
        "weights of Hendrycks et al. (2021), repository imagenet-r; a file of tensors",
    ),
    PaperModel("NoisyMix", "data augmentation", "export:noisymix.pt2", _LEADERBOARD),
    PaperModel("NoisyMix_new", "data augmentation", "export:noisymix_new.pt2", _LEADERBOARD),
    PaperModel("Tian_DeiT-S", "data augmentation", "export:tian_deit_s.pt2", _LEADERBOARD),
    PaperModel("Tian_DeiT-B", "data augmentation", "export:tian_deit_b.pt2", _LEADERBOARD),
    PaperModel("Do_50_2_Linf", "adversarial", "export:salman_wrn50_2.pt2", _LEADERBOARD),
    PaperModel("Liu_Swin-L", "adversarial", "export:liu_swin_l.pt2", _LEADERBOARD),
    PaperModel("Liu_ConvNeXt-L", "adversarial", "export:liu_convnext_l.pt2", _LEADERBOARD),
    PaperModel("Singh_ConvNeXt-L-ConvStem", "adversarial", "export:singh_convnext_l.pt2", _LEADERBOARD),
    PaperModel(
        "DINOv2",
        "self-supervised",
        "hf:facebook/dinov2-giant-imagenet1k-1-layer",
        "weights of the hub (4.5 GB): --allow-download once, or a folder",
        True,
    ),
    PaperModel(
        "CLIP",
        "language",
        "open_clip:ViT-L-14/openai",
        "weights of the library (0.9 GB): --allow-download once, or a file; 16 sentences, no training",
        True,
    ),
)
