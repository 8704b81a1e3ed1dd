"""A client for a memory service: ``Memory`` blocks, ``AsyncMemory`` runs on asyncio."""

from .errors import (
    AuthenticationError, IngestFailedError, InvalidRequestError, MemoryServiceError, NotFoundError,
    PayloadTooLargeError, PermissionDeniedError, PreconditionFailedError, RateLimitError,
    ServerError, ServiceConnectionError, ServiceTimeoutError, WaitTimeoutError,
)
from .memory import AsyncMemory, Memory
from .pages import AsyncPages, Pages
from .request import VERSION as __version__
from .types import (
    Accepted, ApiKey, BatchAccepted, FoundMemory, Health, Imported, IngestStatus, IngestStatuses,
    MemoryItem, MemoryPage, MemoryStatus, MemoryType, Response, SavedMemory, SearchResults, Stats,
    Task, TaskPage, User, UserPage,
)

__all__ = [
    "Accepted", "ApiKey", "AsyncMemory", "AsyncPages", "AuthenticationError", "BatchAccepted",
    "FoundMemory", "Health", "Imported", "IngestFailedError", "IngestStatus", "IngestStatuses",
    "InvalidRequestError", "Memory", "MemoryItem", "MemoryPage", "MemoryServiceError",
    "MemoryStatus", "MemoryType", "NotFoundError", "Pages", "PayloadTooLargeError",
    "PermissionDeniedError", "PreconditionFailedError", "RateLimitError", "Response", "SavedMemory",
    "SearchResults", "ServerError", "ServiceConnectionError", "ServiceTimeoutError", "Stats", "Task",
    "TaskPage", "User", "UserPage", "WaitTimeoutError", "__version__",
]
