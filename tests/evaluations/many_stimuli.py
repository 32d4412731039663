"""Program: a complete stimulus set of many rows over a few files, in a database of its own. Arguments: name, number."""

from __future__ import annotations

import hashlib
import sys

import cv2
import django
import numpy as np

N_FILES = 8


class Deadly:
    """A classifier whose process is killed, as by the kernel, at its n-th batch; the name of a file says which."""

    name, label_space, digest, preprocessing = "deadly", 16, "d" * 64, "none"

    def __init__(self) -> None:
        from analysis.labels.files import default_labels

        self.labels = default_labels().ids
        self.batches = 0

    def predict(self, images: np.ndarray) -> np.ndarray:
        import os
        import signal
        from pathlib import Path

        self.batches += 1
        if os.environ.get("DIES_AT") == str(self.batches):
            os.kill(os.getpid(), signal.SIGKILL)
        with Path(os.environ["MEDIA_ROOT"], "batches.log").open("a") as log:
            log.write(f"{len(images)}\n")
        return np.eye(16, dtype=np.float32)[images.reshape(len(images), -1)[:, 0] % 16]


def make_deadly(device: str) -> Deadly:
    return Deadly()


def main() -> None:
    name, number = sys.argv[1], int(sys.argv[2])
    django.setup()
    from humanexp.core import clock
    from humanexp.core.storage import media_path
    from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet

    source_set = SourceSet.objects.create(name=name)
    rng = np.random.default_rng(1)
    files = []
    for file in range(N_FILES):
        picture = np.ascontiguousarray(rng.integers(0, 256, (96, 96, 3), dtype=np.uint8))
        content = cv2.imencode(".png", picture)[1].tobytes()
        path = media_path(f"stimuli/{name}/{file}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        image = SourceImage.objects.create(
            source_set=source_set, key=f"o{file}", category="cat", file=f"stimuli/{name}/{file}.png", sha256=digest
        )
        files.append((image, f"stimuli/{name}/{file}.png", digest))
    stimulus_set = StimulusSet.objects.create(
        name=name,
        source_set=source_set,
        count_per_corruption=number,
        metric="vif-1",
        completed_at=clock.now(),
        size_px=96,
    )
    Stimulus.objects.bulk_create(
        (
            Stimulus(
                stimulus_set=stimulus_set, key=f"s{row:06}", source_image=files[row % N_FILES][0],
                corruption="gaussian_noise", corruption_version="1", parameter=0.1, seed=row,
                visual_change=row / number, sha256=files[row % N_FILES][2], file=files[row % N_FILES][1],
            )
            for row in range(number)
        ),
        batch_size=1000,
    )  # fmt: skip


if __name__ == "__main__":
    main()
