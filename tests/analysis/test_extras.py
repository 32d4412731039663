"""Who lacks a package reads which extra brings it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.onnx_network import is_installed
from analysis.errors import AnalysisError, ClassifierUnavailable, GeneratorUnavailable, install
from humanexp.console.demo_steps import CLASSIFIERS, Demo, Options

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "analysis.counterfactuals.autoencoder", raising=False)


@pytest.mark.parametrize("spec", ["export:fixtures/classifiers/clean.pt2", "torchvision:resnet18", "timm:resnet18"])
def test_a_network_without_torch_is_refused_with_its_extra(no_torch: None, spec: str) -> None:
    with pytest.raises(ClassifierUnavailable, match=r"^PyTorch is not installed: pip install 'humanexp\[torch\]'"):
        load_classifier(spec)


def test_a_generator_without_torch_is_refused_with_its_extra(no_torch: None) -> None:
    from analysis.counterfactuals.specifications import load_generator

    with pytest.raises(GeneratorUnavailable, match=r"pip install 'humanexp\[torch\]'") as refused:
        load_generator("vqgan:fixtures/counterfactuals/autoencoder.pt")
    assert isinstance(refused.value, AnalysisError)


def test_the_demo_without_torch_has_no_networks(no_torch: None) -> None:
    demo = Demo(options=Options(participants=4, seed=1), watch=lambda: None)
    assert demo.networks == {}


def test_the_demo_runs_the_networks_that_come_with_it() -> None:
    demo = Demo(options=Options(participants=4, seed=1), watch=lambda: None)
    assert demo.networks == {name: f"export:{file}" for name, file in CLASSIFIERS.items()}


def test_the_demo_of_photographs_asks_a_network_that_knows_them_if_one_is_installed() -> None:
    demo = Demo(options=Options(participants=4, seed=1, images="photos"), watch=lambda: None)
    assert demo.networks == ({"efficientnet-lite0": "lite:0"} if is_installed("lite:0") else {})


@pytest.mark.parametrize("extra", ["server", "torch", "classifiers", "browser", "cluster", "postgres", "s3"])
def test_the_file_of_the_command_exists(extra: str) -> None:
    assert (ROOT / install(extra).rpartition(" ")[2]).is_file()
