import { Elysia } from 'elysia';
import type { Health } from '../../sdk/contract/status.ts';
import { css, javascript, sendFile, sendHtml } from './page.ts';
import { type ResponseHead, sendJson, varyByAccept } from './response.ts';
import type { Services } from './services.ts';

/**
 * Serves the front page to browsers, and the addresses of the documentation to programs. The page's
 * files are loaded on the first request, to keep startup fast.
 */
export function home(services: Services, readHealth: () => Promise<Health>) {
  async function sendHome(set: ResponseHead): Promise<string> {
    const { assets, renderPage } = await import('../home/page.ts');
    const { config, homepage: docs } = services;
    const about = { url: services.url, docs, hasConsole: config.console === 'on' };
    return sendHtml(set, assets, renderPage({ ...about, health: await readHealth() }));
  }

  return new Elysia()
    .get('/', ({ request, set }) => {
      varyByAccept(set);
      if (isBrowser(request)) return sendHome(set);
      const { version, homepage: docs } = services;
      const about = { name: 'memory-service', version, docs, openapi: '/openapi.json' };
      return sendJson(set, 200, JSON.stringify(about));
    })
    .get('/assets/home.css', async ({ set }) => sendFile(set, css, (await readAssets()).style))
    .get('/assets/home.js', async ({ set }) =>
      sendFile(set, javascript, (await readAssets()).script),
    )
    .get('/favicon.ico', async () => {
      const { favicon } = await readAssets();
      return new Response(favicon, { headers: { 'content-type': 'image/x-icon' } });
    });
}

const readAssets = () => import('../home/assets.ts');

/** Browsers ask for HTML first. Programs ask for JSON, or accept anything. */
function isBrowser({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? '';
  return accept.includes('text/html') && !accept.includes('application/json');
}
