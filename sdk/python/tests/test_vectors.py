"""Runs the contract vectors, which the tests of the TypeScript SDK run as well."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2

import memory_service
from memory_service import AsyncMemory, Memory, MemoryServiceError

from .fault_server import FaultServer

FOLDER = Path(__file__).parents[3] / "tests" / "sdk" / "vectors"
# The names of Python's own errors stay free.
CLASSES = {
    "PermissionError": "PermissionDeniedError",
    "ConnectionError": "ServiceConnectionError",
    "TimeoutError": "ServiceTimeoutError",
}
METHODS = {"import": "import_"}  # `import` is a keyword of Python
API_KEY = "a-key-for-tests-1234"

# Shared, because it takes a while to load the system's certificates.
TLS = ssl.create_default_context()

Vector = dict[str, Any]


def read_vectors(path: Path) -> Iterator[Vector]:
    content = json.loads(path.read_text())
    for case in content["cases"]:
        rows: list[Vector] = content["groups"][case["forEach"]] if "forEach" in case else [{}]
        for row in rows:
            vector: Vector = json.loads(filled(json.dumps(case), row))
            replies = content.get("replies", {})
            server = [replies[one] if isinstance(one, str) else one for one in vector["server"]]
            yield {**vector, "server": [whole(reply) for reply in server]}


def filled(text: str, row: dict[str, Any]) -> str:
    for field, value in row.items():
        text = text.replace(f'"${field}"', json.dumps(value)).replace(f"${field}", str(value))
    return text


def whole(reply: dict[str, Any]) -> dict[str, Any]:
    """Completes a page, and an error of the service."""
    if "html" in reply:
        headers = {"Content-Type": "text/html"}
        return {"status": reply["status"], "text": reply["html"], "headers": headers}
    if "error" not in reply:
        return reply
    code = reply["error"]
    body = {"error": code, "message": f"it is {code}", "requestId": "req_1"}
    headers = {"X-Request-Id": "req_1", **reply.get("headers", {})}
    return {"status": reply["status"], "json": body, "headers": headers}


def snake_case(name: str) -> str:
    snake = re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name)
    return "from_" if snake == "from" else snake


def in_python(options: dict[str, Any]) -> dict[str, Any]:
    """Converts the names and units of the TypeScript SDK."""
    changed: dict[str, Any] = {}
    for name, value in options.items():
        if name.endswith("Ms"):
            changed[snake_case(name[:-2])] = value / 1000
        else:
            changed["extra_headers" if name == "headers" else snake_case(name)] = value
    return changed


class Outcome:
    def __init__(self) -> None:
        self.result: Any = None
        self.items: list[str] = []
        self.statuses: list[str] = []
        self.error: MemoryServiceError | None = None

    def method(self, client: Any, call: dict[str, Any]) -> Any:
        arguments = {snake_case(name): value for name, value in call.get("arguments", {}).items()}
        arguments.update(in_python(call.get("options", {})))
        if call["method"] == "waitUntilComplete":
            arguments["on_status"] = self.add_status
        for name in call["method"].split("."):
            client = getattr(client, METHODS.get(name, snake_case(name)))
        return client(*([call["id"]] if "id" in call else []), **arguments)

    def add_status(self, status: memory_service.IngestStatus) -> None:
        self.statuses.append(status["status"])

    def add(self, item: dict[str, Any]) -> None:
        self.items.append(item.get("id") or item["userId"])


def run(vector: Vector, options: dict[str, Any]) -> Outcome:
    outcome, call = Outcome(), vector["call"]
    with Memory(http_client=httpx2.Client(verify=TLS), **options) as memory:
        try:
            result = outcome.method(memory, call)
            if call.get("iterate"):
                for item in result:
                    outcome.add(item)
            elif isinstance(result, memory_service.Pages):
                outcome.result = {"items": result["items"], "nextCursor": result["nextCursor"]}
            else:
                outcome.result = result
        except MemoryServiceError as error:
            outcome.error = error
    return outcome


async def run_async(vector: Vector, options: dict[str, Any]) -> Outcome:
    outcome, call = Outcome(), vector["call"]
    async with AsyncMemory(http_client=httpx2.AsyncClient(verify=TLS), **options) as memory:
        try:
            result = outcome.method(memory, call)
            if call.get("iterate"):
                async for item in result:
                    outcome.add(item)
            else:
                outcome.result = await result
        except MemoryServiceError as error:
            outcome.error = error
    return outcome


class Vectors(unittest.TestCase):
    def check(self, vector: Vector, is_async: bool) -> None:
        with FaultServer(vector["server"]) as server:
            options = {"api_key": API_KEY, "base_url": server.url, "retry_delay": 0.001}
            options.update(in_python(vector.get("client", {})))
            started = time.monotonic()
            if is_async:
                outcome = asyncio.run(run_async(vector, options))
            else:
                outcome = run(vector, options)
            elapsed = (time.monotonic() - started) * 1000
        self.check_requests(vector, server)
        self.check_outcome(vector, outcome)
        self.assertEqual(outcome.items, vector.get("items", outcome.items))
        self.assertEqual(outcome.statuses, vector.get("statuses", outcome.statuses))
        self.assertGreaterEqual(elapsed, vector.get("minMs", 0))
        self.assertLess(elapsed, vector.get("maxMs", 60_000))

    def check_outcome(self, vector: Vector, outcome: Outcome) -> None:
        expected, error = vector.get("error"), outcome.error
        if expected is None:
            if error is not None:
                raise error
            if not vector["call"].get("iterate"):
                self.assertEqual(outcome.result, vector["server"][-1].get("json"))
            return
        assert error is not None, "no error"
        for name, value in expected.items():
            if name == "class":
                self.assertEqual(type(error).__name__, CLASSES.get(value, value))
            elif name == "messageStart":
                self.assertEqual(str(error)[: len(value)], value)
            elif name == "message":
                self.assertEqual(str(error), value)
            elif name == "retryAfterMs":
                self.assertEqual(error.retry_after, value / 1000)
            else:
                self.assertEqual(getattr(error, snake_case(name)), value, name)

    def check_requests(self, vector: Vector, server: FaultServer) -> None:
        expected = vector.get("requests")
        attempts = vector.get("error", {}).get("attempts")
        attempts = vector.get("attempts", attempts if expected is None else len(expected))
        if attempts is not None:
            self.assertEqual(len(server.requests), attempts, server.requests)
        for each, (method, path, headers, body) in zip(expected or [], server.requests):
            self.assertEqual((method, path), (each["method"], each["path"]))
            has_body = method in ("POST", "PATCH")
            arguments = vector["call"].get("arguments") if has_body else None
            self.assertEqual(json.loads(body or "null"), each.get("body", arguments))
            is_health = vector["call"]["method"] == "health"
            some_key = headers["Idempotency-Key"] or "a key, but there is none"
            usual = {
                "Authorization": None if is_health else f"Bearer {API_KEY}",
                "Content-Type": "application/json" if has_body else None,
                "Idempotency-Key": None if method == "GET" else some_key,
            }
            for name, value in {**usual, **each.get("headers", {})}.items():
                self.assertEqual(headers[name], value, name)
        if not vector["call"].get("iterate") and vector["call"]["method"] != "waitUntilComplete":
            # All attempts of a call send the same key and the same body.
            sent = {(headers["Idempotency-Key"], body) for _, _, headers, body in server.requests}
            self.assertLessEqual(len(sent), 1)


def add_tests() -> None:
    for path in sorted(FOLDER.glob("*.json")):
        for vector in read_vectors(path):
            for kind, is_async in (("Memory", False), ("AsyncMemory", True)):

                def test(self: Vectors, vector: Vector = vector, is_async: bool = is_async) -> None:
                    self.check(vector, is_async)

                name = f"test {path.stem}: {vector['name']}, {kind}"
                assert not hasattr(Vectors, name), name
                setattr(Vectors, name, test)


add_tests()
