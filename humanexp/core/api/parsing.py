"""Bodies of API calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from humanexp.core.errors import BodyTooLarge

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
