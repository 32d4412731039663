"""Where a training stands after an epoch, in a file: interrupted, it goes on from there."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analysis.retraining.held_out import Epoch


@dataclass(slots=True)
class Standing:
    """What has been trained, beside weights and optimiser.

    Attributes
    ----------
    losses : list of float
        Mean training loss of each epoch.
    seconds : float
    curve : list of Epoch
        Epoch 0 first; empty without held-out stimuli.
    best : dict, optional
        State of the module at the epoch that would be kept; None as long as that is epoch 0.
    """

    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0
    curve: list[Epoch] = field(default_factory=list)
    best: dict[str, Any] | None = None


def save(path: Path, identity: str, module: Any, optimiser: Any, standing: Standing) -> None:
    """Write the whole file or nothing."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{time.monotonic_ns()}")
    state = {"identity": identity, "weights": module.state_dict(), "optimiser": optimiser.state_dict()}
    told = {"losses": standing.losses, "seconds": standing.seconds, "best": standing.best}
    torch.save({**state, **told, "curve": [asdict(one) for one in standing.curve]}, unfinished)
    unfinished.replace(path)


def resumed(path: Path | None, identity: str, module: Any, optimiser: Any, device: str) -> Standing:
    """Where a checkpoint of this very training stands; its weights and its optimiser are taken over."""
    import torch

    if path is None or not path.is_file():
        return Standing()
    state = torch.load(path, map_location=device, weights_only=True)
    if state["identity"] != identity:
        return Standing()
    module.load_state_dict(state["weights"])
    optimiser.load_state_dict(state["optimiser"])
    return Standing(
        list(state["losses"]), float(state["seconds"]), [Epoch(**one) for one in state["curve"]], state["best"]
    )
