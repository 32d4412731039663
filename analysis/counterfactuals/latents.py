"""Generator ``vqgan:CHECKPOINT``: gradient ascent in the latent space of a VQ autoencoder's encoder, whole or sparse.

On a processor pictures are painted one by one, in as many threads as torch may use, each with one thread of its own: a
convolution fills one core with one picture, and a batch gains it nothing. On other devices a batch is painted at once.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.counterfactuals.pixels import as_pictures, as_tensor
from analysis.counterfactuals.port import Painting, State, Target
from analysis.errors import GeneratorUnavailable, SearchRefused, install
from analysis.examples import located

T = TypeVar("T")
R = TypeVar("R")

#: Records of a batch that are kept for the step that follows, bytes; further pictures are painted again.
MOST_BYTES = 2 * 2**30


@dataclass(slots=True, eq=False)
class Tape:
    """Pictures, the latents that they were painted from, and autograd's record between the two.

    Attributes
    ----------
    latents : tensor, shape (n, c, h, w)
        A leaf.
    painted : tensor, shape (n, 3, h, w)
    n_bytes : int
        What the record holds in memory.
    """

    latents: Any
    painted: Any
    n_bytes: int

    @classmethod
    def record(cls, latents: Any, paint: Callable[[Any], Any]) -> Tape:
        """Paint latents and remember how."""
        import torch

        n_bytes = 0

        def count(values: Any) -> Any:
            nonlocal n_bytes
            n_bytes += values.nbytes
            # A step that saves its own result would hold itself, and the record would never be let go of.
            return values.detach()

        leaf = latents.detach().requires_grad_()
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(count, lambda values: values):
            painted = paint(leaf)
        return cls(leaf, painted, n_bytes)

    def pull_back(self, gradient: Any) -> Any:
        """Gradient with respect to the latents, from the one with respect to the pictures; the record is used up."""
        import torch

        (found,) = torch.autograd.grad(self.painted, self.latents, gradient)
        return found


class Allowance:
    """Bytes that tapes of one batch may still take; threads share it."""

    def __init__(self, n_bytes: int = MOST_BYTES) -> None:
        self._left, self._lock = n_bytes, threading.Lock()

    @property
    def is_left(self) -> bool:
        """Whether another tape may be kept."""
        return self._left > 0

    def take(self, n_bytes: int) -> None:
        """Count a tape that is kept."""
        with self._lock:
            self._left -= n_bytes


@contextmanager
def in_threads(device: str, count: int) -> Iterator[Callable[[Callable[[T], R], Iterable[T]], Iterator[R]]]:
    """A ``map`` over at most ``count`` calls: in threads with one torch thread each on a processor, else in turn."""
    import torch

    threads = torch.get_num_threads()
    if device != "cpu" or min(threads, count) < 2:
        yield map
        return
    try:
        with ThreadPoolExecutor(min(threads, count), initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool.map
    finally:
        # The number is one of each thread, but new threads begin with the one that was set last.
        torch.set_num_threads(threads)


def share_of(n: int, device: str) -> int:
    """Pictures that are painted at once, of ``n``."""
    return 1 if device == "cpu" else max(1, n)


#: Size at which the published autoencoders were trained.
PUBLISHED_PX = 256
#: Pictures without a tape that are painted again together; a number of its own, so that threads change no result.
_TOGETHER = 4


@dataclass(frozen=True, slots=True, eq=False)
class LatentGenerator:
    """Moves latents up the loss, through codebook and decoder.

    Parameters
    ----------
    network : VqAutoencoder
        On ``device``.
    file_digest : str
        SHA-256 of its checkpoint.
    label : str
        Name of its file.
    input_px : int
        Size of the pictures that the encoder gets; larger or smaller ones are resized to it, and back.
    stride : float
        Root mean square of a step over the perturbed dimensions.
    dimensions : ndarray of bool, shape (c, h, w), optional
        Latent dimensions that are perturbed; all of them by default. See `analysis.counterfactuals.latents`.
    device : str

    Notes
    -----
    OOR paper, section 3: step size 0.1. The paper leaves open how the gradient is scaled; here its root mean square
    over the perturbed dimensions of a picture is 1.
    """

    network: Any
    file_digest: str
    label: str
    input_px: int = PUBLISHED_PX
    stride: float = 0.1
    dimensions: NDArray[np.bool_] | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.stride <= 0:
            raise SearchRefused(f"A step in the latent space is above 0, not {self.stride}.")
        if self.input_px % self.network.layout.factor:
            raise GeneratorUnavailable(
                f"{self.label} halves a picture {len(self.network.layout.multipliers) - 1} times: its size must be a "
                f"multiple of {self.network.layout.factor} px, not {self.input_px}."
            )
        if self.dimensions is not None and self.dimensions.shape != self.latent_shape:
            raise SearchRefused(
                f"The selected dimensions have the shape {self.dimensions.shape}, the latents of {self.label} "
                f"{self.latent_shape}."
            )
        if self.dimensions is not None and not self.dimensions.any():
            raise SearchRefused("No dimension is selected, so that nothing could be perturbed.")

    @property
    def name(self) -> str:
        """As in a specification, and whether it is sparse."""
        return f"vqgan:{self.label}" + ("" if self.dimensions is None else " (sparse)")

    @property
    def digest(self) -> str:
        """SHA-256 of checkpoint, size, step and dimensions."""
        chosen = b"" if self.dimensions is None else np.packbits(self.dimensions).tobytes()
        return hashlib.sha256(f"{self.file_digest}/{self.input_px}/{self.stride!r}/".encode() + chosen).hexdigest()

    @property
    def needs_gradients(self) -> bool:
        """It follows the gradient."""
        return True

    @property
    def latent_shape(self) -> tuple[int, int, int]:
        """Shape (c, h, w) of a picture's latents."""
        side = self.input_px // self.network.layout.factor
        return int(self.network.layout.embedding), side, side

    def sparse(self, dimensions: NDArray[np.bool_]) -> LatentGenerator:
        """The same generator, restricted to some dimensions of shape (c, h, w)."""
        return replace(self, dimensions=dimensions)

    def start(self, pictures: NDArray[np.uint8], seeds: NDArray[np.int64]) -> State:
        """Latents of the originals."""
        import torch

        sizes = np.tile(np.array(pictures.shape[1:3], np.int64), (len(pictures), 1))

        def encode(part: Any) -> Any:
            with torch.inference_mode():
                return self.network.encode(2 * self._resized(part, (self.input_px,) * 2) - 1)

        tensor = as_tensor(pictures.astype(np.float32) / 255, self.device)
        with in_threads(self.device, len(pictures)) as each:
            latents = torch.cat(list(each(encode, tensor.split(share_of(len(pictures), self.device)))))
        return {"latents": latents.cpu().numpy(), "sizes": sizes}

    def quantise(self, latents: NDArray[np.float32]) -> NDArray[np.float32]:
        """The nearest codes of latents, shape (n, c, h, w): what the decoder gets."""
        import torch

        parts = torch.from_numpy(latents).split(_TOGETHER)
        with torch.inference_mode():
            return np.concatenate([self.network.quantize(part.to(self.device)).cpu().numpy() for part in parts])

    def paint(self, state: State) -> Painting:
        """Decoded pictures at the size of the originals, rounded; tapes are kept as far as they are allowed to."""
        import torch

        latents = torch.from_numpy(state["latents"]).to(self.device)
        allowance = Allowance()

        def paint(part: Any) -> Tape:
            if allowance.is_left:
                tape = Tape.record(part, lambda values: self._paint(values, state))
                allowance.take(tape.n_bytes)
                return tape
            with torch.inference_mode():
                return Tape(None, self._paint(part, state), 0)

        with in_threads(self.device, len(latents)) as each:
            tapes = list(each(paint, latents.split(share_of(len(latents), self.device))))
        pictures = np.concatenate([np.rint(255 * as_pictures(tape.painted)).astype(np.uint8) for tape in tapes])
        memory = np.empty(len(latents), object)
        memory[:] = [(tape, row) for tape in tapes for row in range(len(tape.painted))]
        return Painting(pictures, memory)

    def step(self, state: State, numbers: NDArray[np.intp], target: Target, painting: Painting | None = None) -> State:
        """One step along the normalised gradient."""
        import torch

        latents = torch.from_numpy(state["latents"]).to(self.device)
        gradient = torch.empty_like(latents)
        for places, tapes in self._tapes(latents, state, None if painting is None else painting.memory):
            painted = torch.cat([tape.painted[rows] for tape, rows in tapes])
            slopes = target.gradient(painted.to(target.device), numbers[places]).to(self.device)
            gradient[places] = self._pulled_back(tapes, slopes)
        share = 1.0
        if self.dimensions is not None:
            gradient = gradient * torch.from_numpy(self.dimensions).to(self.device)
            share = float(self.dimensions.mean())
        size = (gradient.flatten(1).pow(2).mean(dim=1) / share).sqrt().clamp_min(1e-20).view(-1, 1, 1, 1)
        return {**state, "latents": (latents + self.stride * gradient / size).cpu().numpy()}

    def _tapes(
        self, latents: Any, state: State, memory: NDArray[np.object_] | None
    ) -> Iterator[tuple[list[int], list[tuple[Tape, list[int]]]]]:
        """Places of pictures in the batch, and the tapes they are on with their rows; what is on none is painted."""
        kept: dict[int, tuple[Tape, list[int], list[int]]] = {}
        for place, (tape, row) in enumerate(() if memory is None else memory):
            _tape, rows, places = kept.setdefault(id(tape), (tape, [], []))
            rows.append(row)
            places.append(place)
        # A tape of pictures that were refused for the most part costs more than painting the others again.
        used = [one for one in kept.values() if one[0].latents is not None and 2 * len(one[1]) >= len(one[0].painted)]
        if used:
            yield [place for one in used for place in one[2]], [(tape, rows) for tape, rows, _places in used]
        done = {place for one in used for place in one[2]}
        rest = [place for place in range(len(latents)) if place not in done]
        together = _TOGETHER if self.device == "cpu" else max(1, len(rest))
        for start in range(0, len(rest), together):
            places = rest[start : start + together]
            parts = latents[places].split(share_of(len(places), self.device))
            with in_threads(self.device, len(parts)) as each:
                made = list(each(lambda part: Tape.record(part, lambda values: self._paint(values, state)), parts))
            yield places, [(tape, list(range(len(tape.painted)))) for tape in made]

    def _pulled_back(self, tapes: list[tuple[Tape, list[int]]], slopes: Any) -> Any:
        """Gradients with respect to the latents, in the order of the tapes' rows."""
        import torch

        def pull(one: tuple[tuple[Tape, list[int]], Any]) -> Any:
            (tape, rows), slope = one
            whole = torch.zeros_like(tape.painted)
            whole[rows] = slope
            return tape.pull_back(whole)[rows]

        parts = slopes.split([len(rows) for _tape, rows in tapes])
        with in_threads(self.device, len(tapes)) as each:
            return torch.cat(list(each(pull, zip(tapes, parts, strict=True))))

    def _paint(self, latents: Any, state: State) -> Any:
        height, width = (int(length) for length in state["sizes"][0])
        return self._resized((self.network.decode(latents) + 1) / 2, (height, width)).clamp(0, 1)

    @staticmethod
    def _resized(pictures: Any, size: tuple[int, int]) -> Any:
        import torch

        if tuple(pictures.shape[-2:]) == size:
            return pictures
        return torch.nn.functional.interpolate(pictures, size, mode="bicubic", align_corners=False, antialias=True)


def load_latent_generator(
    path: Path, *, input_px: int | None = None, stride: float = 0.1, device: str = "cpu"
) -> LatentGenerator:
    """A generator from a local checkpoint.

    Parameters
    ----------
    path : Path
        In the layout of taming-transformers; a JSON file of the same name beside it may tell ``input_px``.
    input_px : int, optional
        Size of the encoder's pictures; by default what the JSON file says, else 256.

    Raises
    ------
    GeneratorUnavailable
        If there is no such file, or it has another layout.
    """
    try:
        from analysis.counterfactuals.autoencoder import load_autoencoder
    except ImportError as error:
        raise GeneratorUnavailable(f"PyTorch is not installed: {install('torch')}.") from error

    path = located(path)
    network, digest = load_autoencoder(path, device=device)
    description = path.with_suffix(".json")
    if input_px is None:
        try:
            told = json.loads(description.read_text(encoding="utf-8")) if description.is_file() else {}
            input_px = int(told.get("input_px", PUBLISHED_PX))
        except (ValueError, AttributeError) as error:
            raise GeneratorUnavailable(f"{description}: input_px cannot be read ({error}). Correct it.") from error
    return LatentGenerator(network, digest, path.name, input_px=input_px, stride=stride, device=device)
