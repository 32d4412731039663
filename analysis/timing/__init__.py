"""How pictures were timed: the rules that judge one trial, and the certificate that sums up many."""

from __future__ import annotations

from analysis.timing.attendance import is_set_aside
from analysis.timing.certificate import certify
from analysis.timing.rules import TIMING_RULE, TIMING_RULES, timing_ok
from analysis.timing.values import TimingCertificate

__all__ = ["TIMING_RULE", "TIMING_RULES", "TimingCertificate", "certify", "is_set_aside", "timing_ok"]
