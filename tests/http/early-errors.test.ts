import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { withServer } from '../support/server.ts';

/*
 * An error that is known before the body has arrived reaches clients that read the response only
 * after they have sent the whole body.
 */

const MB = 1_000_000;
/** More than the buffers of a socket hold, and nearly as much as the service reads. */
const [bytes, most] = [2 * MB, 60 * MB];

const server = await withServer();
const limited = await withServer({ MEMORY_RATE_LIMIT: '1/3600' });
const { authorization, ...json } = by(limited.key);
await fetch(`${limited.url}/v1/key`, { headers: { authorization } });
const readOnly = by(await server.createKey('default', { readOnly: true }));
const known = by(server.key);
const saves = `${server.url}/v1/memories`;

function by(key: string) {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}

type Upload = ReturnType<typeof to>;

function to(url: string, headers: Record<string, string>, bytes: number, chunked = false) {
  return { method: 'POST', url, headers, bytes, chunked };
}

const cases: { status: number; upload: Upload }[] = [
  { status: 413, upload: to(saves, known, most) },
  { status: 413, upload: to(saves, known, bytes) },
  { status: 413, upload: to(saves, known, bytes, true) },
  { status: 429, upload: to(`${limited.url}/v1/memories`, by(limited.key), bytes) },
  { status: 401, upload: to(saves, json, bytes) },
  { status: 401, upload: to(saves, json, most, true) },
  { status: 403, upload: to(saves, readOnly, bytes) },
  { status: 404, upload: to(`${server.url}/nothing`, json, bytes) },
  { status: 405, upload: { ...to(saves, known, bytes), method: 'PUT' } },
  { status: 415, upload: to(saves, { ...known, 'content-type': 'text/plain' }, bytes) },
];

/** For clients that receive an error even if the service stops reading early. */
const smaller = cases.filter(({ upload }) => upload.bytes === bytes);

async function run(command: string[], sent: typeof cases): Promise<string[]> {
  const input = JSON.stringify(sent.map(({ upload }) => upload));
  const child = Bun.spawn(command, { stdin: Buffer.from(input), stderr: 'inherit' });
  return (await new Response(child.stdout).text()).trim().split('\n');
}

const script = (name: string) => join(import.meta.dir, 'clients', name);
const python = (library: string) => ['python3', script('upload.py'), library];
const javascript = (runtime: string, api: string) => [runtime, script('upload.mjs'), api];

function isInstalled(program: string, ...args: string[]): boolean {
  if (Bun.which(program) === null) return false;
  return args.length === 0 || Bun.spawnSync([program, ...args]).exitCode === 0;
}

const clients: [name: string, command: string[], isFound: boolean][] = [
  ['urllib', python('urllib'), isInstalled('python3')],
  ['requests', python('requests'), isInstalled('python3', '-c', 'import requests')],
  ['httpx', python('httpx'), isInstalled('python3', '-c', 'import httpx')],
  ['fetch on Node', javascript('node', 'fetch'), isInstalled('node')],
  ['node:http', javascript('node', 'http'), isInstalled('node')],
  ['fetch on Bun', javascript(process.execPath, 'fetch'), true],
  ['curl', [], isInstalled('curl')],
];

for (const [name, command, isFound] of clients) {
  if (!isFound) console.warn(`Skipped the early errors with ${name}, which is not installed.`);
  test.skipIf(!isFound)(`${name} receives them`, async () => {
    const sent = name === 'urllib' ? cases : smaller;
    const statuses = await (name === 'curl' ? runCurl(sent) : run(command, sent));
    expect(statuses).toEqual(sent.map(({ status }) => String(status)));
  });
}

async function runCurl(sent: typeof cases): Promise<string[]> {
  using folder = temporaryFolder();
  const file = folder.file('upload');
  writeFileSync(file, Buffer.alloc(bytes, ' '));
  const statuses: string[] = [];
  for (const { upload } of sent) statuses.push(await curl(upload, file));
  return statuses;
}

function curl({ method, url, headers, chunked }: Upload, file: string): Promise<string> {
  const lines = Object.entries({ ...headers, ...(chunked && { 'transfer-encoding': 'chunked' }) });
  const flags = lines.flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const body = ['-X', method, '--data-binary', `@${file}`];
  const output = ['-sS', '-o', '/dev/null', '-w', '%{http_code}'];
  const child = Bun.spawn(['curl', ...output, ...body, ...flags, url], { stderr: 'inherit' });
  return new Response(child.stdout).text();
}
