"""Turns a reply of the service into an answer or an error."""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import httpx2

from . import errors
from .request import Request
from .types import Response


class Reply(NamedTuple):
    status: int
    headers: httpx2.Headers
    text: str


Outcome = Reply | Exception

error_classes: dict[int, type[errors.MemoryServiceError]] = {
    401: errors.AuthenticationError,
    403: errors.PermissionDeniedError,
    404: errors.NotFoundError,
    408: errors.ServiceTimeoutError,
    412: errors.PreconditionFailedError,
    413: errors.PayloadTooLargeError,
    429: errors.RateLimitError,
}


def read_outcome(request: Request, outcome: Outcome, attempts: int) -> Response:
    facts: dict[str, Any] = {"attempts": attempts, "idempotency_key": request.idempotency_key}
    if not isinstance(outcome, Reply):
        raise no_response(request, outcome, facts) from root_of(outcome)
    status, headers, text = outcome
    # A proxy's error page may contain the request's headers.
    body = parse_object(text if status < 400 else redact(text, request))
    facts["request_id"] = headers.get("X-Request-Id")
    if not is_success(request, status, body):
        raise unexpected_response(status, headers, body or {}, facts)
    replay = headers.get("Idempotency-Status")
    return Response(body, status, headers, attempts, facts["request_id"], replay)


def no_response(
    request: Request, error: Exception, facts: dict[str, Any]
) -> errors.MemoryServiceError:
    url = urlsplit(request.url)
    origin = f"{url.scheme}://{url.netloc}"
    if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
        message = f"{origin} did not respond in time"
        return errors.ServiceTimeoutError(message, code="timeout", **facts)
    root = root_of(error)
    message = f"no response from {origin}: {str(root) or type(root).__name__}"
    return errors.ServiceConnectionError(message, code="connection", **facts)


def root_of(error: BaseException) -> BaseException:
    """Unwraps an error of the HTTP library, because it refers to the request with its API key."""
    of_caller = sys.exc_info()[1]  # The call may be part of an except block.
    while (cause := error.__cause__ or error.__context__) and cause is not of_caller:
        error = cause
    return error


def redact(text: str, request: Request) -> str:
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return text.replace(key, "[redacted]") if key else text


def parse_object(text: str) -> dict[str, Any] | None:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def is_success(request: Request, status: int, body: dict[str, Any] | None) -> bool:
    # A 503 with a health body is a valid response to a health check.
    if request.path == "/health" and status == 503:
        return (body or {}).get("status") == "failing"
    if not request.required_field:
        return status == 204
    return status < 300 and request.required_field in (body or {})


def unexpected_response(
    status: int, headers: httpx2.Headers, body: dict[str, Any], facts: dict[str, Any]
) -> errors.MemoryServiceError:
    """Only the status determines the class: a proxy's response may be HTML, or empty."""
    found = headers.get("Location") or headers.get("Content-Type") or "no content type"
    error, message = (body.get("error"), body.get("message")) if status >= 400 else (None, None)
    is_client_error = 400 <= status < 500
    default = errors.InvalidRequestError if is_client_error else errors.ServerError
    return error_classes.get(status, default)(
        text_of(message) or f"not a response from the memory service: {status}, {found}",
        status=status,
        code=text_of(error) or "unexpected_answer",
        body=body,
        retry_after=read_retry_after(headers.get("Retry-After", "")),
        **facts,
    )


def text_of(value: object) -> str | None:
    return value if isinstance(value, str) else None


def read_retry_after(value: str) -> float | None:
    """Converts whole seconds or an HTTP date to seconds from now."""
    if re.fullmatch("[0-9]+", value):
        return float(value)
    try:
        seconds = (parsedate_to_datetime(value) - datetime.now(timezone.utc)).total_seconds()
    except (TypeError, ValueError):
        return None
    return seconds if seconds >= 0 else None
