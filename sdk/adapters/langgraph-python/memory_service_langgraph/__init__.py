"""A LangGraph store in a memory service.

An item is a memory: its value is the content, as JSON; its key is the external id; its namespace is
the source. The first labels of the namespace are the user.
"""

import json
import operator
import re
from asyncio import get_running_loop
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from datetime import datetime, timedelta, timezone
from itertools import islice, takewhile
from typing import Any

from langgraph.store.base import (
    BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchItem,
    SearchOp, TTLConfig, validate_op_namespace,
)
from memory_service import Memory, MemoryItem, NotFoundError, PreconditionFailedError

Namespace = tuple[str, ...]
# Metadata: all prefixes of the namespace; minutes to live; whether queries find the item.
NAMESPACE, TTL, INDEX = "$namespace", "$ttl", "$index"
UNACCEPTED = "[\0\ud800-\udfff]"  # U+0000 and lone surrogates, which the service does not accept.
CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# The threads of asyncio also look up hosts, for which a service that hangs must not wait.
THREADS = ThreadPoolExecutor(32, "memory-service")
MOST = 100  # The largest number of results of a search of the service.
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq, "$ne": operator.ne,
    "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le,
}


class MemoryServiceStore(BaseStore):
    """The first ``user_labels`` labels of a namespace are the id of the user whose memories its
    items are: with ``("ada", "preferences")``, ``ada``; with ``("memories", "ada")`` and
    ``user_labels=2``, ``memories.ada``."""

    supports_ttl = True

    def __init__(
        self, memory: Memory, *, user_labels: int = 1, ttl: TTLConfig | None = None
    ) -> None:
        self.memory, self.user_labels, self.ttl_config = memory, user_labels, ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads first, and then writes the last put of each item, as ``InMemoryStore`` does."""
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
        results = [self.read(op) for op in given]
        puts = {(op.namespace, op.key): op for op in given if isinstance(op, PutOp)}
        for op in puts.values():
            self.put_item(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        run = copy_context().run
        return await get_running_loop().run_in_executor(THREADS, run, self.batch, ops)

    def read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self.find(op.namespace, op.key)
            is_there = found and self.refresh(found, op.refresh_ttl)
            return Item(**facts_of(found)) if found and is_there else None
        if isinstance(op, SearchOp):
            return self.search_items(op)
        return self.namespaces(op) if isinstance(op, ListNamespacesOp) else None

    def put_item(self, op: PutOp) -> None:
        if op.value is None:
            if found := self.find(op.namespace, op.key):
                # Another client may have deleted it by now.
                with suppress(NotFoundError):
                    self.memory.delete(found["id"])
            return
        if isinstance(op.index, list):
            raise NotImplementedError("index: either the whole value is searchable or nothing")
        metadata = dict(filter(is_filterable, op.value.items()))
        metadata[NAMESPACE] = [".".join(op.namespace[:n]) for n in range(1, len(op.namespace) + 1)]
        metadata[INDEX] = op.index is not False
        metadata |= {} if op.ttl is None else {TTL: op.ttl}
        self.memory.save(
            user_id=self.user(op.namespace),
            source=".".join(op.namespace),
            external_id=op.key,
            content=json_of(op.value),
            metadata=metadata,
            expires_at=None if op.ttl is None else in_minutes(op.ttl),
        )

    def search_items(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.filter or {}
        found = self.ranked(op) if op.query else self.listed(op.namespace_prefix, wanted)
        matching = (one for one in found if has_fields(value_of(one), wanted))
        page = [*islice(matching, op.offset, op.offset + op.limit)]
        kept = (one for one in page if self.refresh(one, op.refresh_ttl))
        return [SearchItem(**facts_of(one), score=one.get("score")) for one in kept]

    def ranked(self, op: SearchOp) -> Iterator[Mapping[str, Any]]:
        if len(op.namespace_prefix) < self.user_labels or op.offset + op.limit > MOST:
            raise NotImplementedError(
                f"a search with a query needs the first {self.user_labels} labels of the namespace,"
                f" and finds at most {MOST} items"
            )
        found = self.memory.search(
            user_id=self.user(op.namespace_prefix),
            query=re.sub(UNACCEPTED, " ", op.query or "")[-1000:],
            metadata={**metadata_filter(op.namespace_prefix, op.filter or {}), INDEX: True},
            limit=MOST,
        )
        return iter(found["items"])

    def listed(self, prefix: Namespace, wanted: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Without the labels of a user, reads the memories of every user that may match."""
        users: Iterable[str] = [self.user(prefix)]
        if len(prefix) < self.user_labels:
            every = (user["userId"] for user in self.memory.users(limit=MOST))
            users = [user for user in every if tuple(user.split("."))[: len(prefix)] == prefix]
        where = metadata_filter(prefix, wanted)
        for user in users:
            listed = self.memory.list(user_id=user, metadata=where, limit=MOST)
            yield from (one for one in listed if NAMESPACE in one["metadata"])

    def namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        prefixes = [one.path for one in conditions if one.match_type == "prefix"]
        known = tuple(takewhile(lambda label: label != "*", prefixes[0] if prefixes else ()))
        every = {facts_of(one)["namespace"] for one in self.listed(known, {})}
        matching = (one for one in every if all(matches(one, each) for each in conditions))
        return sorted({one[: op.max_depth] for one in matching})[op.offset : op.offset + op.limit]

    def find(self, namespace: Namespace, key: str) -> MemoryItem | None:
        user_id, source = self.user(namespace), ".".join(namespace)
        page = self.memory.list(user_id=user_id, source=source, external_id=key)
        return next(iter(page["items"]), None)

    def user(self, namespace: Namespace) -> str:
        return ".".join(namespace[: self.user_labels])

    def refresh(self, found: Mapping[str, Any], wanted: bool) -> bool:
        """Postpones the expiry of an item. Returns False if it has been deleted."""
        if wanted and (minutes := found["metadata"].get(TTL)) is not None:
            expires_at, version = in_minutes(minutes), found["version"]
            try:
                self.memory.update(found["id"], expires_at=expires_at, if_version=version)
            except PreconditionFailedError:
                pass  # Another client wrote the item and so its expiry.
            except NotFoundError:
                return False
        return True


