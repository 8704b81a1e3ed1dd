import { send } from '../api.ts';
import type { Target } from '../target.ts';
import { startLoops } from './loops.ts';

/** When a request was sent and when it ended, with or without a response. */
export type Asked = { sentAt: number; endedAt: number };

const paths = ['/v1/memories?userId=saves&limit=5', '/v1/memories/search?userId=one&query=dark'];
const clientsOfEach = 2;
const pauseMs = 5;

/** Starts clients that list and search, one request after the other. */
export function startReads(target: Target): { stop(): Promise<Asked[]> } {
  const all: Asked[] = [];
  const read = (path: string) => async () => {
    const sentAt = performance.now();
    if (target.running()) {
      await send(target, { method: 'GET', path });
      all.push({ sentAt, endedAt: performance.now() });
    }
    await Bun.sleep(pauseMs);
  };
  const loops = startLoops(Array.from({ length: clientsOfEach }, () => paths.map(read)).flat());
  return { stop: () => loops.stop().then(() => all) };
}
