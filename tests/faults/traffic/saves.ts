import { type Call, listAll, send } from '../api.ts';
import type { Violations } from '../harness.ts';
import type { Target } from '../target.ts';

/** One attempt to save, and what came of it. Times are of `performance.now()`. */
export type Save = {
  content: string;
  sentAt: number;
  /** Null: no answer, so that its outcome is unknown. */
  status: number | null;
  id: string | null;
  retryAfter: string | null;
  text: string;
  endedAt: number;
};

export type Saves = { all: Save[]; stop(): Promise<Save[]> };

const pauseMs = { answered: 2, otherwise: 20 };
export const savingUser = 'saves';

/** Clients that save one text after the other, and keep every answer with its time. */
export function startSaves(target: Target, { clients }: { clients: number }): Saves {
  const all: Save[] = [];
  let stopping = false;
  async function run(client: number): Promise<void> {
    for (let count = 0; !stopping; count += 1) {
      if (target.running()) {
        const save = await saveOnce(target, `${client} ${count} ${Math.random()}`);
        all.push(save);
        await Bun.sleep(save.status === 201 ? pauseMs.answered : pauseMs.otherwise);
      } else await Bun.sleep(pauseMs.otherwise);
    }
  }
  const running = Array.from({ length: clients }, (_, client) => run(client));
  return {
    all,
    async stop() {
      stopping = true;
      await Promise.all(running);
      return all;
    },
  };
}

export async function saveOnce(target: Target, content: string): Promise<Save> {
  const body = { userId: savingUser, content };
  const call: Call = { method: 'POST', path: '/v1/memories', body };
  const sentAt = performance.now();
  const reply = await send(target, call);
  const { status, text } = reply ?? { status: null, text: '' };
  const id = status === 201 ? (JSON.parse(text) as { id: string }).id : null;
  const retryAfter = reply?.headers.get('retry-after') ?? null;
  return { content, sentAt, status, id, retryAfter, text, endedAt: performance.now() };
}

/** How many answered saves are gone or changed. What was not answered may be there or not. */
export async function countLost(
  target: Target,
  saves: Save[],
  violations: Violations,
  about: string,
): Promise<number> {
  const stored = new Map(
    (await listAll(target, savingUser)).map(({ id, content }) => [id, content]),
  );
  const answered = saves.filter(({ id }) => id !== null);
  const lost = answered.filter(({ id, content }) => stored.get(id ?? '') !== content);
  if (lost.length > 0) violations.add(`${about}: ${lost.length} of ${answered.length} are lost`);
  return lost.length;
}

/** Looks at writes that must have been refused for the time being. */
export function expectRefusals(saves: Save[], violations: Violations, about: string): void {
  const bad = saves.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null);
  const counts = new Map<string, number>();
  for (const { status, retryAfter } of bad) {
    const without = status === 503 && retryAfter === null ? ' without Retry-After' : '';
    const kind = `${status ?? 'no answer'}${without}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  for (const [kind, count] of counts) {
    violations.add(`${about}: ${count} of ${saves.length} writes: ${kind} in place of 503`);
  }
}
