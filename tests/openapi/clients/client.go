// An agent's requests, made with the Go client of openapi-generator.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	m "example.com/memory/client"
)

func check(ok bool, what string) {
	if !ok {
		fmt.Fprintln(os.Stderr, what)
		os.Exit(1)
	}
}

func must[T any](value T, _ any, err error) T {
	if failed, ok := err.(*m.GenericOpenAPIError); ok {
		check(false, fmt.Sprint(err, " ", string(failed.Body())))
	}
	check(err == nil, fmt.Sprint(err))
	return value
}

func main() {
	userId := os.Getenv("USER_ID")
	config := m.NewConfiguration()
	config.Servers = m.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	api := m.NewAPIClient(config)
	ctx := context.WithValue(context.Background(), m.ContextAccessToken, os.Getenv("KEY"))
	save := func(request m.SaveRequest) *m.SavedMemory {
		return must(api.MemoriesAPI.SaveMemory(ctx).SaveRequest(request).Execute()).SavedMemory
	}

	request := m.NewSaveRequest(userId, "Prefers dark mode")
	request.SetMetadata(map[string]any{"source": "chat"})
	keyed := api.MemoriesAPI.SaveMemory(ctx).SaveRequest(*request).IdempotencyKey(userId + "-1")
	first := must(keyed.Execute()).SavedMemory
	again, response, err := keyed.Execute()
	check(err == nil && again.SavedMemory.Id == first.Id, "the replay returned another memory")
	check(response.Header.Get("Idempotency-Status") == "replayed", "not a replay")

	occurredAt := time.Date(2026, 5, 8, 13, 56, 7, 0, time.UTC)
	named := m.NewSaveRequest(userId, "Is vegetarian")
	named.SetSource("agent")
	named.SetExternalId("diet")
	named.SetOccurredAt(occurredAt)
	diet := save(*named)
	named.SetContent("Is vegan")
	check(save(*named).Id == diet.Id, "the diet memory was not replaced")

	begin, end := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	list := api.MemoriesAPI.ListMemories(ctx).UserId(userId)
	may := must(list.Source("agent").From(begin).To(end).Execute()).Items
	check(len(may) == 1 && may[0].Content == "Is vegan" && may[0].Version == 2, "not in May")
	check(may[0].OccurredAt.Get().Equal(occurredAt), "another time")
	chat := must(list.Metadata(map[string]string{"source": "chat"}).Execute()).Items
	check(len(chat) == 1 && chat[0].Id == first.Id, fmt.Sprint("filtered by metadata: ", len(chat)))

	text := "Where is my refund?"
	comment := m.NewTimelineEntry(*m.NewNullableMessageContent(&m.MessageContent{String: &text}))
	comment.SetAuthor("user")
	comment.SetTimestamp(m.Timestamp{TimeTime: &occurredAt})
	data := m.NewTicketData("Refund", []m.TimelineEntry{*comment})
	support := m.NewSupportRequest(userId, *data)
	ticket := must(api.IngestAPI.IngestTicket(ctx).SupportRequest(*support).Execute()).AcceptedRecord
	placed := m.NewEventData("order_placed")
	placed.AdditionalProperties = map[string]any{"amount": 129.9}
	shop := m.NewProfileData("Runs a small shop")
	batch := must(api.IngestAPI.IngestBatch(ctx).BatchRequest(*m.NewBatchRequest([]m.IngestRecord{
		m.EventRecordAsIngestRecord(m.NewEventRecord("event", userId, *placed)),
		m.ProfileRecordAsIngestRecord(m.NewProfileRecord("profile", userId, *shop)),
	})).Execute())
	check(batch.Accepted == 2, "the batch was not accepted")

	ids := []string{ticket.MemoryId}
	for _, item := range batch.Items {
		ids = append(ids, item.MemoryId)
	}
	asked := api.MemoriesAPI.GetMemoryStatuses(ctx).StatusesRequest(*m.NewStatusesRequest(ids))
	complete := 0
	for attempt := 0; complete < 3; attempt++ {
		check(attempt < 100, "not processed in time")
		time.Sleep(100 * time.Millisecond)
		complete = 0
		for _, one := range must(asked.Execute()).Items {
			if one.Status == "complete" {
				complete++
			}
		}
	}

	_, err = api.MemoriesAPI.DeleteMemory(ctx, first.Id).Execute()
	check(err == nil, "not deleted")
	_, response, err = api.MemoriesAPI.GetMemory(ctx, first.Id).Execute()
	check(err != nil && response.StatusCode == 404, "still there")
	rest := must(api.MemoriesAPI.DeleteMemories(ctx).UserId(userId).Execute())
	fmt.Printf("deleted %d of 5\n", rest.Deleted)
}
