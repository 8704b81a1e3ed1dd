import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';
import { enter, expectAccessible, inBrowser, type Opened, open, typeInto } from './browser.ts';

/* Every screen of the console, by mouse and by keyboard. */

const server = await withProject();

/** Opens a screen with a key, by default that of the project. */
async function openScreen(hash: string, key = server.key): Promise<Opened> {
  const opened = await open(`${server.url}/console#key=${key}`);
  await heading(opened.page, 'Connect').waitFor();
  if (hash !== '') await opened.page.goto(`${server.url}/console${hash}`);
  return opened;
}

/** Chromium itself reports the error response that a test has caused. */
function expectError({ problems }: Opened, status: string): void {
  expect(problems.splice(0)).toEqual([expect.stringContaining(`a status of ${status}`)]);
}

function heading(page: Page, name: string) {
  return page.getByRole('heading', { name, exact: true, level: 1 });
}

describe('Connect', () => {
  inBrowser('takes the key from the fragment, and removes it from the address', async () => {
    const { page } = await open(`${server.url}/console#key=${server.key}`);
    await heading(page, 'Connect').waitFor();
    expect(page.url()).toBe(`${server.url}/console#/`);
    expect(await page.context().cookies()).toEqual([]);
    await expectAccessible(page);
    await page.reload();
    await heading(page, 'Connect').waitFor();
    // Another tab does not know the key.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await heading(other, 'Enter an API key').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.reload();
    await heading(page, 'Enter an API key').waitFor();
  });

  inBrowser('asks for a key, and says why one is refused', async () => {
    const opened = await open(`${server.url}/console`);
    const { page } = opened;
    await expectAccessible(page);
    await typeInto(page, 'API key', 'no-such-key-of-anyone');
    await page.keyboard.press('Enter');
    await page.getByText(/^The API key is unknown, expired or revoked/).waitFor();
    await expectAccessible(page);
    await page.getByLabel('API key').fill(server.key);
    await page.keyboard.press('Enter');
    await heading(page, 'Connect').waitFor();
    expectError(opened, '401');
  });

  inBrowser('takes the key of a link that is opened in the tab of the console', async () => {
    const opened = await open(`${server.url}/console`);
    const { page } = opened;
    await heading(page, 'Enter an API key').waitFor();
    await page.goto(`${server.url}/console#key=${server.key}`);
    await heading(page, 'Connect').waitFor();
    expect(page.url()).toBe(`${server.url}/console#/`);
    await page.goto(`${server.url}/console#key=no-such-key-of-anyone`);
    await page.getByText(/^The API key is unknown, expired or revoked/).waitFor();
    expect(page.url()).toBe(`${server.url}/console#/`);
    expectError(opened, '401');
  });

  inBrowser('opens at an address with a percent sign that encodes nothing', async () => {
    const { page } = await open(`${server.url}/console#/users/100%`);
    await page.getByLabel('API key').fill(server.key);
    await page.keyboard.press('Enter');
    await heading(page, '100%').waitFor();
  });

  inBrowser('saves a first memory by keyboard', async () => {
    const { page } = await openScreen('');
    await typeInto(page, 'User', 'grace');
    await typeInto(page, 'Text', 'Found the first bug');
    await page.keyboard.press('Enter');
    await page.getByText('Saved as mem_').waitFor();
    const { items } = await server.client.list({ userId: 'grace' });
    expect(items.map(({ content }) => content)).toEqual(['Found the first bug']);
    await enter(page, 'grace');
    await heading(page, 'grace').waitFor();
  });

  inBrowser('copies snippets with the key, and shows the key only if asked to', async () => {
    const { page } = await openScreen('');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy MCP client, over HTTP' }).click();
    const { mcpServers } = JSON.parse(await page.evaluate('navigator.clipboard.readText()'));
    const headers = { Authorization: `Bearer ${server.key}` };
    const entry = { type: 'http', url: `${server.url}/mcp/users/ada`, headers };
    expect(mcpServers.memory).toEqual(entry);
    expect(await page.content()).not.toContain(server.key);
    await page.getByLabel('Show the key').check();
    expect(await page.content()).toContain(server.key);
  });
});

