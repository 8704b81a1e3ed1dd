import type { IngestRecord } from './ingest.ts';
import type { Metadata } from './text.ts';

/**
 * Returns the metadata of a record's memory: the descriptive fields of the data, which clients can
 * filter by, and the caller's metadata, which takes precedence.
 */
export function recordMetadata(record: IngestRecord): Metadata {
  return { ...descriptiveFields(record), ...record.metadata };
}

/** Returns the fields of a record's data that are copied to its metadata. */
export function descriptiveFields(record: IngestRecord): Metadata {
  switch (record.type) {
    case 'ticket': {
      const { subject, status, priority } = record.data;
      return present({ subject, status, priority });
    }
    case 'document': {
      const { title, mimeType, sourceUrl, pageCount } = record.data;
      return present({ title, mimeType, sourceUrl, pageCount });
    }
    case 'conversation': {
      const { title, participants, tags } = record.data;
      return present({ title, participants, tags });
    }
    case 'event': {
      const { name: _, ...properties } = record.data;
      return properties;
    }
    case 'profile': {
      const { summary: _, ...properties } = record.data;
      return properties;
    }
  }
}

/** Drops fields that are undefined, null or an empty string. */
function present(fields: { [key: string]: Metadata[string] | undefined }): Metadata {
  const metadata: Metadata = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value != null && value !== '') metadata[key] = value;
  }
  return metadata;
}
