"""A chat agent that remembers. It searches the user's memories by meaning before it answers, and
saves what users say about themselves. `think` is a stand-in for a model: it receives the content of
a prompt (the message and the known facts) and returns a reply and, optionally, a fact to remember.
"""

import re
import sys

from memory_service import Memory

memory = Memory()  # MEMORY_API_KEY and MEMORY_BASE_URL


def think(message: str, known: list[str]) -> tuple[str, str | None]:
    if re.match(r"(I am|I'm|My|I prefer|I moved)\b", message):
        return "I will remember that.", message
    return (f"You told me: {known[0]}" if known else "You never told me."), None


def answer(user_id: str, message: str) -> str:
    query = message[-1000:]  # The longest query has 1,000 characters.
    found = memory.search(user_id=user_id, query=query, limit=3)
    known = [one["content"] for one in found["items"]]
    reply, fact = think(message, known)
    if fact is not None and fact not in known:
        memory.save(user_id=user_id, content=fact, source="chat")
    return reply


def converse(user_id: str, messages: list[str]) -> None:
    for message in messages:
        print(f"user:  {message}")
        print(f"agent: {answer(user_id, message)}")


user_id = sys.argv[1] if len(sys.argv) > 1 else "ada"
converse(user_id, ["I am allergic to peanuts.", "My sister has moved to Lisbon."])

# The next day, in another process, only the saved memories of the conversation remain.
print("\nThe next day")
converse(user_id, ["What food must I avoid?", "Which city does my sister live in?"])
print("\nAnother user")
converse(f"{user_id}-stranger", ["What food must I avoid?"])
