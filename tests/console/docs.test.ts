import { expect } from 'bun:test';
import { documented } from '../support/document.ts';
import { withServer } from '../support/server.ts';
import { expectAccessible, inBrowser, tabTo, useBrowser } from './browser.ts';

/* The API reference at /docs. */

const open = useBrowser();
const server = await withServer();

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
  await tabTo(page, 'API key for requests');
  await page.keyboard.type(server.key);
  await tabTo(page, 'POST /v1/memories Save a memory');
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Try saveMemory' });
  await form.waitFor();
  await tabTo(page, 'Send the request');
  await page.keyboard.press('Enter');
  await form.getByText('201 Created').waitFor();
  await expectAccessible(page);
  expect((await server.client.list({ userId: 'u-1' })).items).toHaveLength(1);
});

inBrowser(
  'shows fields, examples and responses, and the error of a request without a key',
  async () => {
    const opened = await open(`${server.url}/docs#searchMemories`);
    const { page } = opened;
    await page.getByRole('row', { name: 'query required query: string, 1 to 1000' }).waitFor();
    await page.getByText('Body of a 200').click();
    await page.getByText('items[].highlights[].start').waitFor();
    await expectAccessible(page);
    const form = page.getByRole('form', { name: 'Try searchMemories' });
    await form.getByLabel('metadata, as key=value').fill('a=b');
    const sent = page.waitForRequest(/metadata/);
    await form.getByRole('button', { name: 'Send the request' }).click();
    expect((await sent).url()).toEndWith('/v1/memories/search?metadata%5Ba%5D=b');
    await form.getByText('401 Unauthorized').waitFor();
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('401')]);
  },
);

inBrowser('needs no scrolling to the side on a phone of 360 pixels', async () => {
  const viewport = { width: 360, height: 740 };
  const { page } = await open(`${server.url}/docs#ingestBatch`, { viewport, colorScheme: 'dark' });
  await page.getByRole('form', { name: 'Try ingestBatch' }).waitFor();
  await page.getByText('Body: Ingest').click();
  await page.getByText('What holds for every request').click();
  await page.getByRole('cell', { name: 'payload_too_large' }).first().waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  await expectAccessible(page);
});
