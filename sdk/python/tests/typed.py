"""Only checked by mypy and pyright: what the methods of both clients accept and return."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

from memory_service import (
    AsyncMemory, BatchAccepted, Memory, MemoryItem, MemoryPage, MemoryStatus, Pages, SavedMemory,
    SearchResults, User,
)


def sync(memory: Memory) -> None:
    assert_type(memory.save(user_id="u", content="x", source=None, if_version=1), SavedMemory)
    assert_type(memory.search(query="x", mode="auto", explain=True), SearchResults)
    assert_type(memory.list(user_id="u", type="ticket"), Pages[MemoryItem])
    assert_type(memory.list()["items"], list[MemoryItem])
    assert_type([one for one in memory.users()], list[User])
    assert_type(memory.update("mem_1", expires_at=None, if_version=1)["version"], int)
    memory.delete("mem_1")
    assert_type(memory.status("mem_1")["status"], MemoryStatus)
    assert_type(memory.ingest.batch([{"type": "event"}]), BatchAccepted)
    memory.import_(memory.export()["items"])


async def on_asyncio(memory: AsyncMemory) -> None:
    assert_type(await memory.save(user_id="u", content="x"), SavedMemory)
    assert_type(await memory.list(user_id="u"), MemoryPage)
    assert_type([one async for one in memory.list(user_id="u")], list[MemoryItem])
    assert_type(await memory.ingest.batch([]), BatchAccepted)


def mistakes(memory: Memory, untyped: dict[str, Any]) -> None:
    memory.save(user_id="u")  # type: ignore[call-arg]
    memory.save(content="x", usr_id="u")  # type: ignore[call-arg]
    memory.save("x")  # type: ignore[call-arg]
    memory.search(query="x", mode="exact")  # type: ignore[arg-type]
    memory.get("mem_1")["status"] == "completed"  # type: ignore[comparison-overlap]
    memory.list(user_id=None)  # type: ignore[arg-type]
    memory.get("mem_1", timeout="5")  # type: ignore[arg-type]
    Memory(baseURL="http://host")  # type: ignore[call-arg]
