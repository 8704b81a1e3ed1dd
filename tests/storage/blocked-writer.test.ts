import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { hangsThread } from './faulty-threads.ts';
import { memory, newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/* A writer thread that keeps running after it was terminated, as in a system call that hangs. */

const maxSilenceMs = 30_000;

test('a hanging writer thread that does not exit in time ends the service', async () => {
  const { setTimeout: original } = globalThis;
  // Calls `act` at once, because even a short delay could outlast the rest of the thread's sleep.
  const soon = (act: () => void, ms: number) => {
    if (ms !== maxSilenceMs) return original(act, ms);
    queueMicrotask(act);
    return original(() => {}, ms);
  };
  globalThis.setTimeout = Object.assign(soon, original);
  const ends: string[] = [];
  try {
    await using opened = await openInFolder({
      preload: [join(import.meta.dir, 'faulty-threads.ts')],
      onEnd: (reason) => ends.push(reason),
    });
    const project = await newProject(opened);
    const hung = await rejectionOf(project.save(memory({ userId: hangsThread })));
    // At once, because the thread ends within a second and is then replaced.
    const next = await rejectionOf(project.save(memory()));
    expect(hung).toMatchObject({ code: 'internal' });
    expect(next.message).toBe('the writer thread does not respond; nothing was stored');
    await until(() => ends.length > 0, { what: 'the end', timeoutMs: 3_000 });
  } finally {
    globalThis.setTimeout = original;
  }
  expect(ends).toEqual(['the writer thread does not respond']);
});
