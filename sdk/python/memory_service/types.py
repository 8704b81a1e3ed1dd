"""The types of arguments and answers. An answer is the service's JSON, with its field names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired, Unpack as Unpack
else:
    from typing_extensions import NotRequired, Unpack as Unpack



@dataclass(frozen=True)
class Response:
    """An answer of the service, with its status and headers."""

    data: Any
    status: int
    headers: Mapping[str, str]
    attempts: int
    request_id: str | None
    idempotency_status: str | None


# RFC 3339, or a date, which is midnight UTC. A datetime needs a time zone.
Time = str | date
RecordType = Literal["ticket", "document", "conversation", "event", "profile"]
MemoryType = Literal["memory", "ticket", "document", "conversation", "event", "profile"]
MemoryStatus = Literal["processing", "complete", "failed"]


class TicketData(TypedDict):
    subject: str
    comments: Sequence[Mapping[str, Any]]
    description: NotRequired[str | None]
    status: NotRequired[str | None]
    priority: NotRequired[str | None]


class DocumentData(TypedDict):
    text: str
    title: NotRequired[str | None]
    mimeType: NotRequired[str | None]
    sourceUrl: NotRequired[str | None]
    pageCount: NotRequired[int]


class ConversationData(TypedDict):
    messages: Sequence[Mapping[str, Any]]
    title: NotRequired[str | None]
    summary: NotRequired[str | None]
    participants: NotRequired[Sequence[str]]
    tags: NotRequired[Sequence[str]]


class ClientOptions(TypedDict, total=False):
    """By default, ``MEMORY_API_KEY`` and ``MEMORY_BASE_URL`` of the environment. In seconds:
    ``timeout`` (30), for one attempt, and ``retry_delay`` (0.5), which doubles each time."""

    api_key: str
    base_url: str
    timeout: float
    max_retries: int
    retry_delay: float
    extra_headers: Mapping[str, str]


class CallOptions(TypedDict, total=False):
    """The options of every call. A write with an ``idempotency_key`` of None is never retried;
    ``on_response`` is called with the answer, its status and its headers."""

    timeout: float
    max_retries: int
    idempotency_key: str | None
    extra_headers: Mapping[str, str]
    on_response: Callable[[Response], object]


class WaitOptions(TypedDict, total=False):
    extra_headers: Mapping[str, str]


class ConditionalOptions(CallOptions, total=False):
    if_version: int


class Changes(ConditionalOptions, total=False):
    content: str
    metadata: Mapping[str, Any]
    occurred_at: Time | None
    expires_at: Time | None


class RecordFields(CallOptions, total=False):
    user_id: str
    source: str | None
    external_id: str | None
    metadata: Mapping[str, Any]
    occurred_at: Time | None
    expires_at: Time | None


class SaveFields(RecordFields, ConditionalOptions, total=False):
    pass


class UserQuery(CallOptions, total=False):
    user_id: str


class ChatFields(RecordFields, total=False):
    messages: Sequence[Mapping[str, Any]]
    data: ConversationData


class PageQuery(CallOptions, total=False):
    limit: int
    cursor: str | None


class UsersQuery(PageQuery, total=False):
    order: Literal["userId", "memories", "bytes"]


class ExportQuery(PageQuery, UserQuery, total=False): ...


class Filters(CallOptions, total=False):
    """Combined with AND. A memory's time is its ``occurredAt``, or else its ``createdAt``."""

    user_id: str
    limit: int
    type: MemoryType
    status: MemoryStatus
    source: str
    external_id: str
    metadata: Mapping[str, str | int | float | bool]
    from_: Time
    to: Time


class ListQuery(Filters, total=False):
    cursor: str | None
    order: Literal["desc", "asc"]


class SearchFilters(Filters, total=False):
    mode: Literal["auto", "words", "meaning"]
    explain: bool


class MemoryItem(TypedDict):
    id: str
    userId: str
    content: str
    metadata: dict[str, Any]
    type: MemoryType
    source: str | None
    externalId: str | None
    status: MemoryStatus
    version: int
    occurredAt: str | None
    expiresAt: str | None
    createdAt: str
    updatedAt: str
    # True if the memory was deleted before its write was repeated with the same idempotency key.
    # The answer has then no other fields than `id` and `memoryId`.
    deleted: NotRequired[bool]


class SavedMemory(MemoryItem):
    memoryId: str


Highlight = TypedDict("Highlight", {"start": int, "end": int})


class ScoreParts(TypedDict):
    words: float
    phrase: float
    date: float
    meaning: float


class FoundMemory(MemoryItem):
    score: float
    matchedBy: Literal["words", "meaning", "both"]
    snippet: str
    highlights: list[Highlight]  # for each, snippet[start:end] matched
    parts: NotRequired[ScoreParts]  # with explain=True


class SearchResults(TypedDict):
    items: list[FoundMemory]
    meaning: Literal["used", "partial", "off", "unavailable"]


class Accepted(TypedDict):
    memoryId: str
    status: MemoryStatus
    source: str | None
    externalId: str | None
    deleted: NotRequired[bool]


class IngestStatus(TypedDict):
    memoryId: str
    status: MemoryStatus
    chunksComplete: int
    chunksTotal: int
    attempts: int
    errorMessage: str | None
    createdAt: str
    updatedAt: str


class ApiKey(TypedDict):
    project: str
    name: str
    lastFour: str
    userId: str | None
    readOnly: bool
    expiresAt: str | None


Embeddings = TypedDict("Embeddings", {"model": str | None, "pending": int})


class Health(TypedDict):
    status: Literal["ok", "failing"]
    version: str
    storage: str
    pending: int
    oldestPendingSeconds: float | None
    embeddings: Embeddings
    message: NotRequired[str]


AcceptedItem = TypedDict("AcceptedItem", {"index": int, "memoryId": str, "status": MemoryStatus})
FailedItem = TypedDict("FailedItem", {"index": int, "error": str, "message": str})


class BatchAccepted(TypedDict):
    accepted: int
    failedCount: int
    items: list[AcceptedItem]
    failed: list[FailedItem]


class Imported(TypedDict):
    imported: int
    skipped: int
    failedCount: int
    failed: list[FailedItem]


Deleted = TypedDict("Deleted", {"deleted": int})
IngestStatuses = TypedDict("IngestStatuses", {"items": list[IngestStatus], "notFound": list[str]})
MemoryPage = TypedDict("MemoryPage", {"items": list[MemoryItem], "nextCursor": str | None})
User = TypedDict("User", {"userId": str, "memories": int, "bytes": int, "lastCreatedAt": str})
UserPage = TypedDict("UserPage", {"items": list[User], "nextCursor": str | None})


class Task(MemoryItem):
    attempts: int
    errorMessage: str | None


TaskPage = TypedDict("TaskPage", {"items": list[Task], "nextCursor": str | None})


class Stats(TypedDict):
    users: int
    memories: int
    bytes: int  # of content and metadata, in UTF-8
    byType: dict[str, int]
    byStatus: dict[str, int]
    pending: int
    failed: int
    embedded: int
    oldestAt: str | None
    newestAt: str | None
