"""Random batches must have the results of ``InMemoryStore``. Other tests cover what it lacks."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
import unittest
import uuid
from collections import Counter
from typing import Any

import httpx2
from langgraph.store.base import (
    GetOp, InvalidNamespaceError, Item, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp,
)
from langgraph.store.memory import InMemoryStore
from memory_service import InvalidRequestError, Memory

from memory_service_langgraph import MemoryServiceStore

SEQUENCES = int(os.environ.get("ADAPTER_SEQUENCES", "60"))
LABELS = ["a", "b", "é", "x y"]
KEYS = ["k1", "k/2", "3", "ключ"]
STRINGS = ["red", "blue", "", "1", "x" * 300, "nul\0", "😀", "\ud83d", "a\n\nb\t\r\f\b\x0b\\n\\"]
SCALARS: list[Any] = [None, True, False, 0, 1, 1.5, -2, 10**20, *STRINGS]


class Batches:
    """Generates batches about few items. All namespaces of a test begin with its own label."""

    def __init__(self, seed: int, root: str) -> None:
        self.random, self.root = random.Random(seed), root

    def namespace(self, shortest: int = 1) -> tuple[str, ...]:
        more = self.random.choices(LABELS[:2], k=self.random.randint(shortest, 3) - 1)
        return (self.root, *more)

    def scalar(self) -> Any:
        return self.random.choice(SCALARS)

    def value(self) -> dict[str, Any]:
        nested = {"list": [self.scalar(), self.scalar()], "deep": {"in": self.scalar()}}
        fields = {"color": self.scalar(), "size": self.random.randint(-2, 3), **nested}
        fields |= {"constructor": self.scalar(), "$odd]": self.scalar()}
        return {
            name: fields[name] for name in fields if name == "size" or self.random.random() < 0.6
        }

    def filter(self) -> dict[str, Any] | None:
        order = self.random.choice(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"])
        return self.random.choice([
            None,
            None,
            {"color": self.scalar()},
            {"color": {"$ne": self.scalar()}},
            {"size": {order: self.random.choice([0, 1.0, -1])}},
            {"color": self.scalar(), "size": self.random.randint(0, 1)},
            {"list": [self.scalar(), self.scalar()]},
            {"deep": {"in": self.scalar()}},
            {"constructor": self.scalar()},
            {"$odd]": self.scalar()} if order == "$eq" else {"missing": "red"},
        ])

    def op(self) -> Op:
        kind, key = self.random.random(), self.random.choice(KEYS)
        if kind < 0.5:
            value = self.value() if self.random.random() < 0.8 else None
            ttl = self.random.choice([None, None, 0, 60.0])
            return PutOp(self.namespace(), key, value, ttl=ttl if value else None)
        if kind < 0.65:
            return GetOp(self.namespace(), key, self.random.random() < 0.5)
        if kind < 0.85:
            return SearchOp(self.namespace(), self.filter(), limit=1000)
        path = tuple(self.random.choices(["a", "b", "*"], k=self.random.randint(0, 2)))
        conditions = [MatchCondition("prefix", (self.root, *path))]
        if self.random.random() < 0.5:
            conditions.append(MatchCondition("suffix", path))
        depth = self.random.choice([None, None, 1, 2])
        return ListNamespacesOp(tuple(conditions), depth, limit=self.random.choice([2, 100]))

    def next(self) -> list[Op]:
        return [self.op() for _ in range(self.random.randint(1, 5))]


def expected_from(oracle: InMemoryStore, batch: list[Op]) -> list[Any]:
    """``InMemoryStore`` has no ttl: an item that has expired is one that was deleted."""
    gone: list[Op] = []
    for op in batch:
        if isinstance(op, PutOp) and op.ttl == 0:
            op = PutOp(op.namespace, op.key, None)
        gone.append(op)
    results: list[Any] = []
    for op in gone:
        # It lists a namespace even if an item in it was only looked for, or deleted.
        for namespace in [name for name, items in oracle._data.items() if not items]:
            del oracle._data[namespace]
        results += [None] if isinstance(op, PutOp) else oracle.batch([op])
    oracle.batch([op for op in gone if isinstance(op, PutOp)])
    return results


def facts(result: Any) -> Any:
    """What must be equal: all but the times, and the order of a search."""
    if isinstance(result, Item):
        return (result.namespace, result.key, result.value)
    if isinstance(result, list) and any(isinstance(one, Item) for one in result):
        return sorted(map(facts, result), key=lambda one: one[:2])
    return result


class Differential(unittest.TestCase):
    def test_random_batches_have_the_results_of_the_store_in_memory(self) -> None:
        found: Counter[str] = Counter()
        with Memory() as memory:
            for seed in range(SEQUENCES):
                root = str(uuid.uuid4())
                store = MemoryServiceStore(memory, user_labels=1 + seed % 3)
                self.compare(store, Batches(seed, root), found)
        print(f"{SEQUENCES} sequences of batches, results: {dict(found)}")
        self.assertEqual(len(found), 4)

    def compare(self, store: MemoryServiceStore, batches: Batches, found: Counter[str]) -> None:
        oracle = InMemoryStore()
        for _ in range(8):
            batch = batches.next()
            expected = expected_from(oracle, batch)
            results = store.batch(batch)
            for op, want, have in zip(batch, expected, results, strict=True):
                self.assertEqual(facts(have), facts(want), f"{batch!s:.600}")
                found[type(op).__name__] += bool(want) or isinstance(op, PutOp)


class Store(unittest.TestCase):
    memory: Memory

    @classmethod
    def setUpClass(cls) -> None:
        cls.memory = Memory()
        cls.addClassCleanup(cls.memory.close)

    def setUp(self) -> None:
        self.user = str(uuid.uuid4())
        self.store = MemoryServiceStore(self.memory)

    def test_an_item_is_a_memory_of_the_user(self) -> None:
        self.store.put((self.user, "facts"), "k", {"text": "Plays the cello"})
        (one,) = self.memory.search(user_id=self.user, query="cello")["items"]
        self.assertEqual((one["source"], one["externalId"]), (f"{self.user}.facts", "k"))
        self.assertEqual(one["content"], '{"text":"Plays the cello"}')
        self.store.put((self.user, "facts"), "k", {"text": "Plays the violin"})
        item = self.store.get((self.user, "facts"), "k")
        assert item is not None
        self.assertEqual(item.value, {"text": "Plays the violin"})
        self.assertLess(item.created_at, item.updated_at)

    def test_a_memory_that_another_client_has_edited_is_still_an_item(self) -> None:
        for content, value in (
            ("Plays", {"text": "Plays"}),
            ("7", {"text": "7"}),
            ('{\n  "text": "a\\nb"\n}', {"text": "a\nb"}),
        ):
            self.store.put((self.user, "facts"), "k", {"text": "Plays the cello"})
            (one,) = self.memory.list(user_id=self.user)["items"]
            self.memory.update(one["id"], content=content)
            (item,) = self.store.search((self.user,))
            self.assertEqual(item.value, value)

    def test_a_query_that_is_not_valid_unicode_finds_the_first_word_of_a_line(self) -> None:
        self.store.put((self.user, "facts"), "list", {"text": "Food:\nPeanuts are forbidden"})
        self.store.put((self.user, "facts"), "snack", {"text": "Likes peanuts"})
        found = self.store.search((self.user,), query="\0peanuts \ud83d")
        self.assertEqual({one.key for one in found}, {"list", "snack"})

    def test_a_query_ranks_and_a_filter_restricts_what_it_finds(self) -> None:
        for number in range(150):
            value = {"text": f"tea number {number}", "kind": "rare" if number == 3 else "usual"}
            self.store.put((self.user, "facts"), str(number), value)
        self.store.put((self.user, "facts"), "cello", {"text": "cello", "kind": "rare"})
        self.store.put((self.user, "hidden"), "tea", {"text": "tea"}, index=False)
        found = self.store.search((self.user,), query="tea", filter={"kind": "rare"})
        self.assertEqual([one.key for one in found], ["3"])
        self.assertGreater(found[0].score or 0, 0)
        found = self.store.search((self.user,), query="tea", limit=40, offset=60)
        self.assertEqual(len(found), 40)
        self.assertEqual(self.store.search((self.user, "hidden"), query="tea"), [])
        self.assertEqual(len(self.store.search((self.user, "hidden"))), 1)

    def test_pages_of_a_search_without_a_query_are_complete(self) -> None:
        for number in range(7):
            self.store.put((self.user, str(number)), "k", {"n": number})
        pages = [self.store.search((self.user,), limit=3, offset=at) for at in (0, 3, 6)]
        self.assertEqual([one.value["n"] for page in pages for one in page], [6, 5, 4, 3, 2, 1, 0])

    def test_other_memories_are_not_items(self) -> None:
        self.memory.save(user_id=self.user, content="Plays the cello")
        self.assertEqual(self.store.search((self.user,)), [])
        self.assertEqual(self.store.search((self.user,), query="cello"), [])
        self.assertEqual(self.store.list_namespaces(prefix=(self.user,)), [])

    def test_an_item_that_another_client_deletes_at_the_same_time_can_be_deleted(self) -> None:
        def interfere(request: httpx2.Request) -> None:
            if request.method == "DELETE":
                self.memory.delete_all(user_id=self.user)

        self.store.put((self.user,), "k", {"text": "Plays the cello"})
        hooked = httpx2.Client(event_hooks={"request": [interfere]})
        with Memory(http_client=hooked) as memory:
            MemoryServiceStore(memory).delete((self.user,), "k")
        self.assertIsNone(self.store.get((self.user,), "k"))

    def test_reading_postpones_the_expiry_unless_told_otherwise(self) -> None:
        store = MemoryServiceStore(self.memory, ttl={"default_ttl": 2 / 60})
        for key in ("read", "unread", "kept"):
            store.put((self.user,), key, {"text": key}, **({"ttl": None} if key == "kept" else {}))
        while store.get((self.user,), "unread", refresh_ttl=False):
            store.get((self.user,), "read")
            time.sleep(0.1)
        self.assertEqual({one.key for one in store.search((self.user,))}, {"read", "kept"})

    def test_what_the_service_cannot_do_is_an_error(self) -> None:
        deep = MemoryServiceStore(self.memory, user_labels=2)
        with self.assertRaisesRegex(NotImplementedError, "needs the first 2 labels"):
            deep.search((self.user,), query="tea")
        with self.assertRaisesRegex(NotImplementedError, "at most 100 items"):
            self.store.search((self.user,), query="tea", limit=101)
        with self.assertRaises(NotImplementedError):
            self.store.put((self.user,), "k", {"text": "x"}, index=["text"])
        with self.assertRaisesRegex(InvalidRequestError, "content: must be at most"):
            self.store.put((self.user,), "k", {"text": "x" * 70_000})
        with self.assertRaises(InvalidNamespaceError):
            self.store.batch([GetOp(("a.b",), "k")])

    def test_a_service_that_hangs_does_not_keep_asyncio_from_looking_up_hosts(self) -> None:
        hangs = threading.Event()

        def answer(_: httpx2.Request) -> httpx2.Response:
            hangs.wait()
            return httpx2.Response(200, json={"items": [], "nextCursor": None})

        async def main() -> None:
            calls = asyncio.gather(*(store.aget((self.user,), "k") for _ in range(32)))
            await asyncio.sleep(0)
            try:
                lookup = asyncio.get_running_loop().getaddrinfo("localhost", 80)
                self.assertTrue(await asyncio.wait_for(lookup, 10))
            finally:
                hangs.set()
                await calls

        http = httpx2.Client(transport=httpx2.MockTransport(answer))
        store = MemoryServiceStore(Memory(http_client=http))
        asyncio.run(main())

    def test_asyncio(self) -> None:
        async def main() -> None:
            async def put(key: str) -> None:
                await self.store.aput((self.user,), key, {"text": key})

            await asyncio.gather(*(put(str(number)) for number in range(10)))
            self.assertEqual(len(await self.store.asearch((self.user,))), 10)
            await self.store.adelete((self.user,), "1")
            self.assertIsNone(await self.store.aget((self.user,), "1"))
            self.assertEqual(await self.store.alist_namespaces(prefix=(self.user,)), [(self.user,)])

        asyncio.run(main())
