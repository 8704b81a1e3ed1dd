import type { Random } from '../support/random.ts';
import { createTarget, restart, type Target } from './target.ts';

/** Several server processes on one database, which clients see as one. */
export type Fleet = {
  /** Its address is that of any server that runs, another one each time. */
  target: Target;
  start(): Promise<void>;
  /** Kills a server and starts it again. */
  restart(index: number): Promise<void>;
  /** Stops a server for a while; it hears of nothing meanwhile. */
  stall(index: number, forMs: number): Promise<void>;
  /** The sum of what the servers wrote to standard error in this form, over all starts. */
  count(pattern: RegExp): number;
  remove(): Promise<void>;
};

export function createFleet(
  size: number,
  { random, ...options }: { databaseUrl: string; variants: string[]; random: Random },
): Fleet {
  const targets = Array.from({ length: size }, () => createTarget(options));
  const logs: string[] = [];

  function anyUrl(): string {
    const running = targets.filter((target) => target.running() && target.url !== '');
    return random.pick(running.length > 0 ? running : targets).url;
  }

  const [first = createTarget(options)] = targets;
  return {
    target: {
      ...first,
      get url() {
        return anyUrl();
      },
      whenUp: () => Promise.any(targets.map((target) => target.whenUp())),
    },
    async start() {
      // All at once: they make the tables together.
      await Promise.all(targets.map((target) => target.start()));
    },
    async restart(index) {
      const target = targets[index];
      if (target === undefined) return;
      logs.push(target.log());
      await restart(target);
    },
    async stall(index, forMs) {
      targets[index]?.signal('SIGSTOP');
      await Bun.sleep(forMs);
      targets[index]?.signal('SIGCONT');
    },
    count(pattern) {
      const texts = [...logs, ...targets.map((target) => target.log())];
      const found = texts.flatMap((text) => [...text.matchAll(pattern)]);
      return found.reduce((sum, [, number = '1']) => sum + Number(number), 0);
    },
    async remove() {
      await Promise.all(targets.map((target) => target.remove()));
    },
  };
}
