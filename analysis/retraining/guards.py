"""What a reader of a retraining should be warned of, in words."""

from __future__ import annotations

from analysis.retraining.training import Retrained

#: Twenty a category. On 144 drawings, training to the last epoch lost (docs/fidelity.md); more were not measured.
FEW_ORIGINALS = 320
#: Below so many originals held out, they hardly show whether training helps.
FEW_HELD_OUT = 30


def warnings_before(*, trained_on: int, held_out: int, share: float) -> list[str]:
    """What can be said before anything is trained.

    Parameters
    ----------
    trained_on, held_out : int
        Originals.
    share : float
        Share of the training originals that was to be held out.
    """
    said = []
    if trained_on < FEW_ORIGINALS:
        said.append(
            f"The network is trained on {trained_on} originals, fewer than {FEW_ORIGINALS}. So few are soon learned by "
            "heart, and the network can get worse on other pictures. Train on more originals."
        )
    if not share:
        said.append(
            "No originals are held out from training, so nothing stops a training that makes the network worse. Set "
            "the share held out above 0."
        )
    elif held_out < FEW_HELD_OUT:
        said.append(
            f"{held_out} originals are held out from training, fewer than {FEW_HELD_OUT}. So few hardly show whether "
            "training helps. Use a set with more originals."
        )
    return said


def warnings_after(made: Retrained) -> list[str]:
    """What the validation curve says."""
    if not made.curve or made.kept:
        return []
    return [
        "On the held-out originals, no epoch raised the share right by more than its standard error. The weights are "
        "those from before training."
    ]
