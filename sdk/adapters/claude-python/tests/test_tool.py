"""What the local tool has no counterpart for: other clients, limits, asyncio and the tool runner."""

from __future__ import annotations

import asyncio
import json
import threading
import unittest
import uuid
from typing import Any

import httpx2
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from memory_service import Memory

from memory_service_claude import AsyncMemoryTool, MemoryTool

CREATE = {"command": "create", "path": "/memories/a.txt", "file_text": "Likes tea\n"}
NEW_PATH = "/memories/b.txt"
EDIT = {"command": "str_replace", "path": "/memories/a.txt", "old_str": "tea", "new_str": "milk"}


class Tool(unittest.TestCase):
    memory: Memory

    @classmethod
    def setUpClass(cls) -> None:
        cls.memory = Memory()
        cls.addClassCleanup(cls.memory.close)

    def setUp(self) -> None:
        self.tool = MemoryTool(self.memory, user_id=str(uuid.uuid4()))

    def test_a_file_is_a_memory_that_searches_find(self) -> None:
        self.tool.call(CREATE)
        (found,) = self.memory.search(user_id=self.tool.user_id, query="tea")["items"]
        self.assertEqual((found["externalId"], found["source"]), ("/memories/a.txt", "claude"))
        self.assertEqual(found["content"], "Likes tea\n\n")

    def test_users_and_sources_have_separate_files(self) -> None:
        self.tool.call(CREATE)
        for other in (
            MemoryTool(self.memory, user_id=str(uuid.uuid4())),
            MemoryTool(self.memory, user_id=self.tool.user_id, source="other"),
        ):
            listed = str(other.call({"command": "view", "path": "/memories"}))
            self.assertEqual(listed.split("\n")[1:], ["4K\t/memories"])

    def test_a_change_by_another_client_is_not_overwritten(self) -> None:
        self.tool.call(CREATE)
        (file,) = self.memory.list(user_id=self.tool.user_id)["items"]

        def interfere(request: httpx2.Request) -> None:
            if request.method == "PATCH":
                self.memory.update(file["id"], content="Likes tea, and coffee\n")

        hooked = httpx2.Client(event_hooks={"request": [interfere]})
        with Memory(http_client=hooked) as memory:
            with self.assertRaisesRegex(ToolError, "version"):
                MemoryTool(memory, user_id=self.tool.user_id).call(EDIT)
        self.assertIn("Likes milk, and coffee", str(self.tool.call(EDIT)))

    def test_a_renamed_file_keeps_its_metadata_and_times(self) -> None:
        self.tool.call(CREATE)
        (file,) = self.memory.list(user_id=self.tool.user_id)["items"]
        before = self.memory.update(
            file["id"], metadata={"tag": "drink"}, occurred_at="2026-05-08", expires_at="2096-01-01"
        )
        self.tool.call({"command": "rename", "old_path": file["externalId"], "new_path": NEW_PATH})
        (renamed,) = self.memory.list(user_id=self.tool.user_id)["items"]
        self.assertEqual(renamed["externalId"], NEW_PATH)
        for field in ("content", "metadata", "occurredAt", "expiresAt"):
            self.assertEqual(renamed[field], before[field], field)

    def test_arguments_that_the_model_leaves_out_are_errors(self) -> None:
        with self.assertRaisesRegex(ToolError, "file_text is required"):
            self.tool.call({"command": "create", "path": CREATE["path"]})
        self.tool.call(CREATE)
        with self.assertRaisesRegex(ToolError, "new_str is required"):
            self.tool.call({name: EDIT[name] for name in EDIT if name != "new_str"})

    def test_the_limits_of_the_service_are_errors_for_the_model(self) -> None:
        with self.assertRaisesRegex(ToolError, "content: must be at most 65536 characters"):
            self.tool.call({**CREATE, "file_text": "x" * 65_536})
        with self.assertRaisesRegex(ToolError, "externalId: must be at most 256 characters"):
            self.tool.call({**CREATE, "path": "/memories/" + "x" * 300})

    def test_a_service_that_hangs_does_not_keep_asyncio_from_looking_up_hosts(self) -> None:
        hangs = threading.Event()

        def answer(_: httpx2.Request) -> httpx2.Response:
            hangs.wait()
            return httpx2.Response(200, json={"items": [], "nextCursor": None})

        async def main() -> None:
            view = {"command": "view", "path": "/memories"}
            calls = asyncio.gather(*(tool.call(view) for _ in range(32)))
            await asyncio.sleep(0)
            try:
                lookup = asyncio.get_running_loop().getaddrinfo("localhost", 80)
                self.assertTrue(await asyncio.wait_for(lookup, 10))
            finally:
                hangs.set()
                await calls

        http = httpx2.Client(transport=httpx2.MockTransport(answer))
        tool = AsyncMemoryTool(MemoryTool(Memory(http_client=http), user_id="ada"))
        asyncio.run(main())

    def test_async(self) -> None:
        async def main() -> None:
            tool = AsyncMemoryTool(self.tool)
            await tool.call(CREATE)
            self.assertIn("Likes milk", str(await tool.call(EDIT)))
            with self.assertRaisesRegex(ToolError, "did not appear verbatim"):
                await tool.call(EDIT)

        asyncio.run(main())

    def test_a_conversation_with_the_tool_runner(self) -> None:
        sent: list[dict[str, Any]] = []
        script = [CREATE, {"command": "view", "path": "/memories"}, None]

        def reply(request: httpx2.Request) -> httpx2.Response:
            sent.append(json.loads(request.content))
            command = script[len(sent) - 1]
            use = {"type": "tool_use", "id": f"tu_{len(sent)}", "name": "memory", "input": command}
            content = [use if command else {"type": "text", "text": "I will remember."}]
            message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
            reason = "tool_use" if command else "end_turn"
            usage = {"input_tokens": 1, "output_tokens": 1}
            more = {"content": content, "stop_reason": reason, "usage": usage}
            return httpx2.Response(200, json={**message, **more})

        http = httpx2.Client(transport=httpx2.MockTransport(reply))
        with Anthropic(api_key="none", http_client=http) as client:
            runner = client.beta.messages.tool_runner(
                model="claude-sonnet-5-5",
                max_tokens=100,
                messages=[{"role": "user", "content": "I like tea"}],
                tools=[self.tool],
            )
            runner.until_done()
        self.assertEqual(sent[0]["tools"], [{"type": "memory_20250818", "name": "memory"}])
        results = [request["messages"][-1]["content"][0] for request in sent[1:]]
        self.assertEqual(results[0]["content"], "File created successfully at: /memories/a.txt")
        self.assertTrue(results[1]["content"].endswith("\n10B\t/memories/a.txt"))
