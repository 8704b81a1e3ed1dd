import { describe, expect, test } from 'bun:test';
import { type AdmissionLimits, createAdmission } from '../../server/threads/admission.ts';

const MiB = 1024 * 1024;
const usual: AdmissionLimits = {
  running: { total: 10 * MiB, project: 5 * MiB },
  waiting: { total: 5, project: 3 },
  maxWaitMs: 5_000,
};

/** Creates an admission of bodies. `started` lists the names of the admitted ones in order. */
function queueOf(limits: Partial<AdmissionLimits> = {}) {
  const queue = createAdmission({ ...usual, ...limits }, 'too much is waiting');
  const started: string[] = [];
  const release = new Map<string, () => void>();
  function admit(
    name: string,
    projectId: number,
    mib: number,
    about: { waitingSize?: number; signal?: AbortSignal } = {},
  ): Promise<unknown> {
    return queue.admit({ projectId, size: mib * MiB, waitingSize: 1, ...about }).then(
      (free) => {
        started.push(name);
        release.set(name, free);
      },
      (error) => error,
    );
  }
  async function free(name: string): Promise<void> {
    release.get(name)?.();
    await settle();
  }
  return { admit, free, started };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Bodies are written as name, project and MiB; `a>bc` means that the end of `a` starts `bc`. */
test.each<[what: string, bodies: string, started: string, ends: string]>([
  ['start while they fit into the share of their project', 'a1:2 b1:2 c1:2 d1:2', 'ab', 'b>c a>d'],
  ['start together if all of them fit after an end', 'a1:5 b1:1 c1:2', 'a', 'a>bc'],
  ['run alone if they are larger than the share or the total', 'a1:50 b1:1', 'a', 'a>b'],
  ['do not wait for a project that uses its share', 'a1:5 b1:5 c1:5 x2:5', 'ax', 'x> a>b'],
  ['of several projects take turns', 'f3:10 a1:10 b1:10 c1:10 x2:10', 'f', 'f>a a>x x>b b>c'],
  ['do not starve a large one', 'a1:4 b2:4 l3:5 s4:1', 'ab', 'a>ls'],
])('bodies %s', async (_, bodies, begun, ends) => {
  const { admit, free, started } = queueOf();
  for (const body of bodies.split(' ')) {
    const [, name = '', project, mib] = /(\w)(\d):(\d+)/.exec(body) ?? [];
    void admit(name, Number(project), Number(mib));
  }
  await settle();
  expect(started.splice(0).join('')).toBe(begun);
  for (const [ended = '', next = ''] of ends.split(' ').map((end) => end.split('>'))) {
    await free(ended);
    expect([ended, started.splice(0).join('')]).toEqual([ended, next]);
  }
});

describe('a body is rejected with 503 and Retry-After', () => {
  const unavailable = { code: 'unavailable', retryAfterSeconds: 1 };

  test('if too many bodies of its project are waiting', async () => {
    const { admit, free, started } = queueOf();
    for (const name of ['a', 'b', 'c', 'd']) void admit(name, 1, 5);
    expect(await admit('e', 1, 5)).toMatchObject(unavailable);
    void admit('other', 2, 5);
    await free('a');
    expect(started).toEqual(['a', 'other', 'b']);
  });

  test('after its own waiting time, regardless of when other bodies arrived', async () => {
    const { admit, free, started } = queueOf({ maxWaitMs: 300 });
    void admit('a', 1, 5);
    const late = admit('late', 1, 5);
    await Bun.sleep(150);
    void admit('b', 1, 5);
    void admit('c', 1, 5);
    expect(await late).toMatchObject(unavailable);
    await free('a');
    await free('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });

  test('if exactly the maximum number of bodies of all projects is waiting', async () => {
    const { admit } = queueOf({ waiting: { total: 2, project: 2 } });
    void admit('running', 1, 10);
    void admit('first', 2, 1);
    void admit('second', 3, 1);
    const answer = await Promise.race([admit('third', 4, 1), settle()]);
    expect(answer).toMatchObject(unavailable);
  });
});

describe('work that waits', () => {
  const unavailable = { code: 'unavailable', message: 'too much is waiting' };

  test('counts by its own size, which is free again when it begins', async () => {
    const { admit, free, started } = queueOf({ waiting: { total: 10, project: 8 } });
    void admit('a', 1, 5);
    void admit('b', 1, 5, { waitingSize: 5 });
    expect(await admit('c', 1, 5, { waitingSize: 4 })).toMatchObject(unavailable);
    expect(await admit('d', 2, 5, { waitingSize: 6 })).toMatchObject(unavailable);
    await free('a');
    void admit('e', 1, 5, { waitingSize: 8 });
    await free('b');
    expect(started).toEqual(['a', 'b', 'e']);
  });

  test('does not begin if its client has gone', async () => {
    const { admit, free, started } = queueOf();
    const gone = new AbortController();
    void admit('a', 1, 5);
    const left = admit('left', 1, 1, { signal: gone.signal });
    void admit('b', 1, 1);
    gone.abort();
    expect(await Promise.race([left, settle()])).toMatchObject(unavailable);
    await free('a');
    expect(started).toEqual(['a', 'b']);
  });
});

test('a body starts as soon as the one ahead of it times out, which leaves no share behind', async () => {
  const { admit, free, started } = queueOf({ maxWaitMs: 100 });
  void admit('a', 1, 4);
  const large = admit('large', 1, 5);
  await Bun.sleep(50);
  void admit('small', 1, 1);
  expect(await large).toMatchObject({ code: 'unavailable' });
  await settle();
  expect(started).toEqual(['a', 'small']);
  await free('a');
  await free('small');
  void admit('next', 1, 5);
  await settle();
  expect(started).toEqual(['a', 'small', 'next']);
});

test.each([
  ['size', Number.NaN, 1],
  ['size', Number.POSITIVE_INFINITY, 1],
  ['waiting size', 1, Number.NaN],
])('work whose %s is not finite is rejected, and blocks no other', async (_, ...sizes) => {
  const { admit, started } = queueOf();
  const [mib, waitingSize] = sizes;
  expect(String(await admit('a', 1, mib, { waitingSize }))).toContain('must be finite');
  void admit('b', 1, 5);
  await settle();
  expect(started).toEqual(['b']);
});
