import { expect, test } from 'bun:test';
import { startTestServer, withServer } from '../support/server.ts';
import { expectAccessible, inBrowser, useBrowser } from './browser.ts';

/* What the console shows of texts and keys that it must be careful with, and how it is served. */

const open = useBrowser();
const server = await withServer();

const hostile = `<img src=x onerror="document.title='owned'"><script>alert(1)</script>\u202E&amp;`;

inBrowser('hostile texts are shown as text', async () => {
  const metadata = { [hostile]: hostile };
  const names = { source: hostile, externalId: hostile };
  const saved = await server.client.save({
    userId: hostile,
    content: `${hostile} dark`,
    metadata,
    ...names,
  });
  const { page } = await open(`${server.url}/console#key=${server.key}`);
  for (const [hash, text] of [
    ['users', hostile],
    [`users/${encodeURIComponent(hostile)}`, `${hostile} dark`],
    [`users/${encodeURIComponent(hostile)}?text=dark`, `${hostile} dark`],
    [`memories/${saved.id}`, `${hostile} dark`],
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
  await page.getByText('default · eve').waitFor();
  await expectAccessible(page);
  const text = (await page.locator('main').textContent()) ?? '';
  expect(text).not.toContain('memory.save');
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  await page.goto(`${server.url}/console#/users`);
  await page.getByRole('link', { name: 'eve' }).waitFor();
  expect(await page.getByRole('link', { name: 'mallory' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: /Erase/ }).count()).toBe(0);
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

inBrowser('a phone of 360 pixels needs no scrolling to the side', async () => {
  const content = 'WithoutAnySpace'.repeat(40);
  const { id } = await server.client.save({ userId: content.slice(0, 256), content });
  const { page } = await open(`${server.url}/console#key=${server.key}`, {
    viewport: { width: 360, height: 740 },
    colorScheme: 'dark',
  });
  for (const hash of ['', 'users', `users/${content.slice(0, 256)}`, `memories/${id}`]) {
    await page.goto(`${server.url}/console#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await expectAccessible(page);
  }
});

test('each page and its files stay below 60 KB, compressed', async () => {
  async function sizeOf(path: string): Promise<number> {
    const bytes = await (await fetch(server.url + path)).arrayBuffer();
    expect(bytes.byteLength).toBeGreaterThan(0);
    return Bun.gzipSync(bytes).length;
  }
  for (const [page, script] of [
    ['/console', '/assets/console.js'],
    ['/docs', '/assets/docs.js'],
  ] as const) {
    const sizes = await Promise.all([page, script, '/assets/console.css'].map(sizeOf));
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
  }
});

test('the pages exist only if the setting says so', async () => {
  const without = await startTestServer({ MEMORY_CONSOLE: 'off' });
  for (const path of ['/console', '/docs', '/assets/console.js', '/assets/console.css']) {
    expect((await fetch(server.url + path)).status).toBe(200);
    expect((await fetch(without.url + path)).status).toBe(404);
  }
  const home = await fetch(without.url, { headers: { accept: 'text/html' } });
  expect(await home.text()).not.toMatch(/href="(?:console|docs)"/);
  await without.stop();
});
