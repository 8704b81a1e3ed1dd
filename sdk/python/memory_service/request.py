"""Turns a call into an HTTP request, which all attempts of the call share."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from math import isfinite
from typing import Any
from urllib.parse import quote

import httpx2

from .errors import AuthenticationError, InvalidRequestError

VERSION = "0.1.0"
# In seconds. Python raises OverflowError for longer timeouts than its timers support.
MAX_TIMER = 2_000_000.0
PRINTABLE = re.compile(r"[ -~]*\Z")
OPTIONS = {
    "timeout", "max_retries", "idempotency_key", "extra_headers", "if_version", "on_response"
}
# What Python and the HTTP library raise for arguments that cannot be sent.
UNSENDABLE = (
    AttributeError, TypeError, ValueError, OverflowError, RecursionError, httpx2.InvalidURL
)


@dataclass
class Settings:
    """The client's options, or else the environment, or else the defaults."""

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout: float = 30.0
    max_retries: int = 2
    retry_delay: float = 0.5
    extra_headers: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        self.api_key = self.api_key or os.environ.get("MEMORY_API_KEY")
        url = self.base_url or os.environ.get("MEMORY_BASE_URL") or "http://127.0.0.1:7070"
        self.base_url = checked_base_url(url)
        at_least(0.001, "timeout", self.timeout)
        at_least(0, "max_retries", self.max_retries)
        at_least(0, "retry_delay", self.retry_delay)


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    url: str
    headers: httpx2.Headers
    content: bytes | None
    required_field: str
    timeout: float
    max_retries: float
    retry_delay: float

    @property
    def idempotency_key(self) -> str | None:
        return self.headers.get("Idempotency-Key") or None


def build_request(
    settings: Settings, route: str, required_field: str, given: Mapping[str, Any]
) -> Request:
    method, path = route.split(" ")
    options = {name: value for name, value in given.items() if name in OPTIONS}
    fields = {wire_name(name): given[name] for name in given if name not in options}
    has_body = method in ("POST", "PATCH")
    try:
        if ":id" in path:
            path = path.replace(":id", quote(checked_id(fields.pop("id")), safe=""))
        body = json.dumps(fields, ensure_ascii=False, allow_nan=False, default=time_text)
        content = body.encode()
        pairs = [] if has_body else [f"{quote(k, '')}={quote(v, '')}" for k, v in query(fields)]
        url = f"{settings.base_url}{path}{'?' if pairs else ''}{'&'.join(pairs)}"
        httpx2.URL(url)  # Raises if the URL is too long.
        headers = build_headers(settings, path, method, options)
    except UNSENDABLE as error:
        raise invalid(f"the arguments cannot be sent as a request: {error}") from error
    return Request(
        method,
        path,
        url,
        headers,
        content if has_body else None,
        required_field,
        min(at_least(0.001, "timeout", options.get("timeout", settings.timeout)), MAX_TIMER),
        at_least(0, "max_retries", options.get("max_retries", settings.max_retries)),
        settings.retry_delay,
    )


def wire_name(name: str) -> str:
    """``external_id`` is ``externalId`` on the wire, and ``from_`` is ``from``."""
    return re.sub("_([a-z])", lambda match: match[1].upper(), name.rstrip("_"))


def query(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if name == "metadata":
            yield from ((f"metadata[{key}]", text(inner)) for key, inner in value.items())
        elif name == "userId" and not isinstance(value, str):
            raise TypeError("user_id must be a string")
        elif value is not None or name != "cursor":
            yield name, text(value)


def text(value: Any) -> str:
    """Raises for None and for objects: to drop a filter would match more than was intended."""
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, (bool, int)):
        return json.dumps(value)
    return value if isinstance(value, str) else time_text(value)


def number_text(value: float) -> str:
    """Writes a number as JavaScript does, because the service compares the texts."""
    shortest = float.__repr__(value)
    if not isfinite(value):
        raise ValueError(f"{shortest} is not a value of a query")
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        return f"{Decimal(shortest):f}".removesuffix(".0")
    digits, exponent = shortest.split("e")
    return f"{digits}e{int(exponent):+d}"


def time_text(value: object) -> str:
    if not isinstance(value, date):
        raise TypeError(f"{type(value).__name__} is not a value of a request")
    if not isinstance(value, datetime):
        return value.isoformat()
    if value.tzinfo is None:
        raise ValueError("a datetime must have a time zone")
    utc = value.astimezone(timezone.utc).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z"


def checked_id(id: str | None) -> str:
    """Rejects an empty id, `.` and `..`, because the URL would address another operation."""
    if not isinstance(id, str) or id in ("", ".", ".."):
        raise TypeError("the id of a memory must be a non-empty string")
    return id


def build_headers(
    settings: Settings, path: str, method: str, options: Mapping[str, Any]
) -> httpx2.Headers:
    given = {"Accept": "application/json", "User-Agent": f"memory-service-python/{VERSION}"}
    key = options.get("idempotency_key", secrets.token_hex(16))
    if method in ("POST", "PATCH"):
        given["Content-Type"] = "application/json"
    if method != "GET" and key is not None:
        given["Idempotency-Key"] = key
    if "if_version" in options:
        given["If-Match"] = f'"{options["if_version"]}"'
    headers = httpx2.Headers(given)
    headers.update(settings.extra_headers)
    headers.update(options.get("extra_headers"))
    for name, value in headers.items():
        if not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name, re.ASCII) or not PRINTABLE.match(value):
            raise TypeError("a header must contain only printable ASCII characters")
    if path.startswith("/v1") and "Authorization" not in headers:
        headers["Authorization"] = bearer(settings.api_key)
    return headers


def bearer(api_key: str | None) -> str:
    if api_key and re.fullmatch("[!-~]+", api_key):
        return f"Bearer {api_key}"
    message = (
        "the API key must contain only visible ASCII characters; check api_key or MEMORY_API_KEY"
        if api_key
        else "no API key was provided; set MEMORY_API_KEY or pass api_key (`memory keys create` "
        "creates a key)"
    )
    raise AuthenticationError(message, code="unauthorized")


def checked_base_url(text: str) -> str:
    """The error does not contain the URL, which can include a password."""
    match = re.fullmatch(r"(https?://[^/?#@\s]+(?:/[^?#\s]*?)?)/*[?#]*", text, re.IGNORECASE)
    if match is None or not is_url(match[1]):
        raise invalid("base_url must be an http or https URL without user name, query or fragment")
    if match[1].endswith("/v1"):
        raise invalid("base_url must not contain /v1: the client adds it to every path")
    return match[1]


def is_url(text: str) -> bool:
    try:
        return bool(httpx2.URL(text).host)
    except httpx2.InvalidURL:
        return False


def at_least(minimum: float, name: str, value: Any) -> Any:
    if isinstance(value, (int, float)) and value >= minimum:
        return value
    raise invalid(f"{name} must be a number that is at least {minimum:g}")


def invalid(message: str) -> InvalidRequestError:
    return InvalidRequestError(message, code="invalid_request")
