import type { FaultPoint } from '../../../server/threads/fault-points.ts';
import { note, reached } from './notes.ts';

/** The values that replace those of the service at its fault points. */
export type Points = Partial<Record<FaultPoint, unknown>>;

/** Must be called before this thread loads the service. */
export function replaceAt(points: Points): void {
  const faults = new Proxy(points, {
    has(target, name) {
      note(reached(String(name)));
      return name in target;
    },
  });
  Object.assign(globalThis, { faults });
}
