import { openAdmin } from '../../server/admin.ts';
import { send } from './api.ts';
import { createViolations, type Finding, type Harness, type RunOptions } from './harness.ts';
import { cases } from './matrix-cases.ts';
import { createTarget } from './target.ts';

export const matrix: Harness = {
  id: 'P6',
  promise:
    'An idempotency key that is reused for a different request is rejected and changes nothing; ' +
    'the same key in another project is independent',
  proof:
    `${cases.length} cases: a different body, item order, route, method, project or key; invalid ` +
    'keys; requests after errors, updates, deletion and expiry',
  control: {
    without: 'the comparison with the original request',
    variants: ['any-request-replays'],
  },
  run,
};

async function run({ variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const target = createTarget({ variants, env: { MEMORY_RATE_LIMIT: '1000/1' } });
  try {
    await target.start();
    const admin = await openAdmin(`sqlite:${target.path}`);
    const { key: rotated } = await admin.createKey({ name: 'second', project: 'default' });
    const { key: other } = await admin.createKey({ name: 'other', project: 'other' });
    await admin.close();
    for (const [index, { name, check }] of cases.entries()) {
      const userId = `case-${index}`;
      const problem = await check({
        ...{ target, rotated, other, userId, key: `key-${index}` },
        send: async (call) => {
          const reply = await send(target, call);
          if (reply === null)
            throw new Error(`${name}: no response to ${call.method} ${call.path}`);
          return reply;
        },
      });
      if (problem !== null) violations.add(`${name}: ${problem}`);
    }
    const figures = { cases: cases.length, violations: violations.count() };
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}
