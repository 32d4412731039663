from __future__ import annotations

from humanexp.core.audit import record
from humanexp.core.models import User
from humanexp.jobs import services as jobs


def request_sending(*, environment: str) -> None:
    """Have the job runner send soon; committed with the caller's rows."""
    jobs.submit("recruitment.send", subject=f"recruiter:{environment}", environment=environment)


def try_keys_again(*, environment: str, by: User) -> None:
    """Ask the recruiter whether it accepts the keys now, not within the minute; that ends the pause."""
    record(action="try-keys-again", subject=f"recruiter:{environment}", by=by)
    jobs.submit("recruitment.sync", subject=f"recruiter:{environment}", by=by)
