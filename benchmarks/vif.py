"""Wavelet VIF beside the public reference implementation: time a picture, and the largest difference.

    python -m benchmarks.vif [--public DIR] [--pairs 100] [--size 224]

Baseline: github.com/abhinaukumar/vif, cloned somewhere outside this repository; DIR, or the environment's PUBLIC_VIF,
is its folder. It needs pyrtools. Pairs: photographs of REFERENCE_DATA (drawings where there are none) under every
corruption function at random strengths, in the size that is shown, grey as the metric sees them. One thread each, the
two programs in turn on the same pair; the median counts. Wanted: 15 times as fast with the reference kept, and no
difference above 1e-9.
"""

from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import importlib.util  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import TypeVar  # noqa: E402

import cv2  # noqa: E402
import numpy as np  # noqa: E402

from analysis.corruptions import CORRUPTIONS, corrupt  # noqa: E402
from analysis.generation import prepare_original  # noqa: E402
from analysis.visual_change import PixelVifReference, VifReference, grey  # noqa: E402
from benchmarks._pictures import originals as find_originals  # noqa: E402

SPEED_WANTED, ERROR_WANTED = 15.0, 1e-9
#: Our side is repeated so often a pair: it is over too soon for one reading.
REPEATS = 5

T = TypeVar("T")
PublicVif = Callable[[np.ndarray, np.ndarray], float]


def load_public(folder: str) -> PublicVif | None:
    """Function ``vif`` of the public program, if it is there."""
    path = Path(folder) / "vif_utils.py"
    specification = importlib.util.spec_from_file_location("public_vif", path) if folder and path.is_file() else None
    if specification is None or specification.loader is None:
        return None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    public: PublicVif = module.vif
    return public


def timed(function: Callable[..., T], *arguments: object) -> tuple[T, float]:
    """Result, and seconds it took."""
    started = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", default=os.environ.get("PUBLIC_VIF", ""), help="folder of the public program")
    parser.add_argument("--pairs", type=int, default=100, help="pairs for each corruption function")
    parser.add_argument("--size", type=int, default=224, help="side of the pictures, px")
    chosen = parser.parse_args()
    public = load_public(chosen.public)
    if public is None:
        print(
            "The public implementation is not at hand, so there is nothing to compare with: git clone "
            "https://github.com/abhinaukumar/vif somewhere outside this repository, and name the folder with --public "
            "or PUBLIC_VIF."
        )
        return 0
    cv2.setNumThreads(1)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        originals, told = find_originals(Path(folder))
        pictures = [prepare_original(Path(original.path), chosen.size) for original in originals]
    built = [timed(VifReference, picture) for picture in pictures]
    references = [reference for reference, _ in built]
    print(f"{told}; {chosen.pairs} pairs a function, {chosen.size} px, one thread")
    print("                        public ms   ours ms   ratio   largest difference   smallest and largest VIF")
    theirs, ours, differences = [], [], []
    for name, corruption in CORRUPTIONS.items():
        rows = []
        for pair in range(chosen.pairs):
            index = pair % len(pictures)
            corrupted = corrupt(pictures[index], name, corruption.parameter_at(float(rng.random())), pair)
            luminances = [grey(picture).astype(np.float64) for picture in (pictures[index], corrupted)]
            expected, public_s = timed(public, *luminances)
            readings = [timed(references[index].vif, corrupted) for _ in range(REPEATS)]
            value, own_s = readings[0][0], float(np.median([seconds for _, seconds in readings]))
            rows.append((public_s, own_s, abs(value - expected), value))
        public_s, own_s, difference, values = np.array(rows).T
        theirs.append(public_s)
        ours.append(own_s)
        differences.append(difference.max())
        print(
            f"{name:22s} {1e3 * np.median(public_s):10.1f} {1e3 * np.median(own_s):9.2f} "
            f"{np.median(public_s) / np.median(own_s):7.1f} {difference.max():20.1e}   {values.min():.5f} "
            f"{values.max():.5f}"
        )
    public_ms, own_ms = (1e3 * float(np.median(np.concatenate(seconds))) for seconds in (theirs, ours))
    pixel = PixelVifReference(pictures[0])
    pixel_ms = 1e3 * min(timed(pixel.vif, pictures[1])[1] for _ in range(20))
    print(
        f"all: {public_ms:.1f} ms against {own_ms:.2f} ms, {public_ms / own_ms:.1f} times as fast; largest difference "
        f"{max(differences):.1e}"
    )
    print(
        f"building a reference: {1e3 * float(np.median([seconds for _, seconds in built])):.1f} ms; "
        f"pixel-domain variant: {pixel_ms:.1f} ms"
    )
    return 0 if public_ms >= SPEED_WANTED * own_ms and max(differences) <= ERROR_WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
