export type ServerEntry = {
  command: string;
  args: string[];
  env?: { MEMORY_API_KEY: string };
};

/** A table in the settings: the servers of a client, or a single server. */
export type Table = Record<string, unknown>;

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Merges our entry into an existing one, whose other fields are kept. */
export function merged(known: unknown, entry: ServerEntry, more: Table = {}): Table {
  const before = isTable(known) ? known : {};
  const environment = isTable(before.env) ? { ...before.env, ...entry.env } : entry.env;
  return { ...more, ...before, ...entry, ...(environment !== undefined && { env: environment }) };
}
