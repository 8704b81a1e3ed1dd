"""Sends requests and sleeps, blocking or on asyncio.

The rest of the SDK is written once, with async functions. Those of ``BlockingTransport`` never
suspend, so ``run`` can run a coroutine that uses them to its end, without an event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
import weakref
from collections.abc import Awaitable
from typing import Protocol, TypeVar

import anyio
import httpx2

from .request import Request
from .response import Outcome, Reply

T = TypeVar("T")
# A proxy that the environment names does not reach this machine by these names.
DIRECT = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}


class Transport(Protocol):
    async def exchange(self, request: Request, timeout: float) -> Outcome: ...
    async def sleep(self, seconds: float) -> None: ...


def run(awaitable: Awaitable[T]) -> T:
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("a blocking call was suspended")


class BlockingTransport:
    def __init__(self, given: httpx2.Client | None) -> None:
        self.is_own = given is None
        self.use(given or httpx2.Client(mounts=DIRECT))

    def use(self, http: httpx2.Client) -> None:
        self.http, self.process = http, os.getpid()
        if self.is_own:
            # Otherwise Python warns about open sockets of a client that was not closed.
            weakref.finalize(self, http.close)

    def client(self) -> httpx2.Client:
        if self.is_own and self.process != os.getpid() and not self.http.is_closed:
            # On a connection that fork() has copied, a process can read another's response.
            self.use(httpx2.Client(mounts=DIRECT))
        return self.http

    async def exchange(self, request: Request, timeout: float) -> Outcome:
        deadline = time.monotonic() + timeout

        def shorten(event: str, info: object) -> None:
            """Limits the next phase, such as reading the body, to what is left of the time."""
            left = max(deadline - time.monotonic(), 0.001)
            sent.extensions["timeout"].update(connect=left, read=left, write=left, pool=left)

        http = self.client()
        sent = http.build_request(
            request.method, request.url, headers=request.headers, content=request.content,
            timeout=timeout, extensions={"trace": shorten},
        )
        body = bytearray()
        try:
            response = http.send(sent, stream=True, follow_redirects=False)
            with contextlib.closing(response):
                for chunk in response.iter_bytes():
                    body += chunk
                    if time.monotonic() > deadline:
                        raise httpx2.ReadTimeout("the body")
        except (httpx2.HTTPError, OSError, UnicodeError) as error:
            return error
        return Reply(response.status_code, response.headers, body.decode(errors="replace"))

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class AsyncTransport(threading.local):
    """Each thread has its own attributes, because it runs another event loop."""

    def __init__(self, given: httpx2.AsyncClient | None) -> None:
        self.is_own, self.http = given is None, given or httpx2.AsyncClient(mounts=DIRECT)
        self.user: tuple[int, asyncio.AbstractEventLoop] | None = None

    def client(self) -> httpx2.AsyncClient:
        user = os.getpid(), asyncio.get_running_loop()
        if self.is_own and self.user not in (None, user) and not self.http.is_closed:
            # A connection only works on the event loop that opened it, and fork() copies both.
            self.http = httpx2.AsyncClient(mounts=DIRECT)
        self.user = user
        return self.http

    async def exchange(self, request: Request, timeout: float) -> Outcome:
        try:
            # Before Python 3.12, asyncio.wait_for can ignore the cancellation of its task.
            with anyio.fail_after(timeout):
                response = await self.client().request(
                    request.method, request.url, headers=request.headers, content=request.content,
                    timeout=None, follow_redirects=False,
                )
        except (httpx2.HTTPError, OSError, UnicodeError) as error:
            return error
        body = response.content.decode(errors="replace")
        return Reply(response.status_code, response.headers, body)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
