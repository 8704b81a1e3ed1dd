import { send } from './api.ts';
import type { Target } from './target.ts';

/** What /health said since, and when; times are of `performance.now()`. */
export type HealthWatch = {
  /** The first answer that is not 200. */
  failing: Sight | null;
  /** The last answer; null before the first. */
  last: Sight | null;
  /** Answers, other than 200, that had a message. */
  messages: Set<string>;
  stop(): Promise<void>;
};

export type Sight = { at: number; status: number | null; text: string };

const everyMs = 25;

export function watchHealth(target: Target): HealthWatch {
  let stopping = false;
  const watch: HealthWatch = {
    failing: null,
    last: null,
    messages: new Set(),
    async stop() {
      stopping = true;
      await running;
    },
  };
  async function look(): Promise<void> {
    const reply = await send(target, { method: 'GET', path: '/health' });
    watch.last = { at: performance.now(), status: reply?.status ?? null, text: reply?.text ?? '' };
    if (reply?.status === 200) return;
    watch.failing ??= watch.last;
    watch.messages.add(messageIn(watch.last.text));
  }
  async function run(): Promise<void> {
    while (!stopping) {
      await look();
      await Bun.sleep(everyMs);
    }
  }
  const running = run();
  return watch;
}

function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? '';
  } catch {
    return '';
  }
}
