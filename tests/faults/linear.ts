import { onSeparatePostgres } from './fleet.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { buildChecker, type Checker } from './linearizability/checker.ts';
import { startClients } from './linearizability/clients.ts';
import {
  falsified,
  type History,
  type Operation,
  operationsOf,
} from './linearizability/history.ts';
import { createTarget, restart, type Target } from './target.ts';

const durationMs = { quick: 7_000, full: 180_000 };
const serversDurationMs = { quick: 7_000, full: 600_000 };
const clients = { groups: 2, perGroup: 5 };
const faultAfterMs = { from: 100, to: 700 };
const pausedMs = { from: 30, to: 400 };
/** The maximum number of operations that a violation lists. */
const shownOperations = 12;

const proof =
  `${clients.groups * clients.perGroup} clients save, get, update, delete, list and search a ` +
  'few memories while FAULTS; the Porcupine checker checks the operations on each memory; ' +
  'operations with an unknown outcome may take effect at any later time; to test the checker, a ' +
  'history with one falsified stale read must be rejected';

const control = {
  without: 'a database query for each search (the first result is returned again)',
  variants: ['search-once'],
};

export const linear: Harness = {
  id: 'P29',
  promise: 'Operations on a single server are linearizable',
  proof: proof.replace('FAULTS', 'the server receives SIGKILL, SIGSTOP and SIGTERM'),
  control,
  run: proveAlone,
};

const servers = 3;

export const linearServers: Harness = {
  id: 'P34',
  promise: 'Operations on several servers with one PostgreSQL database are linearizable',
  proof: proof.replace(
    ' FAULTS',
    `, at random, one of ${servers} servers receives SIGKILL or SIGSTOP, all database ` +
      'connections are terminated, or PostgreSQL crashes',
  ),
  control,
  run: proveServers,
};

async function proveAlone(run: Run): Promise<Figures> {
  const { random, tier, variants } = run;
  await using target = createTarget({ variants });
  await target.start();
  const faults = { kills: 0, pauses: 0, stops: 0 };
  async function inject(): Promise<void> {
    const share = random.next();
    if (share < 0.4) {
      faults.pauses += 1;
      target.signal('SIGSTOP');
      await Bun.sleep(random.between(pausedMs.from, pausedMs.to));
      target.signal('SIGCONT');
      return;
    }
    faults[share < 0.6 ? 'stops' : 'kills'] += 1;
    if (share < 0.6) await target.stop();
    await restart(target);
  }
  const found = await underFaults(run, target, durationMs[tier], inject);
  return { ...faults, ...found };
}

function proveServers(run: Run): Promise<Figures> {
  const { random, variants } = run;
  return onSeparatePostgres(servers, { random, variants }, async ({ fleet, disturb, faults }) => {
    const inject = () => disturb(random.between(pausedMs.from, pausedMs.to));
    const found = await underFaults(run, fleet.target, serversDurationMs[run.tier], inject);
    return { ...faults, ...found };
  });
}

async function underFaults(
  { folder, random, violations }: Run,
  target: Target,
  ms: number,
  inject: () => Promise<void>,
): Promise<Figures> {
  const check = buildChecker(folder);
  const running = startClients(target, random, clients);
  const until = performance.now() + ms;
  while (performance.now() < until) {
    await Bun.sleep(random.between(faultAfterMs.from, faultAfterMs.to));
    await inject();
  }
  return evaluate(await running.stop(), check, violations);
}

function evaluate(history: History, check: Checker, violations: Violations) {
  const { operations, strange } = operationsOf(history);
  for (const text of strange) violations.add(text);
  const wrong = falsified(operations);
  if (wrong === null) violations.add('the history contains no read that can be falsified');
  const report = check(operations);
  for (const key of report.violations)
    violations.add(`not linearizable: ${explain(operations, key)}`);
  for (const key of report.undecided) violations.add(`the checker timed out: ${key}`);
  const rejected = wrong !== null && check(wrong).violations.length > 0;
  if (!rejected) violations.add('the checker accepted a history with a stale read');
  const unknown = history.writes.filter(({ outcome }) => outcome === 'unknown').length;
  return {
    requests: history.writes.length + history.observations.length,
    unknownOutcomes: unknown,
    memories: report.memories,
    operations: report.operations,
    notLinearizable: report.violations.length,
    staleReadRejected: rejected ? 'yes' : 'no',
  };
}

/** Describes the last operations on a memory, without reads that repeat the previous value. */
function explain(operations: Operation[], key: string): string {
  const own = operations.filter((operation) => operation.key === key);
  const news = own
    .sort((a, b) => a.call - b.call)
    .filter(({ kind, value }, index) => kind !== 'read' || own[index - 1]?.value !== value);
  const lines = news.map(({ kind, value, outcome, call, return: returned }) =>
    [kind, value, outcome, `${call}–${returned}`].join(' '),
  );
  return `${key}: … ${lines.slice(-shownOperations).join('; ')}`;
}
