"""Random sequences of commands must have the results of the vendor's tool on the file system."""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
import unittest
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError
from memory_service import Memory

from memory_service_claude import MemoryTool

SEQUENCES = int(os.environ.get("ADAPTER_SEQUENCES", "100"))
FIRST_SEED = int(os.environ.get("ADAPTER_SEED", "0"))
COMMANDS = 12
FILES, FOLDERS = ["a.txt", "é", "A b", ".hidden"], ["b", "😀"]
LINES = ["", "a", "aa", "aba", "b c", "é", "😀", "a\r", "\t", "`", "-1"]
ODD_PATHS = [
    "/memories", "/memories/", "/memoriesa.txt", "/memories//a.txt", "/memories/d/../a.txt", "", "/",
    "/memories/./b", "/memories/../etc", "/memories/d/../../x", "/etc/passwd", "memories/a.txt",
]
# A path through a file ends the sequence, because such an error is not the vendor's.
FILE_SYSTEM = "the file system failed"


class Commands:
    """Generates commands about few paths, so that they meet each other's files."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.used: list[str] = []

    def path(self) -> str:
        if self.random.random() < 0.1:
            return self.random.choice(ODD_PATHS)
        # A name belongs to a file or to a directory, so that few paths lead through files.
        folders = self.random.choices(FOLDERS, k=self.random.choice([0, 0, 1, 1, 2, 3]))
        names = self.random.choice([FILES, FILES, FILES, FILES, FOLDERS])
        return "/".join(["/memories", *folders, self.random.choice(names)])

    def new_path(self) -> str:
        self.used.append(self.path())
        return self.used[-1]

    def used_path(self) -> str:
        is_new = self.random.random() < 0.2 or not self.used
        return self.path() if is_new else self.random.choice(self.used)

    def text(self, most: int = 6) -> str:
        lines = self.random.choices(LINES, k=self.random.randint(0, most))
        size = self.random.choice([1] * 30 + [200, 1024, 5000])
        return "\n".join(lines) * size if len(lines) * size < 20_000 else "x" * size

    def range(self) -> list[int] | None:
        ends = [self.random.randint(-2, 7) for _ in range(self.random.choice([2, 2, 2, 1, 3]))]
        return self.random.choice([None, ends])

    def next(self) -> dict[str, Any]:
        name = self.random.choice(
            "view view create create str_replace str_replace insert insert delete rename".split()
        )
        if name == "create":
            return {"command": name, "path": self.new_path(), "file_text": self.text()}
        if name == "rename":
            return {"command": name, "old_path": self.used_path(), "new_path": self.new_path()}
        more: dict[str, dict[str, Any]] = {
            "view": {"view_range": self.range()},
            "str_replace": {"old_str": self.random.choice(LINES), "new_str": self.text(2)},
            "insert": {"insert_line": self.random.randint(-1, 6), "insert_text": self.text(2)},
        }
        return {"command": name, "path": self.used_path(), **more.get(name, {})}


def result_of(tool: Any, command: dict[str, Any]) -> str:
    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"error: {error.content}"
    except OSError:
        return FILE_SYSTEM


def without_empty_directories(folder: Path) -> None:
    """Deliberate difference: a directory exists while it contains a file."""
    for path, _, _ in os.walk(folder, topdown=False):
        if path != str(folder) and not os.listdir(path):
            os.rmdir(path)


def with_one_directory_size(result: str) -> str:
    """The size of a directory depends on the file system."""
    if not result.startswith("Here're"):
        return result
    header, own, *entries = result.split("\n")
    lines = [own, *(one for one in entries if one.endswith("/"))]
    fixed = {line: re.sub(r"^[\d.]+[BKMG]", "4K", line) for line in lines}
    return "\n".join([header, fixed[own], *(fixed.get(one, one) for one in entries)])


class Oracle(unittest.TestCase):
    def test_random_sequences_have_the_results_of_the_local_tool(self) -> None:
        results: Counter[str] = Counter()
        with Memory() as memory:
            for seed in range(FIRST_SEED, FIRST_SEED + SEQUENCES):
                self.run_sequence(memory, seed, results)
        print(f"{SEQUENCES} sequences, {results.total()} results: {dict(results)}")
        self.assertEqual(len(results), 12)

    def run_sequence(self, memory: Memory, seed: int, results: Counter[str]) -> None:
        folder = tempfile.mkdtemp()
        vendors = BetaLocalFilesystemMemoryTool(folder)
        tool = MemoryTool(memory, user_id=f"{uuid.uuid4()}", source="oracle")
        commands = Commands(seed)
        for number in range(COMMANDS):
            command = commands.next()
            expected = with_one_directory_size(result_of(vendors, command))
            without_empty_directories(vendors.memory_root)
            if expected == FILE_SYSTEM:
                break
            found = result_of(tool, command)
            self.assertEqual(found, expected, f"seed {seed}, command {number}: {command!s:.200}")
            results[f"{command['command']} {'failed' if 'error: ' in expected else 'done'}"] += 1
        shutil.rmtree(folder)
