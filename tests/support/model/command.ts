import { expect } from 'bun:test';
import fc from 'fast-check';
import type { MemoryStatus } from '../../../sdk/contract/memory.ts';
import { clock, type Door, type Known, type Model, type Options, type Stored } from './model.ts';

/* Commands that run on the model and on a service, and compare the answers of both. */

export type Answer = { value: unknown } | { error: string };
/** Ids in an answer. The model takes over those that the service has chosen. */
type Ids = { id?: string; memoryId?: string; items?: { memoryId: string }[] };

export function command<Args>(
  name: string,
  args: fc.Arbitrary<Args>,
  act: (model: Model, door: Door, args: Args) => Promise<void>,
) {
  return args.map(
    (given): fc.AsyncCommand<Model, Door> => ({
      check: () => true,
      async run(model, door) {
        model.moveTo(clock.now + 1);
        await act(model, door, given);
        if (door.isAutomatic) await processAll(model, door);
      },
      toString: () => `${name} ${JSON.stringify(given)}`,
    }),
  );
}

export async function processAll(model: Model, door: Door): Promise<void> {
  await door.process();
  model.complete();
}

export const answerOf = (call: Promise<unknown>): Promise<Answer> =>
  call.then(
    (value) => ({ value }),
    (error) => ({ error: String(error.code ?? error.stack) }),
  );

type Write = {
  /** What a repetition with the same key must be equal to. */
  request: unknown;
  send(door: Door, options: Options): Promise<unknown>;
  /** Applies the write to the model and returns the expected answer. */
  apply(ids: Ids): Answer;
};

/** A command that writes, perhaps with a new key or one that another write had. */
export function write<Args>(
  name: string,
  args: fc.Arbitrary<Args>,
  plan: (model: Model, args: Args, version: number | undefined) => Write,
) {
  const keys = fc.constantFrom('none', 'new', 'new', 'other');
  const versions = fc.constantFrom(undefined, 1, 2, 2 ** 31);
  const all = fc.record({ given: args, kind: keys, version: versions });
  return command(name, all, async (model, door, { given, kind, version: wanted }) => {
    const { responses } = model;
    const key = kind === 'none' ? undefined : `k${responses.size - (kind === 'new' ? 0 : 1)}`;
    // The expected version is not part of a request that is repeated.
    const version = key === undefined ? wanted : undefined;
    const { request, send, apply } = plan(model, given, version);
    const text = JSON.stringify([name, request]);
    const known = responses.get(key ?? '');
    if (known?.request === text) return expectReplay(known);
    const call = () => send(door, { key, version });
    const real = await answerOf(call());
    if (known !== undefined) {
      expect(real).toEqual({ error: 'idempotency_key_reused' });
      return;
    }
    const ids: Ids = ('value' in real && real.value) || {};
    expect(real).toMatchObject(apply(ids));
    if (key === undefined || 'error' in real) return;
    const memoryId = ids.memoryId ?? ids.id;
    const stored = { request: text, answer: real.value, memoryId, isCut: false, send: call };
    responses.set(key, stored);
  });
}

export async function expectReplay({ answer, memoryId, isCut, send }: Stored): Promise<void> {
  const cut = { id: memoryId, memoryId, deleted: true };
  expect(await answerOf(send())).toEqual({ value: isCut ? cut : answer });
}

/* The values of commands. Numbers select memories, which are known when a command runs. */

export const words = ['lantern', 'harbour', 'zeppelin', 'walrus', 'kettle', 'invoice'];
/** In the order of their bytes, the last two change places. */
export const users = ['ada', 'Ada', 'ж', '\u{10ffff}', `\uffee%'"`];
export const sources = ['s', '%'];
export const externalIds = ['1', '2', '\u{1d4b3}'.repeat(256)];
export const nth = fc.nat({ max: 30 });
export const status = fc.constantFrom<MemoryStatus>('complete', 'processing', 'failed');
const values = fc.constantFrom('v', '語', '9007199254740993', "'\u2028\\%_");
export const metadata = fc.dictionary(fc.constantFrom('k', 'ü', '%"'), values, { maxKeys: 2 });

export function idOf({ ids, memories }: Model, n: number): string {
  const from = [...(n % 4 === 0 ? ids : memories.keys())];
  return from[n % Math.max(1, from.length)] ?? 'mem_none';
}

/** Applies `act` to the memory if it exists with the expected version. */
export function onMemory(
  { memories }: Model,
  id: string,
  version: number | undefined,
  act: (known: Known) => unknown,
): Answer {
  const known = memories.get(id);
  if (known === undefined) return { error: 'not_found' };
  if (version !== undefined && version !== known.version) return { error: 'precondition_failed' };
  return { value: act(known) };
}
