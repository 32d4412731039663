"""Views whose callers show a token or a code: what they refuse is recorded, and refused shortly when it is too much."""

from __future__ import annotations

import math
from typing import Any

from rest_framework.response import Response
from rest_framework.views import APIView

from humanexp.core.caller_hash import caller_of
from humanexp.core.errors import TokenRefused, TooManyCalls
from humanexp.participation.credentials import SessionClaim
from humanexp.participation.services import auditing


class AuditedView(APIView):
    """The reply to a refused token says the same whatever is wrong with it; the audit knows."""

    def handle_exception(self, error: Exception) -> Response:
        wait_s = 0.0
        if isinstance(error, TokenRefused | TooManyCalls):
            wait_s = auditing.refused(error=error, **self.caller())
            if isinstance(error, TooManyCalls):
                wait_s = max(wait_s, error.retry_after_s)
            elif wait_s:
                error = TooManyCalls()
        response: Response = super().handle_exception(error)
        if wait_s:
            response["Retry-After"] = str(max(1, math.ceil(wait_s)))
        return response

    def caller(self) -> dict[str, Any]:
        """For the audit: which call, from where, and the session where the token's signature was good."""
        auth = getattr(self.request, "_auth", None)  # not `auth`: that would read the token again
        match = self.request.resolver_match
        return {
            "call": (match.url_name or "") if match else "",
            "caller": caller_of(self.request),
            "session_id": auth.session_id if isinstance(auth, SessionClaim) else None,
        }
