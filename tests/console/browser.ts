import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/* Tests of the console in Chromium, if it is installed. */

const executable = Bun.which('chromium') ?? Bun.which('google-chrome');
if (executable === null) console.warn('Skipped the console: Chromium is not installed.');

export const inBrowser = test.skipIf(executable === null);

const axe = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8');

export type Opened = {
  page: Page;
  /** What went wrong in the page: errors, violations of its policy, requests to other servers. */
  problems: string[];
};

let browser: Browser | undefined;
/** All tests take turns with one page, because a new one costs a second of CPU. */
let page: Page;
let problems: string[] = [];

beforeAll(async () => {
  if (executable === null) return;
  browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
  const context = await browser.newContext({ locale: 'en', timezoneId: 'America/New_York' });
  page = await context.newPage();
  page.setDefaultTimeout(60_000);
}, 60_000);
afterAll(() => browser?.close());

/** Each test must leave the page without a problem. */
afterEach(async () => {
  const found = problems;
  problems = [];
  if (page?.url().startsWith('http')) await forget();
  expect(found).toEqual([]);
});

/** Opens an address in a browser that knows nothing yet. */
export async function open(url: string): Promise<Opened> {
  watch(new URL(url).origin);
  await page.goto(url);
  return { page, problems };
}

/** Opens an address on a narrow screen with dark colors. */
export async function openOnPhone(url: string): Promise<Opened> {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: 'dark' });
  return open(url);
}

/** Leaves the page as a new one in a new context. */
async function forget(): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.evaluate('localStorage.clear(), sessionStorage.clear()');
  await Promise.all([context.clearCookies(), context.clearPermissions(), page.unrouteAll()]);
  await page.emulateMedia({ reducedMotion: null, colorScheme: 'light' });
  await page.setViewportSize({ width: 1_280, height: 720 });
  await page.goto('about:blank');
  page.removeAllListeners();
}

function watch(origin: string): void {
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  // Chromium reports each violation of the content security policy as an error.
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    problems.push(`${message.type()}: ${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) problems.push(`request: ${request.url()}`);
  });
}

/** Expects that axe finds no violation of WCAG 2.2 AA or of its best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  // Colors must not be in transition.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(axe);
  const found: string[] = await page.evaluate(`axe
    .run({ resultTypes: ['violations'] })
    .then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
  expect(found).toEqual([]);
}

/** Presses Tab until the element with this text or label has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    const focused: string = await page.evaluate(nameOfFocused);
    if (focused === name) return;
    seen.push(focused);
  }
  throw new Error(`Tab does not reach ${name}; it reaches ${seen.join(', ')}`);
}

export async function typeInto(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.type(text);
}

/** Presses Enter on the element with this text or label. */
export async function enter(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

const nameOfFocused = `(() => {
  const { activeElement: element } = document;
  const label = element.labels?.[0]?.firstElementChild ?? element;
  return element.getAttribute('aria-label') ?? label.textContent.trim();
})()`;
