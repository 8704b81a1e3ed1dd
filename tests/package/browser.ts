import { chromium } from 'playwright-core';
import type { Project } from './project.ts';
import { bundle, bundleWhole, environment, projectWith, type Target } from './runtimes.ts';

let html = '';

/** Serves the page from another origin than that of the service. */
export function startPageServer() {
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(html, { headers }),
  });
}

export async function inChromium(sdk: string, target: Target, origin: string): Promise<string> {
  const executablePath = Bun.which('chromium') ?? Bun.which('google-chrome');
  if (executablePath === null)
    throw new Error('Chromium is missing; run: apt-get install chromium');
  await using project = await projectWith(sdk);
  html = `<!doctype html><script type="module">${await pageBundle(project, target)}</script>`;
  // No host except 127.0.0.1 resolves.
  const args = ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    const outcome = await page.waitForFunction('globalThis.outcome', undefined, {
      timeout: 60_000,
    });
    const result = String(await outcome.jsonValue());
    if (!/^\d+ operations/.test(result)) throw new Error(result);
    return result;
  } finally {
    await browser.close();
  }
}

async function pageBundle(project: Project, target: Target): Promise<string> {
  const { BASE_URL: baseUrl, KEY: apiKey, USER_ID: userId } = environment(target);
  await project.write(
    'page.js',
    `import * as sdk from 'memory-service-sdk';
import { scenario } from './scenario.js';
const version = /Chrome\\/([\\d.]+)/.exec(navigator.userAgent)[1];
globalThis.outcome = await scenario(sdk, ${JSON.stringify({ baseUrl, apiKey, userId })}).then(
  (done) => done + ', Chromium ' + version + ', from ' + location.origin,
  (error) => String(error.stack ?? error) + ' ' + String(error.cause ?? ''),
);`,
  );
  await bundle(project, 'page.js', 'bundle.js');
  return Bun.file(project.file('bundle.js')).text();
}

export async function sizeOfBundle(sdk: string): Promise<string> {
  await using project = await projectWith(sdk);
  const bytes = await bundleWhole(project);
  const installed = await project.run(['du', '-sk', 'node_modules']);
  return `${bytes} bytes gzipped, ofetch included; installed ${installed.split('\t')[0]} KB`;
}
