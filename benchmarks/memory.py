"""Peak memory of generating stimuli: does it grow with their number?

    python -m benchmarks.memory [--few 1000] [--many 10000] [--size 112]

The real command runs in a process of its own on generated pictures, once for few and once for many stimuli, with
COMPUTE=serial and with COMPUTE=processes:2. Reported is the largest resident size of the command's process and of each
of its children, as the kernel keeps it (VmHWM). Budget: 30 MB between few and many, for each process and for their sum.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np

from benchmarks._command import run
from benchmarks._processes import family

ROOT = Path(__file__).parents[1]
BUDGET_MB = 30.0
ORIGINALS_A_CATEGORY = 20


def write_pictures(folder: Path) -> None:
    """Smooth noise at several scales, so that every strength changes something."""
    rng = np.random.default_rng(1)
    for category in ("cat", "dog", "oven"):
        (folder / category).mkdir(parents=True)
        for number in range(ORIGINALS_A_CATEGORY):
            scales = [
                cv2.GaussianBlur(rng.standard_normal((224, 224, 3)), (0, 0), sigma) * sigma for sigma in (1, 4, 16)
            ]
            picture = 128 + 40 * sum(scales)
            cv2.imwrite(str(folder / category / f"{number}.png"), np.clip(picture, 0, 255).astype(np.uint8))


def command(media: Path, *arguments: str, compute: str = "serial") -> subprocess.Popen[str]:
    environment = {**os.environ, "MEDIA_ROOT": str(media), "COMPUTE": compute, "DEBUG": "0"}
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    told = process.communicate()[0]
    if process.returncode:
        raise SystemExit(told)
    return told


def peak_mb(pid: int) -> float:
    """Largest resident size of a process so far; 0 when it has ended."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return 0.0


def peaks_of(process: subprocess.Popen[str]) -> dict[int, float]:
    """Peak of the process (under its own id) and of every descendant, watched until it ends."""
    peaks: dict[int, float] = {}
    while process.poll() is None:
        for pid in family(process.pid):
            peaks[pid] = max(peaks.get(pid, 0.0), peak_mb(pid))
        time.sleep(0.02)
    finish(process)
    return peaks


def measure(media: Path, compute: str, count: int, size_px: int) -> tuple[float, float, float, float]:
    """Peaks of the command's process, of its largest child, and of all together in MB, and seconds."""
    name = f"{compute.replace(':', '-')}-{count}"
    functions = ("gaussian_noise", "uniform_noise")
    started = time.perf_counter()
    process = command(
        media,
        *("generate_stimuli", "--images", "pictures", "--corruption", ",".join(functions), "--name", name),
        *("--count", str(count // len(functions)), "--size", str(size_px)),
        compute=compute,
    )
    peaks = peaks_of(process)
    children = [peak for pid, peak in peaks.items() if pid != process.pid]
    return peaks[process.pid], max(children, default=0.0), sum(peaks.values()), time.perf_counter() - started


def main(*, few: int = 1000, many: int = 10000, size: int = 112) -> bool:
    if not Path("/proc/self/status").is_file():
        print("This benchmark reads /proc, which this system does not have.")
        return True
    is_kept = True
    with tempfile.TemporaryDirectory() as folder:
        media, pictures = Path(folder) / "media", Path(folder) / "pictures"
        write_pictures(pictures)
        finish(command(media, "migrate", "-v0"))
        finish(command(media, "import_images", str(pictures), "--name", "pictures"))
        print(f"{'':14}{'stimuli':>9}{'command':>10}{'child':>10}{'together':>10}{'seconds':>9}   peak MB")
        for compute in ("serial", "processes:2"):
            of_few, of_many = (measure(media, compute, count, size) for count in (few, many))
            for count, (own, child, together, seconds) in ((few, of_few), (many, of_many)):
                print(f"{compute:14}{count:9}{own:10.1f}{child:10.1f}{together:10.1f}{seconds:9.1f}")
            growth = [after - before for before, after in zip(of_few[:3], of_many[:3], strict=True)]
            print(f"{'':14}{'growth':>9}{growth[0]:10.1f}{growth[1]:10.1f}{growth[2]:10.1f}")
            is_kept &= max(growth) < BUDGET_MB
    print(f"budget: less than {BUDGET_MB:g} MB: {'kept' if is_kept else 'missed'}")
    return is_kept


if __name__ == "__main__":
    run(main)
