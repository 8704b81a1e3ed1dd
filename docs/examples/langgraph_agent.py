"""A LangGraph agent that remembers a user across threads. Its graph has two nodes: one answers with
what the store finds, and one saves what users say about themselves. `think` is a stand-in for a
chat model.
"""

import re
import sys
from dataclasses import dataclass

from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph
from langgraph.runtime import Runtime
from memory_service import Memory
from memory_service_langgraph import MemoryServiceStore


@dataclass
class Context:
    user_id: str


def think(message: str, known: list[str]) -> str:
    if re.match(r"(I am|I'm|My)\b", message):
        return "I will remember that."
    return f"You told me: {known[0]}" if known else "You never told me."


def answer(state: MessagesState, runtime: Runtime[Context]) -> MessagesState:
    message = str(state["messages"][-1].content)
    found = runtime.store.search((runtime.context.user_id, "facts"), query=message, limit=3)
    reply = think(message, [item.value["text"] for item in found])
    return {"messages": [AIMessage(reply)]}


def remember(state: MessagesState, runtime: Runtime[Context]) -> None:
    message, reply = state["messages"][-2:]
    if reply.content == "I will remember that.":
        # The text is the key, so that a fact is saved once.
        namespace = (runtime.context.user_id, "facts")
        runtime.store.put(namespace, str(message.content)[:256], {"text": message.content})


builder = StateGraph(MessagesState, context_schema=Context)
builder.add_sequence([answer, remember]).set_entry_point("answer")
graph = builder.compile(store=MemoryServiceStore(Memory()))

context = Context(user_id=sys.argv[1] if len(sys.argv) > 1 else "ada")
for text in ["I am allergic to peanuts.", "What food must I avoid?"]:
    result = graph.invoke({"messages": [("user", text)]}, context=context)
    print(f"user:  {text}\nagent: {result['messages'][-1].content}")
