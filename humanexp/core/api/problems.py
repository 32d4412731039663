"""Bodies of API calls, and every error as RFC 9457-style problem JSON: {type, title, detail, fields}.

Refusals that come before any view are pages for people, problem JSON for addresses of the API.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views import defaults
from rest_framework import exceptions, serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.response import Response

from analysis.errors import AnalysisError, InvalidInput
from humanexp.core.errors import ApplicationError, BodyTooLarge
from humanexp.core.middleware import error_page

#: Bytes; the longest answer that a page sends, with all its clicks, has a tenth of this.
LARGEST_BODY = 250_000


class BoundedJson(JSONParser):
    """JSON in UTF-8, whatever the header says of its characters; neither long, nor deep, nor with numbers like NaN."""

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        content = stream.read(LARGEST_BODY + 1)
        if len(content) > LARGEST_BODY:
            raise BodyTooLarge
        try:
            return json.loads(content.decode(), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ParseError("The body of the call is not the JSON that was expected.") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


logger = logging.getLogger(__name__)

#: What every refusal calls itself.
MEDIA_TYPE = "application/problem+json"


class ProblemOut(serializers.Serializer[Any]):
    """Every refusal."""

    type = serializers.CharField()
    title = serializers.CharField()
    detail = serializers.CharField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `fields` is a name that serializers keep for themselves.
        return {
            **super().get_fields(),
            "fields": serializers.DictField(required=False, help_text="by field, what is wrong with it"),
        }


def problem(kind: str, detail: str, status: int, fields: Mapping[str, Any] | None = None) -> Response:
    body = problem_body(kind, detail, fields)
    return Response(body, status=status, content_type=MEDIA_TYPE)


def problem_body(kind: str, detail: str, fields: Mapping[str, Any] | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"type": kind, "title": kind.replace("-", " ").capitalize(), "detail": detail}
    return {**body, "fields": fields} if fields else body


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Turn the errors of both houses and of the framework into problem JSON; leave real faults to Django."""
    match error:
        case ApplicationError():
            return problem(error.problem, gettext(error.message), error.status_code, error.fields)
        case InvalidInput():
            return problem("invalid", str(error), 422, error.fields)
        case AnalysisError():
            return problem("analysis", str(error), 409)
        case exceptions.ValidationError():
            fields = error.detail if isinstance(error.detail, dict) else {"request": error.detail}
            return problem("invalid", "Some fields have values that cannot be used.", 422, fields)
        case exceptions.APIException():
            return problem(str(error.default_code).replace("_", "-"), str(error.detail), error.status_code)
        case Http404():
            return problem("not-found", "There is nothing here.", 404)
        case PermissionDenied():
            return problem("not-allowed", "You may not do this.", 403)
    return None


API, ENTRY = "/api/", "/take/"


def is_call(request: HttpRequest) -> bool:
    """Whether a script reads the reply: the API, and whatever an entry page posts."""
    return request.path.startswith(API) or (request.method == "POST" and request.path.startswith(ENTRY))


def refused(request: HttpRequest, error: ApplicationError) -> HttpResponse:
    """The error's sentence, for whoever reads the reply."""
    if is_call(request):
        return _problem(error.problem, gettext(error.message), error.status_code)
    return error_page(request, error)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_call(request):
        return _problem("invalid", "This call cannot be read.", 400)
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_call(request):
        return _problem("not-found", "There is nothing here.", 404)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if is_call(request):
        return _problem("fault", "Something went wrong on our side. What was stored is safe: try again.", 500)
    return defaults.server_error(request)


def _problem(kind: str, detail: str, status: int) -> HttpResponse:
    return JsonResponse(problem_body(kind, detail), status=status, content_type=MEDIA_TYPE)
