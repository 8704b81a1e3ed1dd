"""An agent's requests, made with the Python client of openapi-generator."""

import os
import time
from datetime import datetime, timezone

import memoryclient as m
from memoryclient.rest import ApiException

user_id = os.environ["USER_ID"]
configuration = m.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["KEY"])
client = m.ApiClient(configuration)
memories = m.MemoriesApi(client)
ingest = m.IngestApi(client)

request = m.SaveRequest(userId=user_id, content="Prefers dark mode", metadata={"source": "chat"})
key = f"{user_id}-1"
first = memories.save_memory(request, idempotency_key=key).actual_instance
again = memories.save_memory_with_http_info(request, idempotency_key=key)
assert again.data.actual_instance.id == first.id
assert again.headers["Idempotency-Status"] == "replayed"

occurred_at = datetime(2026, 5, 8, 13, 56, 7, tzinfo=timezone.utc)
named = {"userId": user_id, "source": "agent", "externalId": "diet", "occurredAt": occurred_at}
diet = memories.save_memory(m.SaveRequest(content="Is vegetarian", **named)).actual_instance
new_diet = memories.save_memory_with_http_info(m.SaveRequest(content="Is vegan", **named))
assert new_diet.status_code == 200
assert new_diet.data.actual_instance.id == diet.id

begin = datetime(2026, 5, 1, tzinfo=timezone.utc)
end = datetime(2026, 6, 1, tzinfo=timezone.utc)
may = memories.list_memories(user_id=user_id, source="agent", var_from=begin, to=end)
found = [(item.content, item.version, item.occurred_at) for item in may.items]
assert found == [("Is vegan", 2, occurred_at)], found
# This list is not filtered by metadata, which the generator declares as a map of maps.
saved = memories.list_memories(user_id=user_id, type=m.MemoryType.MEMORY, order="asc")
assert [item.id for item in saved.items] == [first.id, diet.id], saved

comment = m.TimelineEntry(
    author="user",
    content=m.MessageContent("Where is my refund?"),
    timestamp=m.Timestamp(occurred_at),
)
data = m.TicketData(subject="Refund", comments=[comment])
ticket = ingest.ingest_ticket(m.SupportRequest(userId=user_id, data=data)).actual_instance
event = m.EventData(name="order_placed", additional_properties={"amount": 129.9})
profile = m.ProfileData(summary="Runs a small shop")
items = [
    m.IngestRecord(m.EventRecord(type="event", userId=user_id, data=event)),
    m.IngestRecord(m.ProfileRecord(type="profile", userId=user_id, data=profile)),
]
batch = ingest.ingest_batch(m.BatchRequest(items=items))
assert batch.accepted == 2

ids = [ticket.memory_id, *(item.memory_id for item in batch.items)]
for attempt in range(100):
    statuses = memories.get_memory_statuses(m.StatusesRequest(memoryIds=ids)).items
    assert len(statuses) == 3
    if all(one.status == "complete" for one in statuses):
        break
    time.sleep(0.1)
else:
    raise SystemExit("not processed in time")

memories.delete_memory(first.id)
try:
    memories.get_memory(first.id)
    raise SystemExit("still there")
except ApiException as error:
    assert error.status == 404
rest = memories.delete_memories(user_id)
print(f"deleted {rest.deleted} of 5")
