import type { Case } from '../support/cases.ts';
import { startChild } from '../support/process.ts';
import { type Project, scenarioText } from './project.ts';
import { bundle, environment, type Packed, projectWith, type Target } from './runtimes.ts';

type PageServer = ReturnType<typeof startPageServer>;

/** Serves a page from a different origin than the service, and receives the page's result. */
export function startPageServer() {
  let shown: Record<string, string> = {};
  let outcome = Promise.withResolvers<string>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/outcome') outcome.resolve(await request.text());
      const type = pathname.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8';
      const text = shown[pathname];
      if (text === undefined) return new Response('', { status: 404 });
      return new Response(text, { headers: { 'content-type': type } });
    },
  });
  return {
    origin: server.url.origin,
    /** Serves these files. Resolves with the body that the page posts to /outcome. */
    show(files: Record<string, string>): Promise<string> {
      shown = files;
      outcome = Promise.withResolvers<string>();
      return outcome.promise;
    },
    stop: () => server.stop(true),
  };
}

export function browserCases({ sdk }: Packed, target: Target, pages: PageServer): Case[] {
  const chromium = Bun.which('chromium') ?? Bun.which('google-chrome');
  return [
    { name: 'bundle in Chromium', run: () => inChromium(chromium, sdk, target, pages) },
    { name: 'bundle, minified', run: () => sizeOfBundle(sdk) },
  ];
}

async function inChromium(
  chromium: string | null,
  sdk: string,
  target: Target,
  pages: PageServer,
): Promise<string> {
  if (chromium === null) throw new Error('Chromium is missing; run: apt-get install chromium');
  await using project = await projectWith(sdk);
  const outcome = pages.show({ '/': page, '/bundle.js': await pageBundle(project, target) });
  const browser = startChild([chromium, ...flags(project), `${pages.origin}/`]);
  try {
    const late = Bun.sleep(60_000).then(() => `no outcome: ${browser.log().slice(-2_000)}`);
    const result = await Promise.race([outcome, late]);
    if (!/^\d+ operations/.test(result)) throw new Error(result);
    return result;
  } finally {
    await browser.end('SIGKILL');
  }
}

/** Returns flags that disable background traffic and let no host except 127.0.0.1 resolve. */
function flags(project: Project): string[] {
  const quiet = ['background-networking', 'component-update', 'sync', 'quic', 'gpu'];
  return [
    '--headless',
    '--no-sandbox',
    '--no-first-run',
    ...quiet.map((name) => `--disable-${name}`),
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    `--user-data-dir=${project.file('profile')}`,
  ];
}

const page = '<!doctype html><title>SDK</title><script type="module" src="/bundle.js"></script>';

async function pageBundle(project: Project, target: Target): Promise<string> {
  const { BASE_URL: baseUrl, KEY: apiKey, USER_ID: userId } = environment(target);
  await project.write('scenario.js', await scenarioText());
  await project.write(
    'page.js',
    `import * as sdk from 'memory-service-sdk';
import { scenario } from './scenario.js';
const version = /Chrome\\/([\\d.]+)/.exec(navigator.userAgent)[1];
const result = await scenario(sdk, ${JSON.stringify({ baseUrl, apiKey, userId })}).then(
  (done) => done + ', Chromium ' + version + ', from ' + location.origin,
  (error) => String(error.stack ?? error) + ' ' + String(error.cause ?? ''),
);
await fetch('/outcome', { method: 'POST', body: result });`,
  );
  await bundle(project, 'page.js', 'bundle.js');
  return Bun.file(project.file('bundle.js')).text();
}

async function sizeOfBundle(sdk: string): Promise<string> {
  await using project = await projectWith(sdk);
  await project.write('whole.js', `export * from 'memory-service-sdk';`);
  const bytes = await bundle(project, 'whole.js', 'whole-bundle.js');
  const installed = await project.run(['du', '-sk', 'node_modules']);
  if (bytes >= 8 * 1024) throw new Error(`${bytes} bytes gzipped, expected fewer than 8,192`);
  return `${bytes} bytes gzipped, ofetch included; installed ${installed.split('\t')[0]} KB`;
}
