"""Claude's memory tool, with the results of anthropic's ``BetaLocalFilesystemMemoryTool``.

A file is a memory. Its path is the external id, and its text the content without the last newline.
"""

from asyncio import get_running_loop
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from posixpath import normpath
from typing import Any

from anthropic.lib.tools import BetaFunctionToolResultType as Result, ToolError
from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types import beta
from memory_service import Memory, MemoryItem, MemoryServiceError

ROOT = "/memories"
HINT = ". Please provide a valid path."
# The threads of asyncio also look up hosts, for which a service that hangs must not wait.
THREADS = ThreadPoolExecutor(32, "memory-service")


class MemoryTool(BetaAbstractMemoryTool):
    """The files of one user, for ``client.beta.messages.tool_runner(tools=[tool], …)``."""

    def __init__(self, memory: Memory, *, user_id: str, source: str = "claude") -> None:
        super().__init__()
        self.memory, self.user_id, self.source = memory, user_id, source

    def execute(self, command: beta.BetaMemoryTool20250818Command) -> Result:
        try:
            return super().execute(command)
        except MemoryServiceError as error:
            if error.status in (400, 404, 412, 413):  # The model can do something about these.
                raise ToolError(str(error)) from error
            raise

    def view(self, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
        given, path = command.path, checked(command.path)
        files = self.existing(given, HINT)
        if path in files:
            lines = numbered(text_of(files[path]), command.view_range)
            return f"Here's the content of {given} with line numbers:\n{lines}"
        header = "Here're the files and directories up to 2 levels deep in"
        lines = "".join(f"\n{size}\t{given}{name}" for name, size in listing(path, files))
        return f"{header} {given}, excluding hidden items:{lines}"

    def create(self, command: beta.BetaMemoryTool20250818CreateCommand) -> str:
        path = checked(command.path)
        self.require_unused(path, f"File {command.path} already exists")
        self.save(path, required(command.file_text, "file_text"))
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: beta.BetaMemoryTool20250818StrReplaceCommand) -> str:
        file, old = self.file(command.path), command.old_str
        text, failure = text_of(file), "No replacement was performed"
        found = [at for at in range(len(text) + 1) if text.startswith(old, at)]
        lines = [text.count("\n", 0, at) + 1 for at in found]
        if not lines:
            where = f"did not appear verbatim in {command.path}."
            raise ToolError(f"{failure}, old_str `{old}` {where}")
        if text.count(old) > 1:
            where = f"in lines: {', '.join(map(str, lines))}. Please ensure it is unique"
            raise ToolError(f"{failure}. Multiple occurrences of old_str `{old}` {where}")
        changed = text.replace(old, required(command.new_str, "new_str"))
        self.edit(file, changed)
        message = "The memory file has been edited. Here is the snippet showing the change"
        snippet = numbered(changed, [lines[0] - 2, lines[0] + 2])
        return f"{message} (with line numbers):\n{snippet}"

    def insert(self, command: beta.BetaMemoryTool20250818InsertCommand) -> str:
        file, at = self.file(command.path), command.insert_line
        text = text_of(file)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= at <= len(lines):
            message = f"Invalid `insert_line` parameter: {at}. It should be within the range"
            raise ToolError(f"{message} [0, {len(lines)}].")
        lines.insert(at, command.insert_text.rstrip("\n"))
        text = "\n".join(lines)
        self.edit(file, text if text.endswith("\n") else f"{text}\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: beta.BetaMemoryTool20250818DeleteCommand) -> str:
        if checked(command.path) == ROOT:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        for file in self.existing(command.path).values():
            self.memory.delete(file["id"])
        return f"Successfully deleted {command.path}"

    def rename(self, command: beta.BetaMemoryTool20250818RenameCommand) -> str:
        old, new = checked(command.old_path), checked(command.new_path)
        if old == ROOT:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        self.require_unused(new, f"The destination {command.new_path} already exists")
        for path, file in self.existing(command.old_path).items():
            self.save(
                new + path.removeprefix(old), text_of(file), metadata=file["metadata"],
                occurred_at=file["occurredAt"], expires_at=file["expiresAt"],
            )
            self.memory.delete(file["id"], if_version=file["version"])
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def files(self, path: str) -> dict[str, MemoryItem]:
        """Returns the file with this path, or the files in this directory."""
        user_id, source = self.user_id, self.source
        found = self.memory.list(user_id=user_id, source=source, external_id=path)["items"]
        found = found or [*self.memory.list(user_id=user_id, source=source, limit=100)]
        files = {file["externalId"] or "": file for file in found}
        return {name: files[name] for name in files if f"{name}/".startswith(f"{path}/")}

    def existing(self, given: str, hint: str = "") -> dict[str, MemoryItem]:
        if (files := self.files(checked(given))) or checked(given) == ROOT:
            return files
        raise ToolError(f"The path {given} does not exist{hint}")

    def file(self, given: str) -> MemoryItem:
        if file := self.existing(given, HINT).get(checked(given)):
            return file
        raise ToolError(f"The path {given} is not a file.")

    def require_unused(self, path: str, message: str) -> None:
        if path == ROOT or self.files(path):
            raise ToolError(message)

    def save(self, path: str, text: str, **kept: Any) -> None:
        self.memory.save(
            user_id=self.user_id, source=self.source, external_id=path, content=f"{text}\n", **kept
        )

    def edit(self, file: MemoryItem, text: str) -> None:
        self.memory.update(file["id"], content=f"{text}\n", if_version=file["version"])


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """Runs the commands of a ``MemoryTool`` in threads, for ``AsyncAnthropic``."""

    def __init__(self, tool: MemoryTool) -> None:
        super().__init__()
        self.tool = tool

    async def execute(self, command: beta.BetaMemoryTool20250818Command) -> Result:
        run = copy_context().run
        return await get_running_loop().run_in_executor(THREADS, run, self.tool.execute, command)

    view = create = str_replace = insert = delete = rename = execute


def required(text: str | None, name: str) -> str:
    """The tool runner does not check that the model has passed all arguments."""
    if text is None:
        raise ToolError(f"{name} is required")
    return text


def checked(path: str) -> str:
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    normal = normpath(f"{ROOT}/{path.removeprefix(ROOT)}")
    if f"{normal}/".startswith(f"{ROOT}/"):
        return normal
    raise ToolError(f"Path {path} would escape {ROOT} directory")


def text_of(file: MemoryItem) -> str:
    return file["content"].removesuffix("\n")


def numbered(text: str, view_range: list[int] | None) -> str:
    first, last = view_range if view_range and len(view_range) == 2 else (1, -1)
    lines = text.split("\n")[: None if last == -1 else last]
    return "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, 1) if n >= first)


def listing(folder: str, files: dict[str, MemoryItem]) -> list[tuple[str, str]]:
    """Names and sizes, two levels deep, sorted by the names in each directory."""
    entries: dict[tuple[str, ...], tuple[str, str]] = {("",): ("", "4K")}
    for path, file in files.items():
        parts = tuple(path.removeprefix(folder).split("/"))
        for entry in (parts[:2], parts[:3]):
            if not any(part.startswith(".") for part in entry):
                name, size = "/".join(entry), size_of(text_of(file))
                entries[entry] = (name, size) if entry == parts else (f"{name}/", "4K")
    return [entries[entry] for entry in sorted(entries)]


def size_of(text: str) -> str:
    size, units = float(len(text.encode())), "BKMG"
    while size >= 1024:
        size, units = size / 1024, units[1:]
    return f"{size:.0f}{units[0]}" if size.is_integer() else f"{size:.1f}{units[0]}"
