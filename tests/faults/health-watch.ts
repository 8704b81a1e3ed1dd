import { send } from './api.ts';
import type { Target } from './target.ts';

/** The responses of /health since the watch began. Times are from `performance.now()`. */
export type HealthWatch = {
  /** The first response other than 200. */
  failing: Observation | null;
  /** The latest response; null before the first. */
  last: Observation | null;
  /** The messages of all responses other than 200. */
  messages: Set<string>;
  stop(): Promise<void>;
};

export type Observation = { at: number; status: number | null; text: string };

const everyMs = 25;

export function watchHealth(target: Pick<Target, 'url' | 'key'>): HealthWatch {
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
