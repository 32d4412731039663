"""How a network computes on an accelerator: in which precision, and how many pictures at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, get_args

from analysis.errors import ClassifierUnavailable

#: Numbers that a network computes with on CUDA: exact float32, float32 with products rounded as TF32, or float16 or
#: bfloat16 mixed in by torch's autocast.
Precision = Literal["float32", "tf32", "float16", "bfloat16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
#: Pictures that go through a network at once on a processor, and at first on an accelerator.
BATCH = 64
#: Pictures that ever go through at once.
MOST_BATCH = 512
#: A batch of twice the size must bring so many times the pictures per second.
_GAIN = 1.05
_ROUNDS = 3


def is_accelerator(device: str) -> bool:
    """Whether networks on a device compute in other sums, or another precision, than on a processor."""
    return device.partition(":")[0] != "cpu"


def check_precision(precision: str, device: str) -> None:
    """Refuse a precision that does not exist, or that a processor does not offer.

    Raises
    ------
    ClassifierUnavailable
        Naming those that there are.
    """
    if precision not in PRECISIONS:
        raise ClassifierUnavailable(f"There is no precision {precision!r}; there are: {', '.join(PRECISIONS)}.")
    if precision != "float32" and not is_accelerator(device):
        raise ClassifierUnavailable(f"A processor computes in float32: leave out {precision}, or ask for device cuda.")


@contextmanager
def arithmetic(device: str, precision: Precision) -> Iterator[None]:
    """For the time of the block, torch computes on the device in this precision.

    Exact float32 has to be asked for: torch rounds the products of convolutions as TF32 unless it is told.
    """
    if not device.startswith("cuda"):
        yield
        return
    import torch

    settings = (torch.backends.cudnn.conv, torch.backends.cuda.matmul)
    before = [setting.fp32_precision for setting in settings]
    with ExitStack() as stack:
        for setting, value in zip(settings, before, strict=True):
            stack.callback(setattr, setting, "fp32_precision", value)
            setting.fp32_precision = "tf32" if precision == "tf32" else "ieee"
        if precision in ("float16", "bfloat16"):
            stack.enter_context(torch.autocast("cuda", getattr(torch, precision)))
        yield


def fastest_batch(predict: Callable[[Any], Any], shape: tuple[int, ...], device: str) -> int:
    """Number of pictures of a shape that a network on an accelerator classifies at once.

    Doubled while that is faster and fits into the device's memory.
    """
    import torch

    def rate(n_pictures: int) -> float:
        pictures = torch.zeros((n_pictures, *shape), dtype=torch.uint8, device=device)
        predict(pictures).sum().item()
        started = time.perf_counter()
        for _ in range(_ROUNDS):
            answers = predict(pictures)
        answers.sum().item()  # waits until the device is done
        return _ROUNDS * n_pictures / (time.perf_counter() - started)

    return doubled_while_faster(rate, torch.OutOfMemoryError)


def doubled_while_faster(rate: Callable[[int], float], out_of_memory: type[BaseException]) -> int:
    """The last size, doubled from `BATCH`, that brought clearly more pictures per second."""
    best, best_rate, size = 1, 0.0, BATCH
    while size <= MOST_BATCH:
        try:
            found = rate(size)
        except out_of_memory:
            break
        if best_rate and found < _GAIN * best_rate:
            break
        best, best_rate, size = size, found, 2 * size
    return best
