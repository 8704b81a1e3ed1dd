import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import type { Memory } from '../../sdk/index.ts';
import { dropped, json, refusal, startFaultServer } from '../support/fault-server.ts';
import { temporaryFolder } from '../support/folder.ts';
import { importable } from '../support/writes.ts';
import { expectRan, lines, memoryAt, summaryOf, withMemory } from './command.ts';
import { startService } from './service.ts';

const { server, memory } = await withMemory();

const newProject = async (name: string) =>
  memoryAt({ ...server, key: await server.createKey(name) });

const summary = (imported: number, skipped: number, failed: number) =>
  summaryOf({ imported, skipped, failed });
const jsonl = (memories: unknown[]) => memories.map((one) => `${JSON.stringify(one)}\n`).join('');
const many = (userId: string, count: number): Memory[] =>
  Array.from({ length: count }, (_, index) => {
    const id = `mem_${userId}_${String(index).padStart(5, '0')}`;
    return { ...importable(userId), id, content: `memory ${index}` };
  });

describe('memory export', () => {
  const page = json(200, { items: [importable('u')], nextCursor: 'c' });
  const last = json(200, { items: [{ ...importable('u'), id: 'mem_2' }], nextCursor: null });
  const busy = refusal(503, 'unavailable', { 'Retry-After': '0' });

  test('ends if the service repeats a cursor', async () => {
    using broken = startFaultServer(page);
    const ran = await memory(['export', '--base-url', broken.url]);
    expectRan(ran, 1, 'the service returned a cursor twice');
  });

  test('continues at the same page if the service restarts meanwhile', async () => {
    using restarting = startFaultServer(page, busy, busy, busy, busy, last);
    const ran = await memory(['export', '--base-url', restarting.url]);
    expectRan(ran, 0, 'Exported 2 memories.');
    expect(lines(ran.stdout)).toHaveLength(2);
    expect(restarting.requests.at(-1)?.path).toEndWith('?cursor=c');
  });

  test('fails if the service does not come back within a minute', async () => {
    using broken = startFaultServer(page, dropped);
    const ran = await memory(['export', '--base-url', broken.url], { tickMs: 60_000 });
    expectRan(ran, 5, /^Error: Cannot reach /);
  });

  test('writes small memories together, and large ones as they arrive', async () => {
    const large = many('export-large', 20).map((one) => ({ ...one, content: 'x'.repeat(50_000) }));
    const small = many('export-small', 50);
    await memory(['import', '-'], { stdin: jsonl([...large, ...small]) });
    const written = async (user: string, ...more: string[]) => {
      const lengths: number[] = [];
      const onOutput = ({ length }: string) => void lengths.push(length);
      const { stdout } = await memory(['export', '--user', user, ...more], { onOutput });
      return { stdout, lengths };
    };
    expect((await written('export-small', '--json')).lengths).toHaveLength(1);
    const { stdout, lengths } = await written('export-large');
    expect(stdout).toBe(jsonl(large));
    // Without collecting them in memory.
    expect(Math.max(...lengths)).toBeLessThan(180_000);
  });
});

describe('memory import', () => {
  test('imports an export without changes, and skips it the second time', async () => {
    using folder = temporaryFolder();
    const [from, into] = [await newProject('from'), await newProject('into')];
    await from(['save', '--user', 'trip', '-m', 'k:=[1,{"z":null}]', 'a\ttext\nof lines 🧠']);
    const data = { subject: 'S', comments: [{ author: 'a', content: 'b\nc' }] };
    const ticket = { userId: 'trip', source: 'crm', externalId: '1', data };
    await from(['ingest', 'support', '-', '--wait'], { stdin: JSON.stringify(ticket) });
    const exported = (await from(['export'])).stdout;
    expect(lines(exported)).toHaveLength(2);
    const file = folder.file('memories.jsonl');
    writeFileSync(file, exported);
    const first = await into(['import', file]);
    expect(first).toEqual({ code: 0, stdout: '', stderr: summary(2, 0, 0) });
    expect((await into(['export'])).stdout).toBe(exported);
    expectRan(await into(['import', file]), 0, summary(0, 2, 0));
    await into(['delete', '--user', 'trip', '--yes']);
    expectRan(await into(['import', file]), 0, summary(2, 0, 0));
    expect((await into(['export'])).stdout).toBe(exported);
  });

  test('splits an import that exceeds one request, by count and by size', async () => {
    const all = many('large', 1_034).map((one, index) =>
      index < 8 ? { ...one, content: 'x'.repeat(1_500_000) } : one,
    );
    expectRan(await memory(['import', '-'], { stdin: jsonl(all) }), 0, summary(1_034, 0, 0));
    expect((await memory(['export', '--user', 'large'])).stdout).toBe(jsonl(all));
  });

  test('from a terminal says how to end the input; from a pipe it does not', async () => {
    const text = jsonl(many('typed', 1));
    const typed = await memory(['import', '-'], { typed: text });
    expect(typed.stderr).toContain(summary(1, 0, 0));
    expect(typed.stderr).toContain('Reading from the terminal; press Ctrl-D on an empty line');
    const piped = await memory(['import', '-'], { stdin: text });
    expect(piped.stderr).not.toContain('Reading from the terminal');
  });

  test('counts the replay of a request whose response was lost as imported', async () => {
    const counts = { imported: 1, skipped: 0, failedCount: 0, failed: [] };
    const replay = json(200, counts, { 'Idempotency-Status': 'replayed' });
    using broken = startFaultServer(dropped, replay);
    const around = { env: { MEMORY_BASE_URL: broken.url }, stdin: jsonl(many('lost', 1)) };
    expect((await memory(['import', '-'], around)).stderr).toBe(summary(1, 0, 0));
  });

  test('does not send lines with the same id in concurrent requests', async () => {
    let [running, maxRunning] = [0, 0];
    await using service = startService(async (request) => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      const { items } = (await request.json()) as { items: unknown[] };
      await Bun.sleep(50);
      running -= 1;
      return Response.json({ imported: items.length, skipped: 0, failedCount: 0, failed: [] });
    });
    const all = many('same-id', 500);
    const stdin = jsonl([...all, all[0]]);
    const { stderr } = await memory(['import', '-'], { stdin, env: service.env });
    expect({ stderr, maxRunning }).toEqual({ stderr: summary(501, 0, 0), maxRunning: 1 });
  });
});
