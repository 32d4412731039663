"""What `doctor` looks at: one function a question, each answering with a finding. A new question is one function."""

from __future__ import annotations

from humanexp.console.doctor_checks import backups, files, installation, keys, operation  # noqa: F401  (register, in this order)
