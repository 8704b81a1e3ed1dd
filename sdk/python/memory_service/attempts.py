"""The rules of retries and of waiting."""

from __future__ import annotations

import inspect
import json
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from math import inf

from .errors import IngestFailedError, MemoryServiceError, ServerError, WaitTimeoutError
from .errors import ServiceConnectionError, ServiceTimeoutError
from .request import MAX_TIMER, Request, at_least
from .response import read_outcome
from .transport import Transport
from .types import IngestStatus, Response

log = logging.getLogger("memory_service")
MAX_BACKOFF = 8.0
# If the next wait would be longer than this, the call fails immediately.
MAX_WAIT = 60.0
FIRST_POLL, MAX_POLL = 0.1, 2.0


@dataclass
class Progress:
    deadline: float = inf
    sent: int = 0
    failure: MemoryServiceError | None = None

    def limit(self, seconds: float) -> float:
        """Returns the seconds, or those that are left before the deadline."""
        return max(0.0, min(seconds, self.deadline - time.monotonic(), MAX_TIMER))


class DeadlinePassed(Exception):
    pass


async def with_retries(transport: Transport, request: Request, progress: Progress) -> Response:
    """Sends the request until it succeeds, fails permanently, or the retries are used up."""
    for number in count(1):
        timeout = progress.limit(request.timeout)
        if timeout == 0:
            break
        progress.sent += 1
        outcome = await transport.exchange(request, timeout)
        try:
            return read_outcome(request, outcome, progress.sent)
        except MemoryServiceError as error:
            failure = error
        if isinstance(failure, ServiceTimeoutError) and timeout < request.timeout:
            break
        progress.failure = failure
        wait = wait_before_next(request, failure, number)
        log.debug("%s %s: attempt %d: %s", request.method, request.path, number, failure)
        if wait is None:
            raise failure
        await transport.sleep(progress.limit(wait))
    raise DeadlinePassed


def wait_before_next(request: Request, error: MemoryServiceError, number: int) -> float | None:
    """Returns the delay before the next attempt, or None to stop retrying."""
    # A write without a key is not retried: it may have succeeded although its response was lost.
    may_repeat = request.method == "GET" or request.idempotency_key is not None
    if number > request.max_retries or not may_repeat or not is_transient(error, request.path):
        return None
    # Python raises OverflowError for a power that is too large for a float.
    backoff = min(request.retry_delay * 2 ** min(number - 1, 99), MAX_BACKOFF)
    wait = max(error.retry_after or 0, backoff * (1 - random.random() / 4))
    return None if wait > MAX_WAIT else wait


def is_transient(error: MemoryServiceError, path: str = "") -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, ServiceConnectionError):
        return True
    # A health check reports a failing service instead of retrying until the service recovers.
    if path == "/health":
        return False
    status = error.status or 0
    return isinstance(error, ServiceTimeoutError) or status in (409, 429) or status >= 500


async def poll(
    transport: Transport,
    request: Request,
    memory_id: str,
    timeout: float,
    on_status: Callable[[IngestStatus], object] | None,
) -> IngestStatus:
    """Polls at increasing intervals. Transient errors end the wait only before the first answer."""
    progress = Progress(time.monotonic() + at_least(0.001, "timeout", timeout))
    status: IngestStatus | None = None
    pause = FIRST_POLL
    while True:
        wait, is_first = pause, progress.sent == 0
        try:
            response = await with_retries(transport, request, progress)
        except DeadlinePassed:
            message = f"{memory_id} is not complete after {timeout:g} s; processing continues"
            facts = {"memory_id": memory_id, "ingest_status": status, "attempts": progress.sent}
            error = WaitTimeoutError(f"{message}, and you can wait again", **facts)
            raise error from progress.failure
        except MemoryServiceError as error:
            if not is_transient(error) or (is_first and isinstance(error, ServiceConnectionError)):
                raise
            wait = max(pause, error.retry_after or 0)
        else:
            latest: IngestStatus = response.data
            status = latest
            if on_status and inspect.isawaitable(called := on_status(latest)):
                await called
            if is_complete(latest, response):
                return latest
        await transport.sleep(progress.limit(wait))
        pause = min(pause * 1.5, MAX_POLL)


def is_complete(status: IngestStatus, response: Response) -> bool:
    """Raises if processing failed."""
    facts = {"request_id": response.request_id, "attempts": response.attempts}
    if status["status"] == "failed":
        reason = status.get("errorMessage") or "no reason was reported"
        message = f"{status['memoryId']} failed: {reason}"
        raise IngestFailedError(message, ingest_status=status, status=response.status, **facts)
    if status["status"] not in ("processing", "complete"):
        message = f"the service returned an unknown status: {json.dumps(status['status'])}"
        raise ServerError(message, status=response.status, **facts)
    return status["status"] == "complete"