describe('Users', () => {
  inBrowser('lists users, finds one by id, and erases one', async () => {
    for (const userId of ['u-1', 'u-1', 'u-2']) {
      await server.client.save({ userId, content: 'A note' });
    }
    const { page } = await openScreen('#/users');
    await page.getByRole('row', { name: 'u-1 2' }).waitFor();
    await expectAccessible(page);
    await page.getByLabel('Find a user').fill('u-2');
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('button', { name: 'Erase u-2' }).click();
    await expectAccessible(page);
    const erase = page.getByRole('button', { name: 'Erase', exact: true });
    expect(await erase.isDisabled()).toBe(true);
    await page.getByLabel('To confirm, type u-2').fill('u-2');
    await page.keyboard.press('Enter');
    await page.getByText('None of the users shown here has this id').waitFor();
    expect((await server.client.list({ userId: 'u-2' })).items).toEqual([]);
    expect((await server.client.list({ userId: 'u-1' })).items).toHaveLength(2);
  });

  inBrowser('opens a user and cancels an erasure by keyboard', async () => {
    await server.client.save({ userId: 'hopper', content: 'A note' });
    const { page } = await openScreen('#/users');
    await heading(page, 'Users').waitFor();
    await page.getByRole('link', { name: 'hopper' }).waitFor();
    await enter(page, 'Erase hopper');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await heading(page, 'hopper').waitFor();
    expect((await server.client.list({ userId: 'hopper' })).items).toHaveLength(1);
  });
});

describe('Memories of a user', () => {
  inBrowser('are filtered by days of the time zone in which their times are shown', async () => {
    const content = 'Called in the evening';
    await server.client.save({ userId: 'ny', content, occurredAt: '2026-11-28T02:00:00Z' });
    const { page } = await openScreen('#/users/ny?from=2026-11-28');
    await page.getByText('No memory matches the filters.').waitFor();
    await page.goto(`${server.url}/console#/users/ny?from=2026-11-27&to=2026-11-28`);
    await page.getByText(content).waitFor();
    await page.getByText('Nov 27, 2026, 21:00').waitFor();
  });

  inBrowser('lists all of them, page by page, and filters them', async () => {
    const items = Array.from({ length: 60 }, (_, n) => {
      const fields = { content: `Note ${n}`, metadata: { parity: n % 2 } };
      return { ...importable('many'), id: `mem_many_${n + 100}`, ...fields };
    });
    await server.client.import({ items });
    const { page } = await openScreen('#/users/many');
    const rows = page.locator('.memories > li');
    await page.getByText('Note 59').waitFor();
    expect(await rows.count()).toBe(50);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('Note 0', { exact: true }).waitFor();
    expect(await rows.count()).toBe(60);
    await page.getByText('Filters').click();
    await page.getByLabel('Metadata, as key=value').fill('parity=1');
    await page.getByText('Note 58').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Note 58').waitFor();
    await page.getByLabel('Type').selectOption('ticket');
    await page.getByText('No memory matches the filters.').waitFor();
    expect(page.url()).toEndWith('#/users/many?type=ticket');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Search').fill('note');
    await page.getByText('The 20 best matches in').waitFor();
  });

  inBrowser('are exported as JSON Lines', async () => {
    await server.client.save({ userId: 'taker/away', content: 'Likes tea' });
    const { page } = await openScreen('#/users/taker%2Faway');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('taker_away.jsonl');
    const lines = (await Bun.file(await download.path()).text()).trimEnd().split('\n');
    const exported = await Array.fromAsync(server.client.export({ userId: 'taker/away' }));
    expect(lines.map((line) => JSON.parse(line))).toEqual(exported);
  });

  inBrowser('names a document by its title, or else by its external id', async () => {
    const record = { ...importable('named'), type: 'document', content: 'Opens at nine' } as const;
    const items = [
      { ...record, id: 'mem_title', externalId: 'a.md', metadata: { title: 'Opening hours' } },
      { ...record, id: 'mem_name', externalId: 'docs/b.md' },
    ];
    await server.client.import({ items });
    const { page } = await openScreen('#/users/named');
    await page.getByRole('link', { name: 'Opening hours Opens at nine' }).waitFor();
    await page.getByRole('link', { name: 'docs/b.md Opens at nine' }).waitFor();
    await page.getByLabel('Search').fill('nine');
    await page.getByText('2 matches').waitFor();
    await page.getByRole('link', { name: 'docs/b.md Opens at nine' }).waitFor();
  });

  inBrowser('searches while one types, and says why a memory was found', async () => {
    await server.client.save({ userId: 'typing', content: 'Prefers dark mode' });
    await server.client.save({ userId: 'typing', content: 'Plays the cello 🎻 in the dark' });
    const { page } = await openScreen('#/users/typing');
    await typeInto(page, 'Search', 'cello dark');
    await page.getByText('2 matches').waitFor();
    expect(await page.locator('mark').allTextContents()).toEqual(['cello', 'dark', 'dark']);
    const score = page.getByText(/words 0\.\d{3}/).first();
    await score.waitFor();
    // The bars are as long as the scores are high.
    const widths: number[] = await page.evaluate(`[...document.querySelectorAll('.why svg')].map(
      (bar) => [...bar.children].reduce((sum, one) => sum + one.width.baseVal.value, 0))`);
    expect(widths[0]).toBeCloseTo(100);
    expect(widths[1]).toBeLessThan(90);
    await expectAccessible(page);
    // The address has the search, so that one can go back to it.
    await enter(page, 'Plays the cello 🎻 in the dark');
    await heading(page, 'Memory').waitFor();
    await page.goBack();
    await page.getByText('2 matches').waitFor();
    expect(await page.getByLabel('Search').inputValue()).toBe('cello dark');
  });
});

