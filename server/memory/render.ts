import { recordMetadata } from '../../sdk/contract/descriptive.ts';
import type { IngestRecord } from '../../sdk/contract/ingest.ts';
import type { TimelineEntry } from '../../sdk/contract/record-data.ts';
import type { JsonValue } from '../../sdk/contract/text.ts';
import type { NewMemory } from '../storage/storage.ts';

/** The memory that a record becomes. Its passages are cut later, by the queue. */
export function renderRecord(record: IngestRecord, id: string): NewMemory {
  return {
    id,
    userId: record.userId,
    type: record.type,
    content: renderContent(record),
    metadata: JSON.stringify(recordMetadata(record)),
    source: record.source ?? null,
    externalId: record.externalId ?? null,
    occurredAt: null,
    expiresAt: null,
  };
}

function renderContent(record: IngestRecord): string {
  switch (record.type) {
    case 'ticket': {
      const { subject, description, comments } = record.data;
      return paragraphs(subject, description, timeline(comments));
    }
    case 'document':
      return record.data.text;
    case 'conversation': {
      const { title, summary, messages } = record.data;
      return paragraphs(title, summary, timeline(messages));
    }
    case 'event': {
      const { name, ...properties } = record.data;
      return withProperties(name, properties);
    }
    case 'profile': {
      const { summary, ...properties } = record.data;
      return withProperties(summary, properties);
    }
  }
}

/** The parts that are there, with an empty line between them. */
function paragraphs(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

function timeline(entries: TimelineEntry[]): string {
  return entries.map(({ author, role, content }) => `${author ?? role}: ${content}`).join('\n');
}

function withProperties(head: string, properties: { [key: string]: JsonValue }): string {
  const lines = Object.entries(properties).map(([key, value]) => {
    return `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  return [head, ...lines].join('\n');
}
