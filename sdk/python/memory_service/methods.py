"""The methods of both clients. A client that blocks runs them to their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from .attempts import poll
from .client import Answer, Client, method, paged
from .pages import AsyncPages
from .request import build_request
from .types import (
    Accepted, ApiKey, BatchAccepted, CallOptions, Changes, ChatFields, ConditionalOptions, Deleted,
    DocumentData, ExportQuery, Health, Imported, IngestStatus, IngestStatuses, ListQuery,
    MemoryItem, MemoryPage, PageQuery, RecordFields, RecordType, SavedMemory, SaveFields,
    SearchFilters, SearchResults, Stats, Task, TaskPage, TicketData, Unpack, User, UserPage,
    UserQuery, UsersQuery, WaitOptions,
)


class Methods(Client):
    @method
    def save(self, *, content: str, **fields: Unpack[SaveFields]) -> Answer[SavedMemory]:
        """Saves text for a user, ``user_id``. Optional: ``metadata``, ``source``, ``external_id``,
        ``occurred_at`` and ``expires_at``. The memory is ``complete`` immediately.

        A memory of the user with the same ``source`` and ``external_id`` is replaced and keeps its
        id. If the call is repeated with its ``idempotency_key`` after the memory was deleted, the
        answer is ``{"id", "memoryId", "deleted": True}``.
        """
        return self._call("POST /v1/memories", "id", fields, content=content)

    @paged
    def list(self, **query: Unpack[ListQuery]) -> AsyncPages[MemoryPage, MemoryItem]:
        """Lists the memories of ``user_id``, newest first, ``limit`` (20) a page. Iterate for all
        pages. The filters are ``type``, ``status``, ``source``, ``external_id``, ``metadata``,
        ``from_`` and ``to``."""
        return self._pages("GET /v1/memories", "nextCursor", query)

    @method
    def search(self, *, query: str, **filters: Unpack[SearchFilters]) -> Answer[SearchResults]:
        """Searches the memories of ``user_id``, best first, at most ``limit`` (10), with the filters
        of ``list``. The query has no operators; memories that contain a phrase in double quotes
        rank higher. Memories are found by words and by meaning; ``mode`` restricts the search to
        one."""
        return self._call("GET /v1/memories/search", "items", filters, query=query)

    @method
    def get(self, id: str, **options: Unpack[CallOptions]) -> Answer[MemoryItem]:
        """Returns a memory."""
        return self._call("GET /v1/memories/:id", "id", options, id=id)

    @method
    def update(self, id: str, **changes: Unpack[Changes]) -> Answer[MemoryItem]:
        """Replaces each given field as a whole; None clears a time. With ``if_version``, raises
        ``PreconditionFailedError`` instead of overwriting another client's later change."""
        return self._call("PATCH /v1/memories/:id", "id", changes, id=id)

    @method
    def delete(self, id: str, **options: Unpack[ConditionalOptions]) -> Answer[None]:
        """Deletes a memory permanently."""
        return self._call("DELETE /v1/memories/:id", "", options, id=id)

    @method
    def delete_all(self, **query: Unpack[UserQuery]) -> Answer[Deleted]:
        """Permanently deletes all of a user's memories and returns how many there were."""
        return self._call("DELETE /v1/memories", "deleted", query)

    @paged
    def export(self, **query: Unpack[ExportQuery]) -> AsyncPages[MemoryPage, MemoryItem]:
        """Exports a user's memories or, without ``user_id``, the project's, 1,000 a page."""
        return self._pages("GET /v1/export", "nextCursor", query)

    @method
    def import_(
        self, items: Sequence[MemoryItem], **options: Unpack[CallOptions]
    ) -> Answer[Imported]:
        """Imports up to 1,000 exported memories; one whose id exists is skipped. An invalid item
        does not fail the call: check ``failed``."""
        return self._call("POST /v1/import", "failed", options, items=items)

    @method
    def status(self, id: str, **options: Unpack[CallOptions]) -> Answer[IngestStatus]:
        """Returns the processing status of an ingested memory."""
        return self._call("GET /v1/memories/:id/status", "memoryId", options, id=id)

    @method
    def status_many(
        self, memory_ids: Sequence[str], **options: Unpack[CallOptions]
    ) -> Answer[IngestStatuses]:
        """Returns the statuses of up to 1,000 memories; unknown ids are in ``notFound``."""
        return self._call("POST /v1/memories/status", "notFound", options, memory_ids=memory_ids)

    @method
    def wait_until_complete(
        self,
        id: str,
        *,
        timeout: float = 60.0,
        on_status: Callable[[IngestStatus], object] | None = None,
        **options: Unpack[WaitOptions],
    ) -> Answer[IngestStatus]:
        """Waits until an ingested memory is ``complete``, at most ``timeout`` seconds in total.

        Transient errors do not end the wait, unless the service has never been reached. Raises
        ``IngestFailedError`` if processing failed, and ``WaitTimeoutError`` if the time is up.
        """
        request = build_request(
            self._settings, "GET /v1/memories/:id/status", "memoryId", {**options, "id": id}
        )
        return poll(self._transport, request, id, timeout, on_status)

    @paged
    def users(self, **query: Unpack[UsersQuery]) -> AsyncPages[UserPage, User]:
        """Lists the users who have memories, ``limit`` (20) a page. Iterate for all pages. With the
        ``order`` "memories" or "bytes", lists the largest users first, in one page."""
        return self._pages("GET /v1/users", "nextCursor", query)

    @paged
    def tasks(
        self, *, status: Literal["processing", "failed"], **query: Unpack[PageQuery]
    ) -> AsyncPages[TaskPage, Task]:
        """Lists the project's memories that are being processed or have failed, newest first."""
        return self._pages("GET /v1/tasks", "nextCursor", {"status": status, **query})

    @method
    def stats(self, **options: Unpack[CallOptions]) -> Answer[Stats]:
        """Returns what the project holds: users, memories by type and status, and their size. The
        figures may be a minute old."""
        return self._call("GET /v1/stats", "memories", options)

    @method
    def key(self, **options: Unpack[CallOptions]) -> Answer[ApiKey]:
        """Returns the properties of the API key."""
        return self._call("GET /v1/key", "readOnly", options)

    @method
    def health(self, **options: Unpack[CallOptions]) -> Answer[Health]:
        """Returns the service's health, without a key. A failing service is an answer, not an
        error: check ``status``."""
        return self._call("GET /health", "status", options)


