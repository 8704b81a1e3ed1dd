import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { homepage, version } from '../../package.json';
import { renderPage } from '../../server/home/page.ts';
import { withFolder } from '../support/folder.ts';
import { pythonProblem, runPython } from '../support/python.ts';
import { send, withServer } from '../support/server.ts';

const origin = 'https://app.example';
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const root = join(import.meta.dir, '../..');

const server = await withServer({ MEMORY_CORS_ORIGINS: origin });
const page = await (await get('/', browser)).text();

function get(path: string, accept: string): Promise<Response> {
  return fetch(server.url + path, { headers: { accept } });
}

test.each(['*/*', 'application/json', 'application/json, text/html;q=0.5', ''])(
  'a program that accepts "%s" gets JSON',
  async (accept) => {
    const response = await get('/', accept);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('vary')).toBe('Origin, Accept');
    const addresses = { docs: homepage, openapi: '/openapi.json' };
    expect(await response.json()).toEqual({ name: 'memory-service', version, ...addresses });
  },
);

test('a browser gets a page that loads nothing from other servers', async () => {
  const { headers, status } = await get('/', browser);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(page).toContain(`<dd>${version}</dd>`);
  expect(page).toContain('<h1>Your memory service is running</h1>');
  expect(page).not.toMatch(/ (?:style|on\w+)=|<style/);
  const loaded = [...page.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g)];
  const types: Record<string, string> = {};
  const script = 'text/javascript; charset=utf-8';
  for (const [, path = ''] of loaded) {
    const response = await get(`/${path}`, '*/*');
    expect(response.status).toBe(200);
    types[path] = response.headers.get('content-type') ?? '';
  }
  const texts = { 'assets/home.css': 'text/css; charset=utf-8', 'assets/home.js': script };
  expect(types).toEqual({ 'favicon.ico': 'image/x-icon', ...texts });
});

test('its links lead to the console, the API, the health and the documentation', async () => {
  const links = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, target = '']) => target);
  expect(links).toEqual(['console', 'docs', 'openapi.json', 'health', homepage]);
  for (const path of links.slice(0, 4)) expect((await get(`/${path}`, '*/*')).status).toBe(200);
});

test('the icon is an ICO file with three sizes', async () => {
  const bytes = new DataView(await (await get('/favicon.ico', '*/*')).arrayBuffer());
  expect([bytes.getUint16(2, true), bytes.getUint16(4, true)]).toEqual([1, 3]);
  expect([6, 22, 38].map((at) => bytes.getUint8(at))).toEqual([16, 32, 48]);
});

test('the page does not repeat the Host header', async () => {
  const headers = { host: 'evil.example', accept: browser };
  expect(await (await fetch(server.url, { headers })).text()).toBe(page);
});

test('the page states why the service is failing', () => {
  const embeddings = { model: null, pending: 0 };
  const counts = { pending: 12_345, oldestPendingSeconds: 1, embeddings };
  const about = { version, storage: 'postgres', ...counts };
  const health = { status: 'failing' as const, ...about, message: 'a <disk> "failed"' };
  const failing = renderPage({ url: server.url, docs: homepage, hasConsole: true, health });
  expect(failing).toContain('<h1>Your memory service is failing</h1>');
  expect(failing).toContain('role="alert">a &#60;disk&#62; &#34;failed&#34;</p>');
  expect(failing).toContain('<dd>PostgreSQL</dd>');
  expect(failing).toContain('<dd>12,345</dd>');
});

describe('the snippets work as they are shown', () => {
  const folder = withFolder();

  function snippet(id: string): string {
    const [, code = ''] = new RegExp(`<code id="${id}">([^<]+)</code>`).exec(page) ?? [];
    return code.replace(/&#(\d+);/g, (_, unit) => String.fromCharCode(Number(unit)));
  }

  /** Runs commands in a shell in which `memory` is our command. */
  async function run(commands: string): Promise<string> {
    const memory = `memory() { '${process.execPath}' '${root}/cli/main.ts' "$@"; }\n`;
    const to = { MEMORY_API_KEY: server.key, MEMORY_DATABASE_URL: server.databaseUrl };
    const env = { PATH: process.env.PATH, HOME: folder.path, ...to };
    const pipes = { stdout: 'pipe', stderr: 'pipe' } as const;
    const child = Bun.spawn(['sh', '-euc', memory + commands], { cwd: root, env, ...pipes });
    const output = new Response(child.stdout).text();
    const errors = await new Response(child.stderr).text();
    expect({ code: await child.exited, errors }).toEqual({ code: 0, errors: expect.anything() });
    return output;
  }

  test('for a key', async () => {
    const key = await run(`${snippet('key')}\necho "$MEMORY_API_KEY"`);
    expect(key).toMatch(/^mk_\w{38}\n$/);
    const headers = { authorization: `Bearer ${key.trim()}` };
    expect((await send(server, 'GET', '/v1/key', { headers })).status).toBe(200);
  });

  const found = { items: [{ userId: 'ada', content: 'Allergic to peanuts' }] };

  test.skipIf(Bun.which('curl') === null)('for curl', async () => {
    const output = await run(`set -f; ${snippet('curl')}`);
    const [saved = '', searched = ''] = output.split(/(?<=})(?={)/);
    expect(JSON.parse(saved)).toMatchObject({ userId: 'ada', content: 'Allergic to peanuts' });
    expect(JSON.parse(searched)).toMatchObject(found);
    await server.client.deleteAll({ userId: 'ada' });
  });

  test('for TypeScript', async () => {
    await Bun.write(folder.file('sample.ts'), snippet('typescript'));
    const runs = `'${process.execPath}' -e "$(cat '${folder.path}/sample.ts')"`;
    expect(await run(runs)).toBe('Allergic to peanuts\n');
    await server.client.deleteAll({ userId: 'ada' });
  });

  test.skipIf(pythonProblem() !== undefined)('for Python', async () => {
    const env = { MEMORY_API_KEY: server.key };
    const { output } = await runPython(['-c', snippet('python')], `${root}/sdk/python`, env);
    expect(output).toBe("['Allergic to peanuts']\n");
    await server.client.deleteAll({ userId: 'ada' });
  });

  test('for the command line and MCP', async () => {
    // Stands in for Claude Code, which need not be installed.
    const calls = folder.file('calls');
    writeFileSync(folder.file('claude'), `#!/bin/sh\necho "$@" >> '${calls}'\n`, { mode: 0o755 });
    const output = await run(`PATH="$PATH:${folder.path}"\n${snippet('cli')} --yes`);
    expect(output).toContain('Allergic to peanuts');
    expect(readFileSync(calls, 'utf8')).toMatch(/^mcp add .* mcp --user ada\b/m);
  });
});
