import type { Violations } from './harness.ts';
import { watchHealth } from './health-watch.ts';
import type { Target } from './target.ts';
import { expectUnavailable, type Save } from './traffic/saves.ts';

const detectedWithinMs = 1_000;
const watchMs = 2_000;
const afterDetectionMs = 400;
const reason = /moved|removed|deleted|replaced|missing|another file|different file/i;

/**
 * Waits until a write is rejected with 503 and /health fails. Returns the time of the earlier
 * event, or null if neither occurs.
 */
export async function waitForDetection(
  target: Target,
  saves: Save[],
  actedAt: number,
  name: string,
  violations: Violations,
): Promise<number | null> {
  const health = watchHealth(target);
  const unavailable = () =>
    saves.find(({ status, endedAt }) => status === 503 && endedAt > actedAt);
  const isSeen = () => health.failing !== null && unavailable() !== undefined;
  while (!isSeen() && target.running() && performance.now() < actedAt + watchMs)
    await Bun.sleep(10);
  await Bun.sleep(afterDetectionMs);
  await health.stop();
  const unavailableAt = unavailable()?.endedAt;
  if (health.failing === null) violations.add(`${name}: /health kept returning 200`);
  else if (![...health.messages].some((text) => reason.test(text))) {
    violations.add(`${name}: /health does not report the reason: ${[...health.messages]}`);
  }
  if (unavailableAt === undefined) violations.add(`${name}: no write was rejected with 503`);
  const signs = [unavailableAt, health.failing?.at].filter((at) => at !== undefined);
  if (signs.length === 0) return null;
  const detectedAt = Math.min(...signs);
  const tookMs = Math.round(detectedAt - actedAt);
  if (tookMs > detectedWithinMs) violations.add(`${name}: detected after ${tookMs} ms`);
  expectUnavailable(
    saves.filter(({ sentAt }) => sentAt > detectedAt),
    violations,
    name,
  );
  return detectedAt;
}
