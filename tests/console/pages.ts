import { describe, expect, test } from 'bun:test';
import { documented } from '../support/document.ts';
import { startTestServer, withProject } from '../support/server.ts';
import { enter, expectAccessible, inBrowser, open, openOnPhone, typeInto } from './browser.ts';

/* How the pages are served, the API reference, and texts and keys that need care. */

const server = await withProject();

const hostile = `<img src=x onerror="document.title='owned'"><script>alert(1)</script>\u202E&amp;`;

inBrowser('hostile texts are shown as text', async () => {
  const metadata = { [hostile]: hostile };
  const names = { userId: hostile, source: hostile, externalId: hostile };
  const content = `${hostile} dark`;
  const saved = await server.client.save({ content, metadata, ...names });
  const { page } = await open(`${server.url}/console#key=${server.key}`);
  for (const [hash, text] of [
    ['users', hostile],
    [`users/${encodeURIComponent(hostile)}`, content],
    [`users/${encodeURIComponent(hostile)}?text=dark`, content],
    [`memories/${saved.id}`, content],
  ] as const) {
    await page.goto(`${server.url}/console#/${hash}`);
    await page.getByText(text, { exact: true }).first().waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    await expectAccessible(page);
  }
  expect(await page.title()).toBe('Memory · memory-service');
});

inBrowser('a read-only key of one user sees what it may, and no more', async () => {
  const { id } = await server.client.save({ userId: 'eve', content: 'Reads only' });
  await server.client.save({ userId: 'mallory', content: 'A secret' });
  const key = await server.createKey('default', { userId: 'eve', readOnly: true });
  const opened = await open(`${server.url}/console#key=${key}`);
  const { page } = opened;
  const { project } = await server.client.key();
  await page.getByText(`${project} · eve`).waitFor();
  await expectAccessible(page);
  const text = (await page.locator('main').textContent()) ?? '';
  expect(text).not.toContain('memory.save');
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  await page.goto(`${server.url}/console#/users`);
  await page.getByRole('link', { name: 'eve' }).waitFor();
  expect(await page.getByRole('link', { name: 'mallory' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: /Erase/ }).count()).toBe(0);
  await page.goto(`${server.url}/console#/add`);
  await page.getByRole('heading', { name: 'Connect' }).waitFor();
  await page.goto(`${server.url}/console#/memories/${id}`);
  await page.getByText('Reads only').waitFor();
  expect(await page.getByRole('button', { name: /Edit|Delete/ }).count()).toBe(0);
  await page.goto(`${server.url}/console#/users/mallory`);
  await page.getByRole('alert').waitFor();
  expect(opened.problems.splice(0)).toEqual([expect.stringContaining('403')]);
});

inBrowser('a key that is revoked ends the session', async () => {
  const opened = await open(`${server.url}/console#key=${server.key}`);
  const { page } = opened;
  await page.getByRole('heading', { name: 'Connect' }).waitFor();
  await page.route('**/v1/users*', (route) =>
    route.continue({ headers: { authorization: 'Bearer no-such-key-of-anyone' } }),
  );
  await page.getByRole('link', { name: 'Users' }).click();
  await page.getByRole('heading', { name: 'Enter an API key' }).waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  expect(opened.problems.splice(0)).toEqual([expect.stringContaining('401')]);
});

