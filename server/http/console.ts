import { Elysia } from 'elysia';
import { ServiceError } from '../errors.ts';
import type { Bundle } from '../home/bundle.ts';
import type { Logger } from '../log.ts';
import { css, javascript, sendFile, sendHtml } from './page.ts';
import type { ResponseHead } from './response.ts';

/**
 * Serves the console and the API reference. Nothing of them is loaded before the first request.
 */
export function consolePages(log: Logger) {
  let bundle: Promise<Bundle> | null = null;
  function readBundle(): Promise<Bundle> {
    bundle ??= import('../home/bundle.ts')
      .then(({ bundlePages }) => bundlePages())
      .catch((error) => {
        bundle = null;
        const reasons = error instanceof AggregateError ? error.errors : [error];
        log.warn('could not bundle the console', { error: reasons.join('\n') });
        throw new ServiceError('unavailable', 'the console could not be bundled; see the log');
      });
    return bundle;
  }

  async function send(set: ResponseHead, script: string): Promise<string> {
    try {
      await readBundle();
    } catch {
      set.status = 503;
      return sendFile(set, 'text/plain; charset=utf-8', notBundled);
    }
    return sendHtml(set, assets(script), body);
  }

  async function sendPart(set: ResponseHead, type: string, name: keyof Bundle): Promise<string> {
    return sendFile(set, type, (await readBundle())[name]);
  }

  return new Elysia()
    .get('/console', ({ set }) => send(set, 'console.js'))
    .get('/docs', ({ set }) => send(set, 'docs.js'))
    .get('/assets/console.css', ({ set }) => sendPart(set, css, 'style'))
    .get('/assets/console.js', ({ set }) => sendPart(set, javascript, 'console'))
    .get('/assets/docs.js', ({ set }) => sendPart(set, javascript, 'docs'));
}

/** Only a clone bundles the pages itself. Bun looks for packages only once. */
const notBundled = `The page could not be bundled, because packages are missing.
Run "npm install" in the folder of the service, and start the service again.
The log of the service has the details.
`;

const assets = (script: string) => `<link rel="stylesheet" href="assets/console.css">
<script type="module" src="assets/${script}"></script>`;
const body = `<div id="page"></div>
<noscript>This page needs JavaScript.</noscript>`;
