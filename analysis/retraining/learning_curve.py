"""The learning curve of a retraining as a figure: loss by epoch, on what is trained on and on what is held out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.errors import TooFewResponses
from analysis.figures.value import Axis, Figure, Observer, Points, Trace

TRAINED_ON, HELD_OUT = Observer("training", "classifier", 0), Observer("held out", "classifier", 1)
#: Ticks of the axis of epochs, at most.
_TICKS = 10


def learning_curve(report: Mapping[str, Any], *, name: str) -> Figure:
    """Loss over epochs.

    Parameters
    ----------
    report : mapping
        Stored report of a retraining: ``losses``, one an epoch, and ``held_out`` with ``curve`` and ``kept_epoch``.
    name : str
        Of the network, for the title.

    Returns
    -------
    Figure
        Training loss of an epoch is a mean over its steps and so is drawn at its middle; held-out loss is measured
        after it, epoch 0 being the network as it was given.

    Raises
    ------
    TooFewResponses
        If no epoch was trained.
    """
    losses, held_out = report.get("losses", []), report.get("held_out", {})
    curve = held_out.get("curve", [])
    if not losses:
        raise TooFewResponses(f"No epoch of {name} was trained: there is no curve to draw.")
    traces: list[Trace] = [
        Points(
            TRAINED_ON,
            tuple(number + 0.5 for number in range(len(losses))),
            tuple(losses),
            (1,) * len(losses),
            joined=True,
        )
    ]
    notes = ["Training loss: mean over the steps of an epoch, at its middle."]
    if curve:
        traces.append(
            Points(
                HELD_OUT,
                tuple(float(one["epoch"]) for one in curve),
                tuple(one["loss"] for one in curve),
                (1,) * len(curve),
                joined=True,
            )
        )
        notes.append(f"Held-out loss: after each epoch; 0 is before training. Kept: epoch {held_out['kept_epoch']}.")
    highest = max([*losses, *(one["loss"] for one in curve)])
    every = -(-len(losses) // _TICKS)
    return Figure(
        title=f"Learning curve of {name}",
        description="; ".join(
            [f"training loss from {losses[0]:.3f} to {losses[-1]:.3f}"]
            + ([f"held-out loss from {curve[0]['loss']:.3f} to {curve[-1]['loss']:.3f}"] if curve else [])
        )
        + f" over {len(losses)} epochs.",
        x=Axis("epochs", (-0.2, len(losses) + 0.2), tuple(float(n) for n in range(0, len(losses) + 1, every))),
        y=Axis("loss, nats", (0.0, 1.05 * highest or 1.0)),
        traces=tuple(traces),
        notes=tuple(notes),
    )
