import { writeFileSync } from 'node:fs';

/** One operation on one memory, as the checker reads it. Times are in µs of one clock. */
export type Operation = {
  key: string;
  kind: 'save' | 'read' | 'update' | 'delete';
  /** What was written, or read: a number that no other write has; 0 is "no such memory". */
  value: number;
  outcome: 'done' | 'absent' | 'unknown';
  call: number;
  return: number;
  client: number;
};

/** What a client did; `Sight`s are split up into reads of each memory at the end. */
export type Write = Omit<Operation, 'key'> & { key: string | null; userId: string };
export type Sight = {
  userId: string;
  /** By memory. Where it is of one memory by its id, the others are not looked at. */
  seen: Map<string, number>;
  only: string | null;
  call: number;
  return: number;
  client: number;
};

export type History = { writes: Write[]; sights: Sight[] };

/**
 * The operations on each memory. A save of unknown outcome has no id: it gets the one under which
 * its value was seen, and is left out where nobody saw it. `strange` are reads of values that
 * nobody wrote.
 */
export function operationsOf({ writes, sights }: History) {
  const saves = new Map(
    writes.flatMap((write) => (write.kind === 'save' ? [[write.value, write]] : [])),
  );
  const written = new Set(writes.map(({ value }) => value));
  const strange: string[] = [];
  for (const { seen } of sights) {
    for (const [key, value] of seen) {
      const save = saves.get(value);
      if (save !== undefined) save.key ??= key;
      if (value !== 0 && !written.has(value)) strange.push(`${key} was read as ${value}`);
    }
  }
  const end =
    Math.max(0, ...writes.map((write) => write.return), ...sights.map((s) => s.return)) + 1;
  const operations = writes.flatMap(({ userId: _, key, ...write }): Operation[] => {
    const returned = write.outcome === 'unknown' ? end : write.return;
    return key === null ? [] : [{ ...write, key, return: returned }];
  });
  return { operations: [...operations, ...readsOf(sights, writes)], strange };
}

function readsOf(sights: Sight[], writes: Write[]): Operation[] {
  const ofUser = Map.groupBy(
    writes.filter(({ kind, key }) => kind === 'save' && key !== null),
    ({ userId }) => userId,
  );
  return sights.flatMap(({ userId, seen, only, ...times }) => {
    // What was not shown was not there; before its save began nobody could expect it.
    const begun = (ofUser.get(userId) ?? []).filter(({ call }) => call <= times.return);
    const keys = only === null ? begun.map(({ key }) => key ?? '') : [only];
    return keys.map((key): Operation => {
      return { kind: 'read', outcome: 'done', key, value: seen.get(key) ?? 0, ...times };
    });
  });
}

/**
 * A history with one read changed to what was there before the last update; null where no read
 * comes long enough after two writes. Values are written once, so this one can never be right.
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

export function writeHistory(path: string, operations: Operation[]): void {
  writeFileSync(path, operations.map((operation) => `${JSON.stringify(operation)}\n`).join(''));
}
