"""What the Sessions page tells of all answers: how pictures were timed, and on what. Counted by jobs and kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from humanexp.experiments.counting import counting
from humanexp.experiments.live.devices import DeviceCounts, Devices, device_counts, devices_of
from humanexp.experiments.live.timing import TimingShares, timing_shares
from humanexp.experiments.models import Session, Study
from humanexp.experiments.tallies import Counted, Kind, Report, Tally, tally_of


@dataclass(frozen=True, kw_only=True)
class Figures:
    timing: TimingShares
    devices: Devices


def figures_of(study: Study) -> Figures:
    """Counted now."""
    return _figures(_content(study))


def kept_figures(study: Study) -> tuple[Tally, Figures | None]:
    """As they were last counted."""
    tally = tally_of(study, SESSIONS.name)
    return tally, _figures(tally.content) if tally.content is not None else None


def _content(study: Study) -> dict[str, Any]:
    return {"timing": asdict(timing_shares(study)), "devices": asdict(device_counts(study))}


def _figures(content: dict[str, Any]) -> Figures:
    return Figures(
        timing=TimingShares.from_dict(content["timing"]),
        devices=devices_of(DeviceCounts(**content["devices"])),
    )


def _counted(study: Study, report: Report) -> Counted:
    content = _content(study)
    report(1, 1)
    return Counted(content=content)


def _finished(study: Study) -> str:
    """A session tells of its browser when it ends."""
    return str(Session.objects.filter(counting(), study=study, completed_at__isnull=False).count())


SESSIONS = Kind(name="sessions", count=_counted, beside=_finished, url_name="experiments:live")
