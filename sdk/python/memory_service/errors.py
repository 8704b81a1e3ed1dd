"""The errors that the SDK raises. All are subclasses of :class:`MemoryServiceError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .types import IngestStatus


class MemoryServiceError(Exception):
    """The base class. ``__cause__`` has the reason if there was no response."""

    code: str = "unexpected_answer"
    """A stable code: the service's, or ``connection``, ``timeout``, ``wait_timeout``, …"""
    status: int | None = None
    """The HTTP status; None if there was no response."""
    body: Mapping[str, Any] | None = None
    """The response, if it was a JSON object."""
    request_id: str | None = None
    """Identifies the request in the service's log."""
    attempts: int = 0
    """The number of requests that were sent."""
    idempotency_key: str | None = None
    """The key of the write. Repeat the call with this key to avoid a duplicate."""
    retry_after: float | None = None
    """The delay that the service requested, in seconds."""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        # Facts are set as attributes, so that pickle restores them.
        self.__dict__.update(facts)

    @property
    def details(self) -> list[dict[str, str]]:
        """The invalid fields: a list of ``{"field", "message"}``."""
        found = (self.body or {}).get("details")
        return cast("list[dict[str, str]]", found) if isinstance(found, list) else []


class InvalidRequestError(MemoryServiceError):
    """The SDK rejected an argument, or the service answered 400, 405, 415 or another 4xx."""


class AuthenticationError(MemoryServiceError):
    """The API key is missing or invalid (401)."""


class PermissionDeniedError(MemoryServiceError):
    """The API key is read-only, or bound to another user (403)."""


class NotFoundError(MemoryServiceError):
    """The memory does not exist in this project, or the route does not exist (404)."""


class PreconditionFailedError(MemoryServiceError):
    """The memory's version is not ``if_version`` (412)."""


class PayloadTooLargeError(MemoryServiceError):
    """The body is over the service's limit (413)."""


class RateLimitError(MemoryServiceError):
    """Too many requests, or too many records in the queue (429), after all retries."""


class ServerError(MemoryServiceError):
    """The service failed (5xx), or the response is not from the service."""


class ServiceConnectionError(MemoryServiceError):
    """The service could not be reached, or the connection broke."""


class ServiceTimeoutError(MemoryServiceError):
    """An attempt exceeded ``timeout``, or the service answered 408."""


class IngestFailedError(MemoryServiceError):
    """Processing failed; ``ingest_status["errorMessage"]`` has the reason."""

    code = "ingest_failed"
    ingest_status: IngestStatus


class WaitTimeoutError(MemoryServiceError):
    """Processing was not complete in time. It continues, and you can wait again."""

    code = "wait_timeout"
    memory_id: str
    ingest_status: IngestStatus | None
