import { faultPoint } from '../../threads/fault-points.ts';
import type { Engine } from '../engine.ts';
import {
  claimTasks,
  completeTasks,
  failTask,
  releaseTask,
  renewLeases,
} from '../operations/tasks.ts';
import { keyOfUser } from '../operations/users.ts';
import type { TaskStorage } from '../storage.ts';
import type { Lease, TaskResult } from '../types/tasks.ts';

type Leased = Pick<TaskStorage, 'claimTasks' | 'completeTasks' | 'failTask' | 'releaseTask'>;

/** Less than a third of the worker's lease, so that a lease survives two lost heartbeats. */
const heartbeatEveryMs = faultPoint('heartbeat-ms', 3_000);

/**
 * Several servers share the queue, so a claimed task is leased until the database's clock says that
 * the lease has ended. Renews the leases of this server's tasks until `stop` is called.
 */
export function keepLeases(engine: Pick<Engine, 'write'>): Leased & { stop(): void } {
  const leases = new Map<string, { lease: Lease; leaseMs: number }>();
  const forget = (lease: Lease) => leases.delete(nameOf(lease));

  const heartbeat = setInterval(() => {
    const byLength = Map.groupBy(leases.values(), ({ leaseMs }) => leaseMs);
    for (const [leaseMs, entries] of byLength) {
      const renewal = { leases: entries.map(({ lease }) => lease), leaseMs };
      // If the heartbeat fails, the leases end and the tasks run again.
      engine.write(renewLeases, renewal).catch(() => {});
    }
  }, heartbeatEveryMs);
  heartbeat.unref();

  return {
    async claimTasks(claim) {
      const tasks = await engine.write(claimTasks, claim);
      for (const { attempt: _, ...lease } of tasks) {
        leases.set(nameOf(lease), { lease, leaseMs: claim.leaseMs });
      }
      return tasks;
    },
    async completeTasks(results) {
      for (const result of results) forget(result);
      return completeByUser(engine, results);
    },
    failTask(failure) {
      forget(failure);
      return engine.write(failTask, failure);
    },
    releaseTask(lease) {
      forget(lease);
      return engine.write(releaseTask, lease);
    },
    stop: () => clearInterval(heartbeat),
  };
}

/**
 * The results of each user are a write of their own, which shares a transaction with the others
 * unless the user's row is locked. Rejects after all other results have been stored.
 */
async function completeByUser(
  engine: Pick<Engine, 'write'>,
  results: readonly TaskResult[],
): Promise<boolean[]> {
  const isStored = new Map<TaskResult, boolean>();
  const users = Map.groupBy(results, ({ projectId, userId }) => keyOfUser(projectId, userId));
  const settled = await Promise.allSettled(
    [...users.values()].map(async (own) => {
      const stored = await engine.write(completeTasks, own);
      // mutate-ignore boolean: every result has an entry
      for (const [index, result] of own.entries()) isStored.set(result, stored[index] ?? false);
    }),
  );
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
  // mutate-ignore boolean: every result has an entry
  return results.map((result) => isStored.get(result) ?? false);
}

function nameOf({ projectId, userId, memoryId, kind }: Lease): string {
  return JSON.stringify([projectId, userId, memoryId, kind]);
}
