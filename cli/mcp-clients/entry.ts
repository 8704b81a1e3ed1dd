import { isObject } from '../terminal/json.ts';

export type ServerEntry = {
  command: string;
  args: string[];
  env?: { MEMORY_API_KEY: string };
};

/** A table in the settings: a client's servers, or a single server. */
export type Table = Record<string, unknown>;

/** Merges our entry into an existing entry and keeps the other fields of that entry. */
export function merged(known: unknown, entry: ServerEntry, more: Table = {}): Table {
  const before = isObject(known) ? known : {};
  const environment = isObject(before.env) ? { ...before.env, ...entry.env } : entry.env;
  return { ...more, ...before, ...entry, ...(environment !== undefined && { env: environment }) };
}
