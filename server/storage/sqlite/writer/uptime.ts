import type { Database } from 'bun:sqlite';

/**
 * How long the service has run on this database, in ms, measured by a monotonic clock. Every
 * maintenance run stores the uptime. After a crash, the uptime is slightly too low, so some data is
 * kept a little longer.
 */
export type Uptime = {
  now(): number;
  add(elapsedMs: number): void;
};

export function createUptime(db: Database): Uptime {
  const stored = db
    .prepare<{ value: number }, []>(`SELECT value FROM maintenance WHERE name = 'uptime'`)
    .get();
  const write = db.prepare(
    `INSERT INTO maintenance (name, value) VALUES ('uptime', ?)
     ON CONFLICT DO UPDATE SET value = excluded.value`,
  );
  let uptime = stored?.value ?? 0;
  return {
    now: () => uptime,
    add(elapsedMs) {
      // mutate-ignore constant: a millisecond is not visible
      uptime += Math.max(0, Math.round(elapsedMs));
      write.run(uptime);
    },
  };
}