inBrowser('metadata that is not JSON, or loses digits, is refused by its name', async () => {
  const { id } = await server.client.save({ userId: 'ada', content: 'Likes tea' });
  const { page } = await open(`${server.url}/console#key=${server.key}`);
  await page.goto(`${server.url}/console#/memories/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  for (const metadata of ["{ 'role': 'user' }", '{"order":12345678901234567}']) {
    await page.getByLabel('Metadata, as JSON').fill(metadata);
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /^metadata: / })
      .waitFor();
  }
  expect(await page.getByRole('alert').textContent()).toContain('use a string');
});

inBrowser('the text that one can edit is as long as the text that one can save', async () => {
  const { id } = await server.client.save({ userId: 'ada', content: '🎻'.repeat(65_536) });
  const { page } = await open(`${server.url}/console#key=${server.key}`);
  await page.goto(`${server.url}/console#/memories/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Text', { exact: true }).fill('🎻');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  expect((await server.client.get(id)).content).toBe('🎻');
});

inBrowser('a phone of 360 pixels needs no scrolling to the side', async () => {
  const content = 'WithoutAnySpace'.repeat(40);
  const { id } = await server.client.save({ userId: content.slice(0, 256), content });
  const { page } = await openOnPhone(`${server.url}/console#key=${server.key}`);
  for (const hash of ['', 'users', `users/${content.slice(0, 256)}`, `memories/${id}`]) {
    await page.goto(`${server.url}/console#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await expectAccessible(page);
  }
  await page.goto(`${server.url}/console#/add?user=ada`);
  const name = `${content.slice(0, 90)}.txt`;
  const file = { name, mimeType: 'text/plain', buffer: Buffer.from('Likes tea') };
  await page.getByLabel('Or choose files, or drop them here').setInputFiles(file);
  await page.getByRole('cell', { name: 'queued' }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
});

inBrowser('the page at / shows the address in use, and buttons', async () => {
  const address = server.url.replace('127.0.0.1', 'localhost');
  const { page } = await open(address);
  await page.getByText(`curl ${address}/v1/memories`).waitFor();
  expect(await page.getByRole('button').count()).toBe(5);
  await expectAccessible(page);
});

test('each page and its files stay below 60 KB, compressed', async () => {
  async function sizeOf(path: string): Promise<number> {
    const bytes = await (await fetch(server.url + path)).arrayBuffer();
    expect(bytes.byteLength).toBeGreaterThan(0);
    return Bun.gzipSync(bytes).length;
  }
  for (const page of ['console', 'docs']) {
    const paths = [`/${page}`, `/assets/${page}.js`, '/assets/console.css'];
    const sizes = await Promise.all(paths.map(sizeOf));
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
  }
});

test('the pages exist only if the setting says so', async () => {
  await using without = await startTestServer({ MEMORY_CONSOLE: 'off' });
  for (const path of ['/console', '/docs', '/assets/console.js', '/assets/console.css']) {
    expect((await fetch(server.url + path)).status).toBe(200);
    expect((await fetch(without.url + path)).status).toBe(404);
  }
  const home = await fetch(without.url, { headers: { accept: 'text/html' } });
  expect(await home.text()).not.toMatch(/href="(?:console|docs)"/);
});

describe('The API reference at /docs', () => {
  inBrowser('lists every operation of the OpenAPI document', async () => {
    const { page } = await open(`${server.url}/docs`);
    await page.getByText('Save a memory').waitFor();
    const operations = documented.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    const summaries = await page.locator('.operation[id] > summary').allTextContents();
    const shown = summaries.map((text) => text.split(' ').slice(0, 2).join(' '));
    expect(shown.toSorted()).toEqual(operations.toSorted());
    await expectAccessible(page);
  });

  inBrowser("sends a request with the reader's key, by keyboard", async () => {
    const { page } = await open(`${server.url}/docs`);
    await page.getByText('Save a memory').waitFor();
    await typeInto(page, 'API key for requests', server.key);
    await enter(page, 'POST /v1/memories Save a memory');
    const form = page.getByRole('form', { name: 'Try saveMemory' });
    await form.waitFor();
    await enter(page, 'Send the request');
    await form.getByText('201 Created').waitFor();
    await expectAccessible(page);
    expect((await server.client.list({ userId: 'u-1' })).items).toHaveLength(1);
  });

  inBrowser(
    'shows fields, examples, responses and the error of a request without a key',
    async () => {
      const opened = await open(`${server.url}/docs#searchMemories`);
      const { page } = opened;
      await page.getByRole('row', { name: 'query required query: string, 1 to 1000' }).waitFor();
      const boxes = ['header', '#searchMemories'].map((one) => page.locator(one).boundingBox());
      const [header, operation] = await Promise.all(boxes);
      expect(operation?.y ?? 0).toBeGreaterThanOrEqual(header?.height ?? 0);
      await page.getByText('Body of a 200').click();
      await page.getByText('items[].highlights[].start').waitFor();
      await expectAccessible(page);
      const form = page.getByRole('form', { name: 'Try searchMemories' });
      const metadata = form.getByLabel('metadata, as key=value');
      expect(await metadata.getAttribute('placeholder')).toBe('source=chat');
      await metadata.fill('a=b');
      const sent = page.waitForRequest(/metadata/);
      await form.getByRole('button', { name: 'Send the request' }).click();
      expect((await sent).url()).toEndWith('/v1/memories/search?metadata%5Ba%5D=b');
      await form.getByText('401 Unauthorized').waitFor();
      expect(opened.problems.splice(0)).toEqual([expect.stringContaining('401')]);
    },
  );

  inBrowser('needs no scrolling to the side on a phone of 360 pixels', async () => {
    const { page } = await openOnPhone(`${server.url}/docs#ingestBatch`);
    await page.getByRole('form', { name: 'Try ingestBatch' }).waitFor();
    await page.getByText('Body: Ingest').click();
    await page.getByText('What holds for every request').click();
    await page.getByRole('cell', { name: 'payload_too_large' }).first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await expectAccessible(page);
  });
});