def in_minutes(minutes: float) -> datetime:
    return datetime.now(timezone.utc) + timedelta(minutes=minutes)


def facts_of(found: Mapping[str, Any]) -> dict[str, Any]:
    times = {"created_at": found["createdAt"], "updated_at": found["updatedAt"]}
    return {
        "namespace": tuple(found["source"].split(".")),
        "key": found["externalId"],
        "value": value_of(found),
        **{name: datetime.fromisoformat(at.replace("Z", "+00:00")) for name, at in times.items()},
    }


def json_of(value: Mapping[str, Any]) -> str:
    """JSON with line breaks and tabs instead of escapes, because searches take the ``n`` of
    ``\\n`` for the first letter of the next word."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = re.sub(r"\\(.)", lambda escape: CONTROLS.get(escape[1], escape[0]), text)
    return text.encode(errors="backslashreplace").decode()  # Escapes lone surrogates.


def value_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Another client may have replaced the JSON with plain text."""
    try:
        value: Any = json.loads(found["content"], strict=False)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"text": found["content"]}


def is_filterable(field: tuple[str, Any]) -> bool:
    """Whether the service can filter by the field. The store filters by the others itself."""
    name, value = field
    is_name = re.fullmatch(r"(?!constructor$|prototype$)[A-Za-z][\w-]*", name, re.ASCII)
    is_text = isinstance(value, str) and re.search(UNACCEPTED, value) is None
    return bool(is_name) and is_text and 0 < len(value) <= 256


def metadata_filter(prefix: Namespace, wanted: Mapping[str, Any]) -> dict[str, str]:
    where = dict(filter(is_filterable, wanted.items()))
    return {**where, NAMESPACE: ".".join(prefix)} if prefix else where


def matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path, extra = condition.path, len(namespace) - len(condition.path)
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[extra:]
    return extra >= 0 and all(wanted in ("*", label) for label, wanted in zip(labels, path))


def has_fields(value: dict[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(satisfies(value.get(name), each) for name, each in wanted.items())


def satisfies(value: Any, wanted: Any) -> bool:
    """Whether a part of a value satisfies a filter, which may contain operators."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(compare(value, *each) for each in wanted.items())
        return isinstance(value, dict) and has_fields(value, wanted)
    if isinstance(wanted, (list, tuple)):
        is_list = isinstance(value, list) and len(value) == len(wanted)
        return is_list and all(map(satisfies, value, wanted))
    return bool(value == wanted)


def compare(value: Any, name: str, wanted: Any) -> bool:
    if name not in COMPARE:
        raise ValueError(f"unsupported operator: {name}")
    try:
        is_order = name not in ("$eq", "$ne")
        values = (float(value), float(wanted)) if is_order else (value, wanted)
        return bool(COMPARE[name](*values))
    except (TypeError, ValueError):
        return False
