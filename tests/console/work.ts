import { describe, expect } from 'bun:test';
import { withProject, withServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { importable } from '../support/writes.ts';
import { enter, expectAccessible, inBrowser, type Opened, open, typeInto } from './browser.ts';

/* The screens that show and give the service work: queue, additions, health. */

const server = await withProject();

async function openScreen(name: string): Promise<Opened> {
  const opened = await open(`${server.url}/console#key=${server.key}`);
  await opened.page.getByRole('link', { name, exact: true }).click();
  return opened;
}

describe('Queue', () => {
  async function fail(userId: string, fields: object): Promise<string> {
    const id = `mem_${crypto.randomUUID()}`;
    const memory = { ...importable(userId), id, status: 'failed', ...fields };
    await server.client.import({ items: [memory] } as never);
    return id;
  }

  inBrowser('ingests a failed document again, and keeps or deletes other records', async () => {
    const names = { source: 'wiki', externalId: 'p-1' };
    const document = await fail('q', { ...names, type: 'document', content: 'A page' });
    const event = await fail('q', { type: 'event', content: 'signed up' });
    const ticket = await fail('q', { type: 'ticket', content: 'Refund' });
    const { page } = await openScreen('Queue');
    await page.getByText('The queue is empty.').waitFor();
    await page.getByLabel('Show').selectOption('failed');
    await page.getByText('Refund').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: `Ingest again ${document}` }).click();
    await page.getByText('A page').waitFor({ state: 'detached' });
    await server.client.waitUntilComplete(document);
    expect(await server.client.get(document)).toMatchObject({ ...names, type: 'document' });
    await enter(page, `Keep as it is ${ticket}`);
    await page.getByText('Refund').waitFor({ state: 'detached' });
    expect(await server.client.get(ticket)).toMatchObject({ status: 'complete', type: 'ticket' });
    await page.getByRole('button', { name: `Delete ${event}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No record has failed.').waitFor();
    expect((await server.client.list({ userId: 'q' })).items).toHaveLength(2);
  });
});

describe('Add', () => {
  inBrowser('saves pasted text by keyboard', async () => {
    const { page } = await openScreen('Add');
    await expectAccessible(page);
    await typeInto(page, 'User', 'paste');
    await typeInto(page, 'Text', 'Likes tea');
    await enter(page, 'Add');
    await page.getByText('1 added, 0 failed').waitFor();
    const { items } = await server.client.list({ userId: 'paste' });
    expect(items.map(({ content }) => content)).toEqual(['Likes tea']);
  });

  inBrowser('shows a result for each line of JSON Lines', async () => {
    const exported = { ...importable('lines'), id: `mem_${crypto.randomUUID()}` };
    const lines = [
      { type: 'event', data: { name: 'signed up' } },
      { type: 'event', data: {} },
      { content: 'Likes tea', userId: 'other' },
      exported,
      { content: '' },
    ].map((line) => JSON.stringify(line));
    const inexact = '{"content":"Likes tea","metadata":{"order":12345678901234567}}';
    const { page, problems } = await openScreen('Add');
    await page.getByLabel('What it is').selectOption('lines');
    await page.getByLabel('User of lines without one').fill('lines');
    await page
      .getByRole('textbox', { name: 'Text', exact: true })
      .fill(['not json', ...lines, inexact].join('\n\n'));
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('3 added, 4 failed').waitFor();
    expect(problems.splice(0)).toEqual([expect.stringContaining('400')]);
    await expectAccessible(page);
    const rows = await page.getByRole('row').allTextContents();
    expect(rows.slice(1).map((row) => row.replace(/mem_.*/, ' id'))).toEqual([
      'line 1is not a JSON object',
      'line 5data.name: is required',
      'line 11content: must not be empty',
      'line 13must not contain a number that a double cannot hold; use a string',
      'line 3queued id',
      'line 7saved id',
      'line 9imported, or already there id',
    ]);
    expect(await server.client.get(exported.id)).toMatchObject({ userId: 'lines' });
    expect((await server.client.list({ userId: 'other' })).items).toHaveLength(1);
  });

  inBrowser('ingests files that are chosen or dropped', async () => {
    const { page } = await openScreen('Add');
    await page.getByLabel('User').fill('files');
    const buffer = Buffer.from('A manual about the harbour');
    const file = { name: 'manual.md', mimeType: 'text/markdown', buffer };
    const old = { ...file, name: 'old.txt', buffer: Buffer.from('café', 'latin1') };
    await page.getByLabel('Or choose files, or drop them here').setInputFiles([file, old]);
    await page.getByRole('row', { name: 'manual.md queued' }).waitFor();
    await page.getByRole('row', { name: 'old.txt is not UTF-8 text' }).waitFor();
    await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['{"content":"Dropped"}'], 'x.jsonl'));
      const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
      document.querySelector('main form').dispatchEvent(event);
    })()`);
    await page.getByRole('row', { name: 'x.jsonl line 1 saved' }).waitFor();
    const { items } = await server.client.list({ userId: 'files' });
    expect(items.map(({ content, externalId }) => [content, externalId])).toEqual([
      ['Dropped', null],
      ['A manual about the harbour', 'manual.md'],
    ]);
  });
});

describe('Health', async () => {
  const without = await withServer({ MEMORY_METRICS: 'off' });

  inBrowser('draws what the service does', async () => {
    const { page } = await openScreen('Health');
    await page.getByRole('definition').getByText('ok', { exact: true }).waitFor();
    await server.client.save({ userId: 'busy', content: 'Likes tea' });
    await server.client.search({ userId: 'busy', query: 'tea' });
    const latency = page.getByRole('figure').filter({ hasText: 'Time to search' });
    await until(async () => /p50 [\d.]+ ms/.test((await latency.textContent()) ?? ''));
    await expectAccessible(page);
    expect(await latency.locator('path').first().getAttribute('d')).toMatch(/^M[\d.]+ [\d.]+/);
    const disk = page.getByRole('figure').filter({ hasText: 'Disk' });
    expect(await disk.textContent()).toMatch(/database [\d.]+ (?:KB|MB|bytes)/);
    await page.getByRole('link', { name: '0', exact: true }).click();
    await page.getByText('No record has failed.').waitFor();
  });

  inBrowser('says why there are no metrics', async () => {
    const { page, problems } = await open(`${without.url}/console#key=${without.key}`);
    await page.getByRole('link', { name: 'Health' }).click();
    await page.getByText('the metrics are turned off with MEMORY_METRICS').waitFor();
    expect(problems.splice(0)).toEqual([expect.stringContaining('404')]);
  });
});