describe('A memory', () => {
  inBrowser('is shown, edited and deleted', async () => {
    const metadata = { role: 'user', tags: ['a'] };
    const saved = await server.client.save({ userId: 'one', content: 'First text', metadata });
    const { page } = await openScreen(`#/memories/${saved.id}`);
    await page.getByText('First text').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Edit' }).click();
    await expectAccessible(page);
    await page.getByLabel('Text').fill('Second text');
    await page.getByLabel('Metadata, as JSON').fill('{ "role": "agent" }');
    await page.getByLabel('Occurred').fill('2026-05-08');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Second text').waitFor();
    const edited = { content: 'Second text', metadata: { role: 'agent' }, version: 2 };
    const occurredAt = '2026-05-08T00:00:00.000Z';
    expect(await server.client.get(saved.id)).toMatchObject({ ...edited, occurredAt });
    await page.getByText('JSON', { exact: true }).click();
    await page.getByText('"version": 2').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await heading(page, 'one').waitFor();
    await page.getByText('This user has no memories.').waitFor();
  });

  inBrowser('is found by a filter and deleted by keyboard, and Health is read', async () => {
    await server.client.save({ userId: 'keys', content: 'From the wiki', source: 'wiki' });
    await server.client.save({ userId: 'keys', content: 'From the shop', source: 'shop' });
    const { page } = await openScreen('#/users/keys');
    await page.getByText('From the shop').waitFor();
    await enter(page, 'Filters');
    await typeInto(page, 'Source', 'wiki');
    await page.getByText('From the shop').waitFor({ state: 'detached' });
    await enter(page, 'From the wiki');
    await heading(page, 'Memory').waitFor();
    await enter(page, 'Delete');
    await page.getByRole('dialog').waitFor();
    await enter(page, 'Delete');
    await heading(page, 'keys').waitFor();
    const { items } = await server.client.list({ userId: 'keys' });
    expect(items.map(({ content }) => content)).toEqual(['From the shop']);
    await enter(page, 'Health');
    await page.getByRole('definition').getByText('ok', { exact: true }).waitFor();
  });

  inBrowser('is not overwritten if somebody else has changed it', async () => {
    const { id } = await server.client.save({ userId: 'two', content: 'First text' });
    const opened = await openScreen(`#/memories/${id}`);
    const { page } = opened;
    await enter(page, 'Edit');
    await server.client.update(id, { content: 'Text of another' });
    await typeInto(page, 'Text', '!');
    await enter(page, 'Save');
    await page.getByText('the memory is at version 2, not 1').waitFor();
    expectError(opened, '412');
    await page.getByRole('button', { name: 'Discard and load again' }).click();
    await page.getByText('Text of another').waitFor();
    expect((await server.client.get(id)).version).toBe(2);
  });

  inBrowser('that does not exist is an error', async () => {
    const opened = await openScreen('#/memories/mem_none');
    await opened.page.getByText(/^No memory has this id/).waitFor();
    expectError(opened, '404');
  });
});
