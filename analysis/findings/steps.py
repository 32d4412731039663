"""How far an analysis is."""

from __future__ import annotations

from analysis.findings.fits import Report


class Steps:
    """Tells how far an analysis is: curves, then the parts that follow."""

    #: parts after the curves
    later = 4

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._done = 0
        self._total = self.later
        self._what = ""

    def fitted(self, done: int, total: int, what: str) -> None:
        self._done, self._total = done, total + self.later
        if self._report is not None:
            self._report(self._done, self._total, what)

    def still(self) -> None:
        """Tell that a part goes on, so that it can be stopped."""
        if self._report is not None:
            self._report(self._done, self._total, self._what)

    def then(self, what: str) -> None:
        self._done += 1
        self._what = what
        if self._report is not None:
            self._report(self._done, self._total, what)
