import { expect, test } from 'bun:test';
import { ServiceError } from '../../server/errors.ts';
import { openBoth } from './databases.ts';
import { hostileOperations, type Operation } from './hostile-operations.ts';
import { expectConsistent } from './invariants.ts';

/*
 * Both backends answer the same operations with the same results and errors. HOSTILE_OPERATIONS
 * makes the test longer.
 */

const count = Number(process.env.HOSTILE_OPERATIONS ?? 300);
const seed = Number(process.env.HOSTILE_SEED ?? 20_261_127);

const { opened, projects } = await openBoth();

type Answer = { result: unknown } | { error: string; message: string };

async function answer({ run }: Operation, at: 0 | 1): Promise<Answer> {
  try {
    return { result: await run(projects[at], opened[at]) };
  } catch (error) {
    // Any other error would be answered as internal.
    if (!(error instanceof ServiceError)) throw error;
    return { error: error.code, message: error.message };
  }
}

test('both backends answer unusual operations alike', async () => {
  const codes = new Set<string>();
  for (const operation of hostileOperations(seed, count)) {
    const { name } = operation;
    const [one, other] = await Promise.all([answer(operation, 0), answer(operation, 1)]);
    expect({ name, ...other }).toEqual({ name, ...one });
    if ('error' in one) codes.add(one.error);
  }
  const refused = ['invalid_request', 'not_found', 'precondition_failed'];
  expect([...codes].sort()).toEqual(['idempotency_key_reused', ...refused]);
  for (const one of opened) await expectConsistent(one);
}, 1_800_000);
