"""Pages, and iteration over all of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator
from collections.abc import Iterator, Mapping
from typing import Any, Generic, Literal, TypeVar, overload

from .errors import ServerError
from .transport import run

T = TypeVar("T")
Item = TypeVar("Item")


class AsyncPages(Generic[T, Item]):
    """Await it for one page, or iterate with ``async for`` over the items of all pages."""

    def __init__(self, fetch: Callable[[Mapping[str, str]], Coroutine[Any, Any, T]]) -> None:
        self.fetch = fetch

    def __await__(self) -> Generator[Any, None, T]:
        return self.fetch({}).__await__()

    def __aiter__(self) -> AsyncIterator[Item]:
        return self.walk(None)

    async def walk(self, page: Any) -> AsyncGenerator[Item, None]:
        page, seen = page or await self, set[str]()
        while True:
            for item in page["items"]:
                yield item
            cursor = page["nextCursor"]
            if cursor is None:
                return
            # A service that repeats its cursors must not keep the caller here forever.
            if cursor in seen:
                raise ServerError("the service returned a cursor twice")
            seen.add(cursor)
            page = await self.fetch({"cursor": cursor})


class Pages(Generic[Item]):
    """A page, ``{"items", "nextCursor"}``. Iteration yields its items and those of later pages."""

    def __init__(self, pages: AsyncPages[Any, Item]) -> None:
        self._pages, self._page = pages, run(pages)

    def __repr__(self) -> str:
        return f"Pages({self._page!r})"

    @overload
    def __getitem__(self, name: Literal["items"]) -> list[Item]: ...
    @overload
    def __getitem__(self, name: Literal["nextCursor"]) -> str | None: ...
    def __getitem__(self, name: str) -> Any:
        return self._page[name]

    def __iter__(self) -> Iterator[Item]:
        walk = self._pages.walk(self._page)
        try:
            while True:
                yield run(walk.__anext__())
        except StopAsyncIteration:
            return
        finally:
            run(walk.aclose())
