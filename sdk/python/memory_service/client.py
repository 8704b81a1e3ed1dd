"""What all methods share, and what makes them block or not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from .attempts import Progress, with_retries
from .pages import AsyncPages, Pages
from .request import Settings, build_request
from .transport import Transport, run

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")
InSync = TypeVar("InSync")
InAsync = TypeVar("InAsync")
Answer = Coroutine[Any, Any, T]


class Client:
    def __init__(self, settings: Settings, transport: Transport) -> None:
        self._settings, self._transport = settings, transport

    async def _call(
        self, route: str, required_field: str, given: Mapping[str, Any], **more: Any
    ) -> Any:
        request = build_request(self._settings, route, required_field, {**more, **given})
        response = await with_retries(self._transport, request, Progress())
        if "on_response" in given:
            given["on_response"](response)
        return response.data

    def _pages(
        self, route: str, required_field: str, query: Mapping[str, Any]
    ) -> AsyncPages[Any, Any]:
        return AsyncPages(lambda cursor: self._call(route, required_field, {**query, **cursor}))


class Sync(Client): ...


class Async(Client): ...


class Method(Generic[P, InSync, InAsync]):
    """A method that a client which blocks runs to its end."""

    def __init__(self, method: Callable[..., Any], finish: Callable[[Any], Any]) -> None:
        self.method, self.finish = method, finish
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, client: Sync, owner: type) -> Callable[P, InSync]: ...
    @overload
    def __get__(self, client: Async, owner: type) -> Callable[P, InAsync]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Any]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        method = self.method if client is None else self.method.__get__(client)
        if not isinstance(client, Sync):
            return method

        @functools.wraps(method)
        def blocking(*args: Any, **options: Any) -> Any:
            return self.finish(method(*args, **options))

        return blocking


def method(
    method: Callable[Concatenate[Any, P], Answer[T]],
) -> Method[P, T, Answer[T]]:
    return Method(method, run)


def paged(
    method: Callable[Concatenate[Any, P], AsyncPages[T, Item]],
) -> Method[P, Pages[Item], AsyncPages[T, Item]]:
    return Method(method, Pages)
