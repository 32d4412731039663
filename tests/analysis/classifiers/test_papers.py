"""The networks of the papers: who is on the list, and that the manual says the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from analysis.classifiers.papers import PaperModel, kind_of, paper_models
from analysis.observers.kinds import KINDS

MANUAL = Path(__file__).parents[3] / "docs" / "classifiers.md"
#: VCR, Tab. 1 and S4.
VCR = [
    "NoisyMix",
    "NoisyMix_new",
    "SIN",
    "SIN_IN",
    "SIN_IN_IN",
    "HMany",
    "HAugMix",
    "Standard_R50",
    "AlexNet",
    "Tian_DeiT-S",
    "Tian_DeiT-B",
    "Do_50_2_Linf",
    "Liu_Swin-L",
    "Liu_ConvNeXt-L",
    "Singh_ConvNeXt-L-ConvStem",
    "swsl_resnet18",
    "swsl_resnext101_32x16d",
    "CLIP",
    "dinov2_giant",
]
#: OOR, App. J and Tab. 1 and 2.
OOR = [
    "ResNet50",
    "ViT",
    "DeiT",
    "Twins",
    "Visformer",
    "Swin",
    "ConvNeXt",
    "SIN",
    "ANT",
    "ANT+SIN",
    "Augmix",
    "DeepAug",
    "DeepAug+AM",
]


def of_paper(paper: str) -> list[str]:
    return [one.papers[paper] for one in paper_models() if paper in one.papers]


def row(one: PaperModel) -> str:
    """As a line of the manual's table."""
    names = ", ".join(f"{name} ({paper})" for paper, name in one.papers.items())
    source = f"[{one.source} {one.year}]({one.paper})" + (f", [code]({one.code})" if one.code else "")
    spec = f"`{one.spec}`" if one.spec else "weights not published"
    return f"| {names} | {one.architecture} | {one.kind.name} | {one.training} | {source} | {one.licence} | {spec} |"


def test_every_network_of_the_papers_is_there_once() -> None:
    assert sorted(of_paper("VCR")) == sorted(VCR)
    assert set(OOR) < set(of_paper("OOR")) and len(of_paper("OOR")) == len(set(of_paper("OOR"))) == len(OOR) + 3
    assert sorted(of_paper("ImageNet-D")) == ["CLIP RN101", "CLIP ViT-B/16", "CLIP ViT-B/32"]
    specs = [one.spec for one in paper_models() if one.spec]
    assert len(set(specs)) == len(specs)


def test_kinds_are_those_that_vcr_counts() -> None:
    """VCR, section 4: 4 adversarial, 2 SWSL, 1 CLIP and 3 ViT; the nine others are supervised."""
    counted = Counter(one.kind.id for one in paper_models() if "VCR" in one.papers)
    assert counted == {"supervised": 9, "adversarial": 4, "semi-supervised": 2, "clip": 1, "vit": 3}


@pytest.mark.parametrize("one", paper_models(), ids=lambda one: one.name)
def test_a_network_has_its_links_and_what_it_needs(one: PaperModel) -> None:
    assert one.paper.startswith("https://") and one.architecture and one.needs and 1990 < one.year < 2030
    assert one.code.startswith("https://") or not one.spec
    assert one.kind.id in KINDS and (one.spec or not one.is_published)


def test_the_manual_lists_the_same() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    wanted = [row(one) for one in paper_models()] + [f"| `{kind.id}` | {kind.name} |" for kind in KINDS.values()]
    missing = [line for line in wanted if line not in text]
    assert not missing, "docs/classifiers.md lacks these lines:\n" + "\n".join(missing)


def test_a_kind_is_known_by_adapter_string_by_scheme_or_by_name() -> None:
    assert kind_of("timm:resnet18.fb_swsl_ig1b_ft_in1k") == "semi-supervised"
    assert kind_of("lite:2") == "supervised" and kind_of("open_clip:ViT-L-14/openai") == "clip"
    assert kind_of("openai:http://localhost/v1#m") == kind_of("vlm:models/one") == "words"
    assert kind_of("", "Liu_Swin-L") == "adversarial"
    # Nothing is guessed: neither from part of a name, nor of files.
    assert kind_of("export:liu.pt2", "Liu") == kind_of("timm:resnet18.a1_in1k") == kind_of("") == ""