class IngestMethods(Client):
    """Each returns once the record is durably queued; ``wait_until_complete`` waits for the rest.

    A record with the ``user_id``, ``source`` and ``external_id`` of a memory replaces that memory.
    """

    @method
    def support(self, *, data: TicketData, **fields: Unpack[RecordFields]) -> Answer[Accepted]:
        """Ingests a support ticket."""
        return self._call("POST /v1/ingest/support", "memoryId", fields, data=data)

    @method
    def document(self, *, data: DocumentData, **fields: Unpack[RecordFields]) -> Answer[Accepted]:
        """Ingests text of any length, up to the service's limit on a body (5 MiB by default)."""
        return self._call("POST /v1/ingest/document", "memoryId", fields, data=data)

    @method
    def chat(self, **fields: Unpack[ChatFields]) -> Answer[Accepted]:
        """Ingests ``messages`` in the format of the model APIs, or ``data`` with a title, …"""
        return self._call("POST /v1/ingest/chat", "memoryId", fields)

    @method
    def record(
        self, *, type: RecordType, data: Mapping[str, Any], **fields: Unpack[RecordFields]
    ) -> Answer[Accepted]:
        """Ingests a ticket, document, conversation, event or profile."""
        return self._call("POST /v1/ingest", "memoryId", fields, type=type, data=data)

    @method
    def batch(
        self, items: Sequence[Mapping[str, Any]], **options: Unpack[CallOptions]
    ) -> Answer[BatchAccepted]:
        """Ingests 1 to 1,000 records, as JSON. An invalid record does not fail the call: check
        ``failed``."""
        return self._call("POST /v1/ingest/batch", "failed", options, items=items)
