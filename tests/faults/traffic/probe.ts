import { type Call, send } from '../api.ts';
import type { Target } from '../target.ts';

/** What somebody saw who sent the same request again and again. */
export type Probe = { latenciesMs: number[]; failures: string[] };

/**
 * Sends a request at every tick, whether the ones before are answered or not: who waits for each
 * answer would meet a long stall once, and look well in every percentile.
 */
export async function probe(
  target: Pick<Target, 'url' | 'key'>,
  calls: Record<string, () => Call>,
  { everyMs, during }: { everyMs: number; during: number | Promise<unknown> },
): Promise<Record<string, Probe>> {
  const names = Object.keys(calls);
  const seen = Object.fromEntries(
    names.map((name): [string, Probe] => [name, { latenciesMs: [], failures: [] }]),
  );
  const open: Promise<void>[] = [];
  let going = true;
  const until = typeof during === 'number' ? Bun.sleep(during) : during;
  void until.finally(() => {
    going = false;
  });
  for (let tick = 0; going; tick += 1) {
    const name = names[tick % names.length] ?? '';
    const call = calls[name]?.();
    const into = seen[name];
    if (call !== undefined && into !== undefined) open.push(time(target, call, into));
    await Bun.sleep(everyMs / names.length);
  }
  await Promise.all(open);
  return seen;
}

async function time(target: Pick<Target, 'url' | 'key'>, call: Call, into: Probe): Promise<void> {
  const begun = performance.now();
  const reply = await send(target, call);
  into.latenciesMs.push(performance.now() - begun);
  if (reply === null || reply.status >= 400) {
    into.failures.push(`${call.method} ${call.path}: ${reply?.status ?? 'no answer'}`);
  }
}

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
