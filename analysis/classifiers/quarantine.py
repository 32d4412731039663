"""A network's file from a stranger: recognised by its content, then tried out in a process of its own.

Run as a program, it loads a network and lets it answer a grey picture, with limits on memory and time, and prints what
it found as JSON: ``python -I -c ... ADAPTER_STRING SIDE_PX``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import AnalysisError, ClassifierUnavailable

#: Address space of the process, in bytes; torch takes about 3 GB of it for itself.
MOST_MEMORY = 12 * 2**30
#: Of a processor's time, in seconds.
MOST_CPU_S = 300
#: Until it is ended in any case.
MOST_S = 600.0
_MOST_WRITTEN = 64 * 2**20
_PICKLE = b"\x80"
_LEGACY_TORCH = bytes.fromhex("80028a0a6cfc9c46f9206aa850192e")


@dataclass(frozen=True, slots=True)
class Tried:
    """What a network turned out to be."""

    digest: str
    labels: int
    preprocessing: str


def kind_of(path: Path) -> str:
    """Suffix that belongs to a file's content: .pt2, .onnx or .safetensors; its name says nothing.

    Raises
    ------
    ClassifierUnavailable
        If it is a pickle, which could run code, or none of the three.
    """
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_archive(path)
    if head.startswith((_LEGACY_TORCH, _PICKLE)):
        raise _pickled()
    length = int.from_bytes(head[:8], "little")
    if len(head) > 8 and head[8:9] == b"{" and 2 <= length <= path.stat().st_size - 8:
        return ".safetensors"
    if head.startswith(b"\x08") and len(head) > 2:  # the first field of ONNX is the version of its format
        return ".onnx"
    raise ClassifierUnavailable(
        "The file is neither a torch.export program (.pt2), nor an ONNX network, nor weights as safetensors. Write one "
        "with torch.export.save, torch.onnx.export or safetensors.torch.save_file."
    )


def _kind_of_archive(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile as error:
        raise ClassifierUnavailable("The file is a damaged archive: send it again.") from error
    parts = [name.split("/") for name in names]
    if any("models" in folders and folders[-1].endswith(".json") for folders in parts):
        return ".pt2"
    if any(folders[-1] == "data.pkl" for folders in parts):
        raise _pickled()
    raise ClassifierUnavailable("The archive holds no program of torch.export: write one with torch.export.save.")


def _pickled() -> ClassifierUnavailable:
    return ClassifierUnavailable(
        "The file is a pickle, as torch.save writes, which could run code: pickles are never taken. Write the weights "
        "with safetensors.torch.save_file, or the network with torch.export.save."
    )


def try_out(spec: str, size_px: int, *, tick: Callable[[], None] = lambda: None, most_s: float = MOST_S) -> Tried:
    """Load a network in a process of its own, which sees no setting and no secret of this one.

    Parameters
    ----------
    spec : str
        Adapter string with the whole path of the file.
    size_px : int
        Side of the picture that it answers.
    tick : callable
        Called every second; what it raises ends the process.

    Raises
    ------
    ClassifierUnavailable
        If the network cannot be loaded, does not answer as its description says, or needs too much memory or time.
    """
    root = str(Path(__file__).resolve().parents[2])
    program = f"import sys; sys.path.insert(0, {root!r}); from analysis.classifiers.quarantine import main; main()"
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.defpath, "HOME": home, "TMPDIR": home, "OMP_NUM_THREADS": "1", "LANG": "C.UTF-8"}
        with subprocess.Popen(  # noqa: S603  (this very module, in this very interpreter)
            [sys.executable, "-I", "-c", program, spec, str(size_px)],
            cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            try:
                output = _output(process, tick, most_s)
            finally:
                process.kill()
    return _verdict(output)


def _output(process: subprocess.Popen[bytes], tick: Callable[[], None], most_s: float) -> bytes:
    until = time.monotonic() + most_s
    while True:
        try:
            return process.communicate(timeout=1)[0]
        except subprocess.TimeoutExpired:
            tick()
            if time.monotonic() > until:
                raise ClassifierUnavailable(
                    f"The network was still loading after {most_s:g} s: it is too large to be checked here. Put its "
                    "file into the server's shelf yourself, or use the command line."
                ) from None


def _verdict(output: bytes) -> Tried:
    try:
        said = json.loads(output.splitlines()[-1])
        return Tried(said["digest"], said["labels"], said["preprocessing"])
    except KeyError:
        raise ClassifierUnavailable(said["refused"]) from None
    except (ValueError, IndexError):
        raise ClassifierUnavailable(
            f"The network ended the process that tried it out: it is damaged, or needs more than "
            f"{MOST_MEMORY // 2**30} GB of memory or {MOST_CPU_S} s of a processor's time."
        ) from None


def main() -> None:
    """Try out the network that the command line names, within limits, and print what it is or why it is refused."""
    import resource

    spec, size_px = sys.argv[1], int(sys.argv[2])
    for limit, value in (
        (resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_CPU, MOST_CPU_S), (resource.RLIMIT_FSIZE, _MOST_WRITTEN),
        (resource.RLIMIT_CORE, 0),
    ):  # fmt: skip
        resource.setrlimit(limit, (value, value))
    from analysis.classifiers.loading import load_classifier
    from analysis.classifiers.port import Classifier, rehearse

    try:
        found = load_classifier(spec)
        rehearse(found, size_px)
    except (AnalysisError, MemoryError) as error:
        said: dict[str, object] = {"refused": str(error) or "It needs too much memory."}
    else:
        is_network = isinstance(found, Classifier)
        said = {"digest": found.digest, "labels": len(found.labels), "preprocessing": found.preprocessing}
        said = said if is_network else {"refused": "It is no network."}
    sys.stdout.write(f"\n{json.dumps(said)}\n")
