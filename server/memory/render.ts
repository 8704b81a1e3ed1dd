import { recordMetadata } from '../../sdk/contract/descriptive.ts';
import type { IngestRecord, UserRecord } from '../../sdk/contract/ingest.ts';
import type { JsonValue } from '../../sdk/contract/text.ts';
import { entryText, type Message, timestampMs } from '../../sdk/contract/timeline.ts';
import { optionalTimeMs } from '../../sdk/contract/times.ts';
import type { NewMemory } from '../storage/types/memories.ts';

export function renderRecord(record: UserRecord, id: string): NewMemory {
  return {
    id,
    userId: record.userId,
    type: record.type,
    content: renderContent(record),
    metadata: JSON.stringify(recordMetadata(record)),
    // Null and an empty string are treated as omitted.
    source: record.source || null,
    externalId: record.externalId || null,
    occurredAt: optionalTimeMs(record.occurredAt) ?? latestMs(record),
    expiresAt: optionalTimeMs(record.expiresAt),
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

function paragraphs(...parts: (string | null | undefined)[]): string {
  return parts.filter((part) => part).join('\n\n');
}

function timeline(entries: Message[]): string {
  const lines = entries.map((entry) => {
    const text = entryText(entry);
    return text === '' ? '' : `${stamp(entry)}${entry.author || entry.role || 'unknown'}: ${text}`;
  });
  return lines.filter((line) => line !== '').join('\n');
}

/** Formats the time of an entry in UTC. The time is part of the content and can be searched. */
function stamp({ timestamp }: Message): string {
  const ms = timestampMs(timestamp);
  if (ms === null) return '';
  return `[${new Date(ms).toISOString().replace('.000Z', 'Z')}] `;
}

/** Returns the latest timestamp of the entries with text, or null. */
function latestMs(record: IngestRecord): number | null {
  let latest: number | null = null;
  for (const entry of timelineOf(record)) {
    const ms = timestampMs(entry.timestamp);
    if (ms === null || entryText(entry) === '') continue;
    latest = Math.max(latest ?? Number.NEGATIVE_INFINITY, ms);
  }
  return latest;
}

function timelineOf(record: IngestRecord): Message[] {
  if (record.type === 'ticket') return record.data.comments;
  return record.type === 'conversation' ? record.data.messages : [];
}

function withProperties(head: string, properties: { [key: string]: JsonValue }): string {
  const lines = Object.entries(properties).map(([key, value]) => {
    return `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  return [head, ...lines].join('\n');
}
