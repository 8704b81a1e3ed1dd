import { type Call, send } from '../api.ts';
import type { Target } from '../target.ts';

/** The latencies of one repeated request, and its failures. */
export type Probe = { latenciesMs: number[]; failures: string[] };

/**
 * Sends requests at a fixed rate, regardless of earlier responses. In a closed loop, a long stall
 * would affect only one request per connection and disappear from every percentile (coordinated
 * omission).
 */
export async function probe(
  target: Pick<Target, 'url' | 'key'>,
  calls: Record<string, () => Call>,
  options: { everyMs: number; during: number | Promise<unknown> },
): Promise<Record<string, Probe>> {
  const { everyMs, during } = options;
  const names = Object.keys(calls);
  const probes = Object.fromEntries(
    names.map((name): [string, Probe] => [name, { latenciesMs: [], failures: [] }]),
  );
  const open: Promise<void>[] = [];
  let running = true;
  const ended = typeof during === 'number' ? Bun.sleep(during) : during;
  void ended.finally(() => {
    running = false;
  });
  for (let tick = 0; running; tick += 1) {
    const name = names[tick % names.length] ?? '';
    const call = calls[name]?.();
    const into = probes[name];
    if (call !== undefined && into !== undefined) open.push(time(target, call, into));
    await Bun.sleep(everyMs / names.length);
  }
  await Promise.all(open);
  return probes;
}

async function time(target: Pick<Target, 'url' | 'key'>, call: Call, into: Probe): Promise<void> {
  const begun = performance.now();
  const reply = await send(target, call);
  into.latenciesMs.push(performance.now() - begun);
  if (reply === null || reply.status >= 300)
    into.failures.push(`${call.method} ${call.path}: ${reply?.status ?? 'no response'}`);
}

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
