"""A package of a user, as pip would install it: four plug-ins, one that fails, and names that are taken."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
import numpy as np

from analysis.corruptions.registry import Corruption
from analysis.counterfactuals.pixels import PixelGenerator
from analysis.observers.port import Answer


class Brightest:
    """Knows two labels: whether a picture is light or dark."""

    name, label_space, preprocessing = "acme", 2, "mean of all pixels"

    def __init__(self, reference, options):
        self.labels = tuple(reference.split("+"))
        self.digest = "a" * 64

    def predict(self, images):
        light = images.reshape(len(images), -1).mean(axis=1) / 255
        if not len(self.labels[0]):
            raise RuntimeError("the model server is away")
        return np.stack([light, 1 - light], axis=1).astype(np.float32)


class Parrot:
    """Answers with the label that is offered first."""

    preprocessing, is_repeatable, versions = "none", True, {"acme": "1.2"}

    def __init__(self, reference, protocol):
        self.name, self.digest = f"parrot {reference}", "b" * 64
        self.asked = 0

    def answer(self, picture, question):
        if self.name.endswith("broken"):
            raise OSError("no answer")
        return Answer("label", question.labels[0] if not self.name.endswith("strange") else "dragon", "", 3, 1)


def classifier(reference, options):
    return Brightest(reference, options)


def bare(reference, options):
    return object()


observer = Parrot
fog = Corruption(
    name="acme_fog", label="Fog", family="acme", version="1", low=0.01, high=1.0, scale="log",
    unit="share of white",
    function=lambda intensities, parameter, seed: (1 - parameter) * intensities + parameter * 255,
)


def steps(main, options, device):
    return PixelGenerator(epsilon=0.1)
'''
ENTRIES = """[humanexp.classifiers]
acme = acme_net:classifier
acme-bare = acme_net:bare
acme-broken = acme_net_broken:classifier
timm = acme_net:classifier
[humanexp.observers]
parrot = acme_net:observer
openai = acme_net:observer
[humanexp.corruptions]
acme_fog = acme_net:fog
acme_rain = acme_net:fog
gaussian_blur = acme_net:fog
[humanexp.generators]
acme-steps = acme_net:steps
"""


def installed(folder: Path, *, name: str = "acme-net", version: str = "1.2", entries: str = ENTRIES) -> Path:
    """Write the package and its metadata into a folder that is on the path, or will be."""
    (folder / "acme_net.py").write_text(MODULE)
    (folder / "acme_net_broken.py").write_text("import a_module_that_is_missing\n")
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (about / "entry_points.txt").write_text(entries)
    return folder
