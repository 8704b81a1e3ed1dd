"""The clients."""

from __future__ import annotations

import httpx2

from .client import Async, Sync
from .methods import IngestMethods, Methods
from .request import Settings
from .transport import AsyncTransport, BlockingTransport
from .types import ClientOptions, Unpack


class Ingest(IngestMethods, Sync): ...


class AsyncIngest(IngestMethods, Async): ...


class Memory(Methods, Sync):
    """A client that blocks. It can be shared between threads; the constructor does no I/O.

    >>> with Memory() as memory:  # MEMORY_API_KEY and MEMORY_BASE_URL, or api_key= and base_url=
    ...     memory.save(user_id="ada", content="Prefers dark mode")
    """

    def __init__(
        self, *, http_client: httpx2.Client | None = None, **options: Unpack[ClientOptions]
    ) -> None:
        settings, transport = Settings(**options), BlockingTransport(http_client)
        super().__init__(settings, transport)
        self.ingest = Ingest(settings, transport)
        self._blocking_transport = transport

    def close(self) -> None:
        """Closes the connections."""
        self._blocking_transport.client().close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncMemory(Methods, Async):
    """A client for asyncio, with the methods of :class:`Memory`."""

    def __init__(
        self, *, http_client: httpx2.AsyncClient | None = None, **options: Unpack[ClientOptions]
    ) -> None:
        settings, transport = Settings(**options), AsyncTransport(http_client)
        super().__init__(settings, transport)
        self.ingest = AsyncIngest(settings, transport)
        self._async_transport = transport

    async def close(self) -> None:
        """Closes the connections of the running event loop."""
        await self._async_transport.client().aclose()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
