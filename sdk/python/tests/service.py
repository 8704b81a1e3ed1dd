"""Calls every method on a real service. tests/python.test.ts starts one and runs this module."""

from __future__ import annotations

import asyncio
import os
import unittest
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from memory_service import AsyncMemory, Memory, NotFoundError, PreconditionFailedError

EVENT: dict[str, Any] = {"type": "event", "data": {"name": "Upgraded the plan", "seats": 5}}
CHAT = [{"role": "user", "content": "I moved to Bern"}, {"role": "assistant", "content": "Noted"}]


class Service(unittest.TestCase):
    def test_every_method_that_blocks(self) -> None:
        with Memory() as memory:
            self.assertEqual(memory.health()["status"], "ok")
            self.assertFalse(memory.key()["readOnly"])
            at, n = datetime(2026, 5, 8, tzinfo=timezone.utc), {"n": 1}
            saved = memory.save(user_id="py", content="Likes tea", metadata=n, occurred_at=at)
            self.assertEqual(saved["occurredAt"], "2026-05-08T00:00:00.000Z")
            memory.save(user_id="py", content="Plays the cello", source="crm", external_id="1")
            self.assertEqual(memory.get(saved["id"])["content"], "Likes tea")
            found = memory.search(user_id="py", query="tea", metadata=n)["items"]
            self.assertEqual([one["id"] for one in found], [saved["id"]])
            matched = [found[0]["snippet"][h["start"] : h["end"]] for h in found[0]["highlights"]]
            self.assertEqual(matched, ["tea"])
            self.assertEqual(len(memory.list(user_id="py", from_=at, to="2026-05-09")["items"]), 1)
            listed = [one["content"] for one in memory.list(user_id="py", limit=1, order="asc")]
            self.assertEqual(listed, ["Likes tea", "Plays the cello"])

            changed = memory.update(saved["id"], occurred_at=None, if_version=saved["version"])
            self.assertIsNone(changed["occurredAt"])
            with self.assertRaises(PreconditionFailedError):
                memory.delete(saved["id"], if_version=saved["version"])
            exported = list(memory.export(user_id="py"))
            memory.delete(saved["id"])
            with self.assertRaises(NotFoundError):
                memory.get(saved["id"])
            report = memory.import_([one for one in exported if one["id"] == saved["id"]])
            self.assertEqual((report["imported"], report["failed"]), (1, []))

            ticket = memory.ingest.support(
                user_id="py",
                source="desk",
                external_id="1182",
                data={"subject": "Refund", "comments": [{"author": "user", "content": "Where?"}]},
            )
            self.assertEqual(memory.wait_until_complete(ticket["memoryId"])["status"], "complete")
            document = memory.ingest.document(user_id="py", data={"text": "Returns", "title": "T"})
            chat = memory.ingest.chat(user_id="py", messages=CHAT)
            event = memory.ingest.record(user_id="py", **EVENT)
            batch = memory.ingest.batch([{"userId": "py", **EVENT}, {"type": "event"}])
            self.assertEqual((batch["accepted"], batch["failed"][0]["index"]), (1, 1))
            ids = [one["memoryId"] for one in (document, chat, event)]
            for memory_id in ids:
                memory.wait_until_complete(memory_id)
            statuses = memory.status_many([*ids, "mem_unknown"])
            self.assertEqual([one["status"] for one in statuses["items"]], ["complete"] * 3)
            self.assertEqual(statuses["notFound"], ["mem_unknown"])
            self.assertEqual(memory.status(ids[0])["memoryId"], ids[0])
            self.assertIn("py", [one["userId"] for one in memory.users(limit=1)])
            self.assertEqual(memory.delete_all(user_id="py")["deleted"], 7)

    def test_an_idempotency_key_makes_a_write_once(self) -> None:
        statuses: list[str | None] = []
        note: Callable[[Any], None] = lambda one: statuses.append(one.idempotency_status)
        with Memory() as memory:
            for _ in range(2):
                memory.save(user_id="once", content="x", idempotency_key="k", on_response=note)
            self.assertEqual(len(memory.list(user_id="once")["items"]), 1)
        self.assertEqual(statuses, ["created", "replayed"])

    def test_asyncio(self) -> None:
        async def main() -> None:
            async with AsyncMemory() as memory:
                contents = [f"note {number}" for number in range(5)]
                await asyncio.gather(*(memory.save(user_id="aio", content=one) for one in contents))
                found = [one["content"] async for one in memory.list(user_id="aio", limit=2)]
                self.assertEqual(sorted(found), contents)
                page = await memory.list(user_id="aio", limit=2)
                self.assertEqual(len(page["items"]), 2)
                accepted = await memory.ingest.chat(user_id="aio", messages=CHAT)
                await memory.wait_until_complete(accepted["memoryId"], timeout=30)
                results = await memory.search(user_id="aio", query="Bern")
                self.assertEqual(results["items"][0]["id"], accepted["memoryId"])

        asyncio.run(main())

    def test_a_key_that_is_bound_to_a_user_needs_no_user_id(self) -> None:
        with Memory(api_key=os.environ["BOUND_KEY"]) as memory:
            memory.save(content="Speaks Portuguese")
            self.assertEqual(len(memory.search(query="Portuguese")["items"]), 1)
            self.assertEqual(memory.delete_all()["deleted"], 1)
