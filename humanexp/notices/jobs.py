from __future__ import annotations

from dataclasses import asdict
from typing import Any

from humanexp.jobs.registry import Progress, handler
from humanexp.notices.addresses import follow_settings
from humanexp.notices.delivery import send
from humanexp.notices.watch import call_while_well, look, look_at_certificate


@handler("notices.tell", title="People are told what needs them", every_s=60, is_prompt=True)
def tell(progress: Progress) -> dict[str, Any]:
    """Find what has come up and what is resolved, and send it. Takes seconds, whatever the addresses do."""
    follow_settings()
    looked = look()
    sent = send()
    progress(1, 1, "")
    return {**asdict(looked), "sent": asdict(sent)}


@handler("notices.alive", title="The certificate and the site are watched", every_s=60, is_prompt=True)
def alive(progress: Progress) -> dict[str, Any]:
    """Look at the certificate, and call the address that notices silence."""
    look_at_certificate()
    silent_because = call_while_well()
    progress(1, 1, silent_because[:300])
    return {"silent_because": silent_because}
