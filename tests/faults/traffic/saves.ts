import { listAll, saveOf, send } from '../api.ts';
import type { Violations } from '../harness.ts';
import type { Target } from '../target.ts';
import { startLoops } from './loops.ts';

/** An attempt to save a memory, and its response. Times are from `performance.now()`. */
export type Save = {
  content: string;
  sentAt: number;
  /** Null if no response arrived; the outcome is then unknown. */
  status: number | null;
  id: string | null;
  retryAfter: string | null;
  text: string;
  endedAt: number;
};

export type Saves = { all: Save[]; stop(): Promise<Save[]> };

const pauseMs = { answered: 2, otherwise: 20 };
const savingUser = 'saves';

/** Starts clients that save one memory after the other and record every response. */
export function startSaves(target: Target, { clients }: { clients: number }): Saves {
  const all: Save[] = [];
  const save = async (client: number): Promise<void> => {
    if (!target.running()) return Bun.sleep(pauseMs.otherwise);
    const save = await saveOnce(target, `${client} ${all.length} ${Math.random()}`);
    all.push(save);
    await Bun.sleep(save.status === 201 ? pauseMs.answered : pauseMs.otherwise);
  };
  const loops = startLoops(Array.from({ length: clients }, (_, client) => () => save(client)));
  return { all, stop: () => loops.stop().then(() => all) };
}

export async function saveOnce(target: Target, content: string): Promise<Save> {
  const sentAt = performance.now();
  const reply = await send(target, saveOf(savingUser, content));
  const { status, text } = reply ?? { status: null, text: '' };
  const id = status === 201 ? (JSON.parse(text) as { id: string }).id : null;
  const retryAfter = reply?.headers.get('retry-after') ?? null;
  return { content, sentAt, status, id, retryAfter, text, endedAt: performance.now() };
}

/** Counts acknowledged saves that are missing or changed. Other saves may or may not be stored. */
export async function countLost(
  target: Target,
  saves: Save[],
  violations: Violations,
  about: string,
): Promise<number> {
  const stored = new Map(
    (await listAll(target, savingUser)).map(({ id, content }) => [id, content]),
  );
  const acknowledged = saves.filter(({ id }) => id !== null);
  const lost = acknowledged.filter(({ id, content }) => stored.get(id ?? '') !== content);
  if (lost.length > 0)
    violations.add(
      `${about}: ${lost.length} of ${acknowledged.length} acknowledged saves are lost`,
    );
  return lost.length;
}

/** Checks that each save was rejected with 503 and Retry-After. */
export function expectUnavailable(saves: Save[], violations: Violations, about: string): void {
  const bad = saves.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null);
  const counts = new Map<string, number>();
  for (const { status, retryAfter } of bad) {
    const without = status === 503 && retryAfter === null ? ' without Retry-After' : '';
    const kind = `${status ?? 'no response'}${without}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  for (const [kind, count] of counts) {
    violations.add(`${about}: ${count} of ${saves.length} writes: ${kind}, expected 503`);
  }
}
