"""What the contract vectors cannot say: Python's types, the environment, and the two clients."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import multiprocessing
import os
import pickle
import socket
import threading
import time
import unittest
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime, timedelta, timezone
from typing import Any
from unittest import mock

import httpx2

import memory_service
from memory_service import AsyncMemory, InvalidRequestError, Memory, MemoryServiceError, Response
from memory_service.types import ClientOptions

from .fault_server import FaultServer, Reply

KEY = "a-key-for-tests-1234"
MEMORY = {"id": "mem_1", "memoryId": "mem_1", "content": "x"}
FOUND: Reply = {"status": 200, "json": MEMORY}
COMPLETE = {"memoryId": "mem_1", "status": "complete", "errorMessage": None}


@contextmanager
def client_of(*script: Reply, **options: Any) -> Generator[tuple[Memory, FaultServer], None, None]:
    with FaultServer(list(script)) as server:
        with Memory(api_key=KEY, base_url=server.url, retry_delay=0.001, **options) as memory:
            yield memory, server


class Arguments(unittest.TestCase):
    def test_a_datetime_is_sent_in_utc_and_a_date_as_it_is(self) -> None:
        at = datetime(2026, 5, 8, 15, 56, 7, 123999, timezone(timedelta(hours=2)))
        with client_of(FOUND, {"status": 200, "json": {"items": [], "nextCursor": None}}) as (
            memory,
            server,
        ):
            memory.save(user_id="u", content="x", occurred_at=at, expires_at=date(2096, 1, 1))
            memory.list(user_id="u", from_=at, to=date(2026, 6, 1))
        _, _, _, body = server.requests[0]
        sent = '"occurredAt": "2026-05-08T13:56:07.123Z", "expiresAt": "2096-01-01"'
        self.assertIn(sent, body)
        path = "/v1/memories?userId=u&from=2026-05-08T13%3A56%3A07.123Z&to=2026-06-01"
        self.assertEqual(server.requests[1][1], path)

    def test_a_datetime_may_be_part_of_a_record(self) -> None:
        at = datetime(2026, 5, 8, 15, 56, 7, 0, timezone(timedelta(hours=2)))
        event = {"type": "event", "occurredAt": date(2026, 5, 8), "data": {"name": "x", "at": at}}
        with client_of({"status": 202, "json": {"memoryId": "mem_1", "failed": []}}) as (
            memory,
            server,
        ):
            memory.ingest.chat(user_id="u", messages=[{"content": "x", "timestamp": at}])
            memory.ingest.batch([event])
        chat, batch = (json.loads(body) for _, _, _, body in server.requests)
        self.assertEqual(chat["messages"][0]["timestamp"], "2026-05-08T13:56:07.000Z")
        self.assertEqual(batch["items"][0]["occurredAt"], "2026-05-08")
        self.assertEqual(batch["items"][0]["data"]["at"], "2026-05-08T13:56:07.000Z")

    def test_what_cannot_be_sent_is_rejected(self) -> None:
        circular: dict[str, Any] = {}
        circular["circular"] = circular
        nested: list[Any] = []
        for _ in range(100_000):
            nested = [nested]
        arguments: list[Any] = [
            {"occurred_at": datetime(2026, 5, 8)},
            {"occurred_at": datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))},
            {"metadata": circular},
            {"metadata": {"nested": nested}},
            {"metadata": {"a": float("nan")}},
            {"metadata": {"a": {1, 2}}},
            {"metadata": {"a": datetime(2026, 5, 8)}},
            {"timeout": float("nan")},
            {"timeout": "5"},
            {"max_retries": -1},
            {"extra_headers": {"X-A": "ü"}},
        ]
        with client_of(FOUND) as (memory, server):
            for each in arguments:
                with self.subTest(each=list(each)), self.assertRaises(InvalidRequestError):
                    memory.save(user_id="u", content="x", **each)
        self.assertEqual(server.requests, [])

    def test_a_url_that_is_too_long_is_rejected(self) -> None:
        with client_of(FOUND) as (memory, server):
            with self.assertRaises(InvalidRequestError):
                memory.search(user_id="u", query="x" * 100_000)
        self.assertEqual(server.requests, [])

    def test_an_unlimited_timeout_is_accepted(self) -> None:
        with client_of(FOUND, timeout=float("inf")) as (memory, _):
            self.assertEqual(memory.get("mem_1")["content"], "x")

    def test_positional_arguments_other_than_the_id_are_a_type_error(self) -> None:
        with client_of(FOUND) as (memory, _):
            untyped: Any = memory
            with self.assertRaises(TypeError):
                untyped.save("x")
            with self.assertRaises(TypeError):
                untyped.get()


class Options(unittest.TestCase):
    def test_key_and_base_url_default_to_the_environment(self) -> None:
        with FaultServer([FOUND]) as server:
            variables = {"MEMORY_API_KEY": "of-the-environment", "MEMORY_BASE_URL": server.url}
            with mock.patch.dict(os.environ, variables), Memory() as memory:
                memory.get("mem_1")
        self.assertEqual(server.requests[0][2]["Authorization"], "Bearer of-the-environment")

    def test_an_invalid_option_is_rejected_without_quoting_it(self) -> None:
        urls = ["127.0.0.1:7070", "ftp://host", "http://u:password@host", "http://host/?a=1"]
        urls += ["http://host:port", "http://[::1"]
        options: list[Any] = [{"base_url": url} for url in [*urls, "http://h/v1", "http://h/v1/"]]
        options += [{"timeout": 0}, {"max_retries": -1}, {"retry_delay": float("nan")}]
        for each in options:
            with self.subTest(each=each), self.assertRaises(InvalidRequestError) as caught:
                Memory(**each)
            self.assertNotIn("password", str(caught.exception))
        with self.assertRaises(TypeError):
            untyped: Any = Memory
            untyped(baseURL="http://host")

    def test_a_base_url_may_have_a_path(self) -> None:
        with FaultServer([FOUND]) as server:
            with Memory(api_key=KEY, base_url=f"{server.url}/proxy//") as memory:
                memory.get("mem_1")
        self.assertEqual(server.requests[0][1], "/proxy/v1/memories/mem_1")

    def test_on_response_is_called_with_the_response(self) -> None:
        headers = {"Idempotency-Status": "replayed", "X-Request-Id": "req_1", "RateLimit": "r=5"}
        seen: list[Response] = []
        with client_of({"fault": "drop"}, {**FOUND, "headers": headers}) as (memory, _):
            saved = memory.save(user_id="u", content="x", on_response=seen.append)
        (response,) = seen
        self.assertEqual(response.data, saved)
        self.assertEqual((response.status, response.attempts), (200, 2))
        self.assertEqual((response.request_id, response.idempotency_status), ("req_1", "replayed"))
        self.assertEqual(response.headers["ratelimit"], "r=5")

    def test_every_write_has_its_own_key(self) -> None:
        with client_of(FOUND) as (memory, server):
            for _ in range(3):
                memory.save(user_id="u", content="x")
        keys = {headers["Idempotency-Key"] for _, _, headers, _ in server.requests}
        self.assertEqual(len(keys), 3)


class Errors(unittest.TestCase):
    def errors(self) -> Iterator[MemoryServiceError]:
        body = {"error": "internal", "message": f"bad {KEY}", "requestId": "r"}
        script: Reply
        for script in ({"status": 500, "json": body}, {"fault": "drop"}, {"fault": "silent"}):
            with client_of(script, max_retries=0, timeout=0.25) as (memory, _):
                with self.assertRaises(MemoryServiceError) as caught:
                    memory.save(user_id="u", content="x", idempotency_key="k")
                yield caught.exception
        failed = {**COMPLETE, "status": "failed"}
        for status in (failed, {**COMPLETE, "status": "processing"}):
            with client_of({"status": 200, "json": status}) as (memory, _):
                with self.assertRaises(MemoryServiceError) as caught:
                    memory.wait_until_complete("mem_1", timeout=0.25)
                yield caught.exception

    def test_an_error_survives_pickling(self) -> None:
        for error in self.errors():
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual(type(copy), type(error))
            self.assertEqual((str(copy), vars(copy)), (str(error), vars(error)))

    def test_an_error_and_its_causes_do_not_contain_the_api_key(self) -> None:
        for error in self.errors():
            cause: BaseException | None = error
            while cause is not None:
                shown = f"{cause!r} {cause} {vars(cause)}"
                self.assertNotIn(KEY, shown)
                self.assertFalse(hasattr(cause, "request"), repr(cause))
                cause = cause.__cause__

    def test_the_client_does_not_show_the_api_key(self) -> None:
        with client_of(FOUND) as (memory, _):
            self.assertNotIn(KEY, f"{memory!r} {vars(memory)} {vars(memory.ingest)}")

    def test_a_refused_connection_names_the_reason(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        options: Any = {"api_key": KEY, "base_url": url, "retry_delay": 0}

        def call() -> None:
            with Memory(**options) as memory:
                memory.get("mem_1")

        async def call_async() -> None:
            async with AsyncMemory(**options) as memory:
                await memory.get("mem_1")

        for each in (call, lambda: asyncio.run(call_async())):
            with self.assertRaises(memory_service.ServiceConnectionError) as caught:
                try:
                    raise KeyError("an error of the caller")
                except KeyError:
                    each()
            error = caught.exception
            self.assertTrue(str(error).startswith(f"no response from {url}: [Errno "), str(error))
            self.assertIsInstance(error.__cause__, ConnectionRefusedError)
            self.assertEqual(error.attempts, 3)

    def test_a_host_that_cannot_be_looked_up_is_a_connection_error(self) -> None:
        options: Any = {"api_key": KEY, "base_url": "http://a..b", "retry_delay": 0}
        with Memory(**options) as memory:
            with self.assertRaises(memory_service.ServiceConnectionError):
                memory.get("mem_1")

        async def main() -> None:
            async with AsyncMemory(**options) as memory:
                with self.assertRaises(memory_service.ServiceConnectionError):
                    await memory.get("mem_1")

        asyncio.run(main())

    def test_the_body_of_an_error_is_kept(self) -> None:
        body = {"error": "invalid_request", "message": "no", "extra": 1}
        with client_of({"status": 400, "json": body}) as (memory, _):
            with self.assertRaises(InvalidRequestError) as caught:
                memory.get("mem_1")
        self.assertEqual(caught.exception.body, body)

    def test_an_answer_nested_too_deeply_for_python_is_an_error_of_the_service(self) -> None:
        for status in (200, 400):
            with client_of({"status": status, "text": "[" * 100_000}) as (memory, _):
                with self.assertRaises(MemoryServiceError) as caught:
                    memory.get("mem_1")
            self.assertEqual(caught.exception.code, "unexpected_answer")


class Waiting(unittest.TestCase):
    def test_backoff_doubles_up_to_8_s_less_a_quarter(self) -> None:
        from memory_service.attempts import wait_before_next
        from memory_service.errors import ServerError
        from memory_service.request import Settings, build_request

        settings = Settings(max_retries=10, api_key=KEY)
        request = build_request(settings, "GET /v1/memories/:id", "id", {"id": "mem_1"})
        waits: list[list[float | None]] = []
        for chance in (0.0, 1.0):
            with mock.patch("random.random", return_value=chance):
                error = ServerError("x", status=503)
                waits.append([wait_before_next(request, error, number) for number in range(1, 8)])
        self.assertEqual(waits[0], [0.5, 1, 2, 4, 8, 8, 8])
        self.assertEqual(waits[1], [0.375, 0.75, 1.5, 3, 6, 6, 6])

    def test_a_thousand_retries_are_possible(self) -> None:
        requests: list[httpx2.Request] = []

        def fail(request: httpx2.Request) -> httpx2.Response:
            requests.append(request)
            return httpx2.Response(503)

        http = httpx2.Client(transport=httpx2.MockTransport(fail))
        with Memory(api_key=KEY, http_client=http, max_retries=1100, retry_delay=0.0) as memory:
            with self.assertRaises(memory_service.ServerError):
                memory.get("mem_1")
        self.assertEqual(len(requests), 1101)

    def test_a_body_that_trickles_does_not_exceed_the_timeout(self) -> None:
        stop = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def trickle() -> None:
                client, _ = listener.accept()
                with client:
                    client.recv(65536)
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                    while not stop.wait(0.02):
                        try:
                            client.sendall(b" ")
                        except OSError:
                            return

            thread = threading.Thread(target=trickle)
            thread.start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            started = time.monotonic()
            with Memory(api_key=KEY, base_url=url, timeout=0.5, max_retries=0) as memory:
                with self.assertRaises(memory_service.ServiceTimeoutError):
                    memory.get("mem_1")
            elapsed = time.monotonic() - started
            stop.set()
            thread.join()
        self.assertLess(elapsed, 5)

    def test_an_error_of_on_status_ends_the_wait(self) -> None:
        def on_status(status: Any) -> None:
            raise StopIteration("enough")

        processing = {**COMPLETE, "status": "processing"}
        with client_of({"status": 200, "json": processing}) as (memory, _):
            with self.assertRaises((StopIteration, RuntimeError)):
                memory.wait_until_complete("mem_1", on_status=on_status)


class Clients(unittest.TestCase):
    def test_one_page_is_subscripted_and_its_iteration_does_not_fetch_it_again(self) -> None:
        page = {"status": 200, "json": {"items": [{"id": "mem_1"}], "nextCursor": None}}
        with client_of(page) as (memory, server):
            found = memory.list(user_id="u")
            self.assertEqual([one["id"] for one in found], ["mem_1"])
            self.assertEqual((found["items"], found["nextCursor"]), ([{"id": "mem_1"}], None))
            self.assertEqual(repr(found), "Pages({'items': [{'id': 'mem_1'}], 'nextCursor': None})")
        self.assertEqual(len(server.requests), 1)

    def test_iteration_fetches_pages_on_demand(self) -> None:
        page = {"items": [{"id": "mem_1"}, {"id": "mem_2"}], "nextCursor": "c"}
        with client_of({"status": 200, "json": page}) as (memory, server):
            for one in memory.list(user_id="u"):
                self.assertEqual(one["id"], "mem_1")
                break
        self.assertEqual(len(server.requests), 1)

    def test_iteration_inside_an_event_loop_blocks_but_works(self) -> None:
        page = {"status": 200, "json": {"items": [{"id": "mem_1"}], "nextCursor": None}}

        async def main() -> list[str]:
            with client_of(page) as (memory, _):
                return [one["id"] for one in memory.list(user_id="u")]

        self.assertEqual(asyncio.run(main()), ["mem_1"])

    def test_a_client_can_be_shared_between_threads(self) -> None:
        with client_of(FOUND) as (memory, server):
            threads = [threading.Thread(target=memory.get, args=("mem_1",)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(server.requests), 8)

    def test_a_service_on_this_machine_is_not_reached_through_a_proxy(self) -> None:
        async def call(url: str) -> None:
            async with AsyncMemory(api_key=KEY, base_url=url) as memory:
                await memory.get("mem_1")

        proxies = {"HTTP_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"}
        with mock.patch.dict(os.environ, proxies), client_of(FOUND) as (memory, server):
            memory.get("mem_1")
            asyncio.run(call(server.url.replace("127.0.0.1", "localhost")))
        self.assertEqual(len(server.requests), 2)

    @unittest.skipUnless(hasattr(os, "fork"), "the system cannot fork a process")
    def test_a_forked_process_has_its_own_connections(self) -> None:
        keep = {**FOUND, "headers": {"Connection": "keep-alive"}}
        # The server does not answer a second request on a connection.
        fork = multiprocessing.get_context("fork")
        codes: list[int | None] = []
        with FaultServer([keep]) as server, closing(asyncio.new_event_loop()) as loop:
            options = ClientOptions(api_key=KEY, base_url=server.url, timeout=5, max_retries=0)
            memory, on_loop = Memory(**options), AsyncMemory(**options)
            calls: list[Callable[[], object]] = [
                lambda: memory.get("mem_1"),
                lambda: loop.run_until_complete(on_loop.get("mem_1")),
            ]
            for call in calls:
                call()
                child = fork.Process(target=call)
                child.start()
                child.join()
                codes.append(child.exitcode)
            memory.close()
            loop.run_until_complete(on_loop.close())
        self.assertEqual((codes, len(server.requests)), ([0, 0], 4))

    def test_a_client_that_is_not_closed_leaves_no_open_socket(self) -> None:
        keep = {"Connection": "keep-alive"}
        with FaultServer([{**FOUND, "headers": keep}]) as server, warnings.catch_warnings():
            # A warning in a finalizer is not raised, but reported.
            warnings.simplefilter("error", ResourceWarning)
            with mock.patch("sys.unraisablehook") as reported:
                Memory(api_key=KEY, base_url=server.url).get("mem_1")
                gc.collect()
        reported.assert_not_called()

    def test_a_given_http_client_stays_open(self) -> None:
        with FaultServer([FOUND]) as server, httpx2.Client() as http:
            for _ in range(2):
                Memory(api_key=KEY, base_url=server.url, http_client=http).get("mem_1")
                gc.collect()
        self.assertEqual(len(server.requests), 2)

    def test_ingest_can_be_used_alone(self) -> None:
        with FaultServer([FOUND]) as server:
            ingest = Memory(api_key=KEY, base_url=server.url).ingest
            gc.collect()
            self.assertEqual(ingest.document(user_id="u", data={"text": "x"})["memoryId"], "mem_1")

    def test_async_calls_run_concurrently_and_can_be_cancelled(self) -> None:
        async def main() -> None:
            with FaultServer([FOUND, FOUND, {"fault": "silent"}]) as server:
                async with AsyncMemory(api_key=KEY, base_url=server.url) as memory:
                    both = await asyncio.gather(memory.get("mem_1"), memory.get("mem_1"))
                    self.assertEqual([one["content"] for one in both], ["x", "x"])
                    call = asyncio.create_task(memory.get("mem_1"))
                    while len(server.requests) < 3:
                        await asyncio.sleep(0.01)
                    call.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await call

        asyncio.run(main())

    def test_a_cancellation_is_not_lost_when_the_response_arrives_at_the_same_time(self) -> None:
        async def main() -> None:
            def answer(_: httpx2.Request) -> httpx2.Response:
                call.cancel()
                return httpx2.Response(200, json=MEMORY)

            async def get() -> None:
                await memory.get("mem_1")
                await asyncio.sleep(0)

            http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
            async with AsyncMemory(api_key=KEY, http_client=http) as memory:
                call = asyncio.create_task(get())
                with self.assertRaises(asyncio.CancelledError):
                    await call

        asyncio.run(main())

    def test_an_async_client_can_be_used_on_several_event_loops(self) -> None:
        keep = {**FOUND, "headers": {"Connection": "keep-alive"}}
        with FaultServer([keep]) as server:
            memory = AsyncMemory(api_key=KEY, base_url=server.url)

            async def call() -> None:
                await asyncio.gather(memory.get("mem_1"), memory.get("mem_1"))

            async def close() -> None:
                await memory.get("mem_1")
                await memory.close()
                with self.assertRaises(RuntimeError):
                    await memory.get("mem_1")

            for _ in range(3):
                asyncio.run(call())
            asyncio.run(close())
        self.assertEqual(len(server.requests), 7)

    def test_an_async_client_can_be_closed_on_another_event_loop(self) -> None:
        with FaultServer([{**FOUND, "headers": {"Connection": "keep-alive"}}]) as server:
            memory = AsyncMemory(api_key=KEY, base_url=server.url)

            async def call() -> None:
                await memory.get("mem_1")

            asyncio.run(call())
            asyncio.run(memory.close())
            with self.assertRaises(RuntimeError):
                asyncio.run(call())

    def test_event_loops_in_several_threads_keep_their_connections(self) -> None:
        with FaultServer([FOUND]) as server, mock.patch(
            "httpx2.AsyncClient", wraps=httpx2.AsyncClient
        ) as created:
            memory = AsyncMemory(api_key=KEY, base_url=server.url)
            turns = threading.Barrier(2, timeout=60)

            async def call() -> None:
                for _ in range(4):
                    await memory.get("mem_1")
                    turns.wait()

            threads = [threading.Thread(target=asyncio.run, args=(call(),)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(server.requests), 8)
        # The thread that created the object has one, too.
        self.assertEqual(created.call_count, 3)

    def test_an_async_on_status_is_awaited(self) -> None:
        seen: list[str] = []

        async def on_status(status: memory_service.IngestStatus) -> None:
            await asyncio.sleep(0)
            seen.append(status["status"])

        async def main() -> None:
            with FaultServer([{"status": 200, "json": COMPLETE}]) as server:
                async with AsyncMemory(api_key=KEY, base_url=server.url) as memory:
                    await memory.wait_until_complete("mem_1", on_status=on_status)

        asyncio.run(main())
        self.assertEqual(seen, ["complete"])

    def test_methods_have_their_signature_and_documentation(self) -> None:
        with client_of(FOUND) as (memory, _):
            self.assertEqual(list(inspect.signature(memory.save).parameters), ["content", "fields"])
            self.assertTrue((memory.save.__doc__ or "").startswith("Saves text"))
        self.assertTrue((Memory.search.__doc__ or "").startswith("Searches"))
