import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

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

let browser: Browser | null = null;
/** Most tests take turns with one page, because a new one costs a second of CPU. */
let reused: Page | null = null;
let opened: Opened[] = [];

beforeAll(async () => {
  if (executable === null) return;
  browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
}, 60_000);
afterAll(() => browser?.close());

/** Each test must leave its pages without a problem. */
afterEach(async () => {
  const problems = opened.flatMap((one) => one.problems);
  for (const { page } of opened) {
    if (page === reused) await forget(page);
    else await page.context().close();
  }
  opened = [];
  expect(problems).toEqual([]);
});

async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  if (browser === null) throw new Error('the browser has not started');
  const context = await browser.newContext({ locale: 'en', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  return page;
}

/** Opens an address in a browser that knows nothing yet. */
export async function open(url: string, options?: BrowserContextOptions): Promise<Opened> {
  reused ??= await newPage();
  const page = options === undefined ? reused : await newPage(options);
  const one = { page, problems: watch(page, new URL(url).origin) };
  opened.push(one);
  await page.goto(url);
  return one;
}

const screen = { width: 1_280, height: 720 };

/** Opens an address on a narrow screen with dark colors. */
export async function openOnPhone(url: string): Promise<Opened> {
  reused ??= await newPage();
  await reused.setViewportSize({ width: 360, height: 740 });
  await reused.emulateMedia({ colorScheme: 'dark' });
  return open(url);
}

/** Leaves the page as a new one in a new context. */
async function forget(page: Page): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.evaluate('localStorage.clear(), sessionStorage.clear()');
  await Promise.all([context.clearCookies(), context.clearPermissions(), page.unrouteAll()]);
  await page.emulateMedia({ reducedMotion: null, colorScheme: 'light' });
  await page.setViewportSize(screen);
  await page.goto('about:blank');
  page.removeAllListeners();
}

function watch(page: Page, origin: string): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  // Chromium reports each violation of the content security policy as an error.
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    problems.push(`${message.type()}: ${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) problems.push(`request: ${request.url()}`);
  });
  return problems;
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

const nameOfFocused = `(() => {
  const { activeElement: element } = document;
  const label = element.labels?.[0]?.firstElementChild ?? element;
  return element.getAttribute('aria-label') ?? label.textContent.trim();
})()`;
