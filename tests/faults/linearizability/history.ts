/** One operation on one memory, in the checker's format. Times are in µs of one clock. */
export type Operation = {
  key: string;
  kind: 'save' | 'read' | 'update' | 'delete';
  /** The written or read value: a number that is unique to its write, or 0 for "no such memory". */
  value: number;
  outcome: 'done' | 'absent' | 'unknown';
  call: number;
  return: number;
  client: number;
};

/** A write as recorded by the client. The key of a save is null until the memory's id is known. */
export type Write = Omit<Operation, 'key'> & { key: string | null; userId: string };
export type Observation = {
  userId: string;
  /** Values by memory id. */
  seen: Map<string, number>;
  /** The memory that was read by id; null for a list or a search. */
  only: string | null;
  call: number;
  return: number;
  client: number;
};

export type History = { writes: Write[]; observations: Observation[] };

/**
 * Converts a history to operations on single memories. A save with an unknown outcome gets the id
 * of the memory in which its value was read, or is dropped if its value was never read.
 * `strange` lists reads of values that no client wrote.
 */
export function operationsOf({ writes, observations }: History) {
  const saves = new Map(
    writes.flatMap((write) => (write.kind === 'save' ? [[write.value, write]] : [])),
  );
  const written = new Set(writes.map(({ value }) => value));
  const strange: string[] = [];
  for (const { seen } of observations) {
    for (const [key, value] of seen) {
      const save = saves.get(value);
      if (save !== undefined) save.key ??= key;
      if (value !== 0 && !written.has(value))
        strange.push(`a read of ${key} returned ${value}, which no client wrote`);
    }
  }
  const end =
    Math.max(0, ...writes.map((write) => write.return), ...observations.map((s) => s.return)) + 1;
  const operations = writes.flatMap(({ userId: _, key, ...write }): Operation[] => {
    const returned = write.outcome === 'unknown' ? end : write.return;
    return key === null ? [] : [{ ...write, key, return: returned }];
  });
  return { operations: [...operations, ...readsOf(observations, writes)], strange };
}

function readsOf(observations: Observation[], writes: Write[]): Operation[] {
  const ofUser = Map.groupBy(
    writes.filter(({ kind, key }) => kind === 'save' && key !== null),
    ({ userId }) => userId,
  );
  return observations.flatMap(({ userId, seen, only, ...times }) => {
    // A memory that is missing from the result was read as absent, unless its save began later.
    const begun = (ofUser.get(userId) ?? []).filter(({ call }) => call <= times.return);
    const keys = only === null ? begun.map(({ key }) => key ?? '') : [only];
    return keys.map((key): Operation => {
      return { kind: 'read', outcome: 'done', key, value: seen.get(key) ?? 0, ...times };
    });
  });
}

/**
 * Returns a history with one stale read, whose value had been replaced by a completed update.
 * Values are unique, so no order explains the read. Returns null if no read can be falsified.
 */
export function falsified(operations: Operation[]): Operation[] | null {
  const writes = operations.filter(({ kind, outcome }) => kind !== 'read' && outcome === 'done');
  const byValue = new Map(
    writes.filter(({ value }) => value > 0).map((write) => [write.value, write]),
  );
  for (const [index, read] of operations.entries()) {
    const update = read.kind === 'read' ? byValue.get(read.value) : undefined;
    if (update?.kind !== 'update' || update.return >= read.call) continue;
    const earlier = writes.find(
      ({ key, value, return: returned }) => key === read.key && value > 0 && returned < update.call,
    );
    if (earlier !== undefined) return operations.with(index, { ...read, value: earlier.value });
  }
  return null;
}
