import { Elysia } from 'elysia';
import type { Health } from '../../sdk/contract/status.ts';
import type { Services } from '../app.ts';
import { type ResponseHead, sendJson, varyByAccept } from './response.ts';

/** The page loads nothing from other servers, and no other page may show it in a frame. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves the front page to browsers, and the addresses of the documentation to programs. The page's
 * files are loaded on the first request, to keep startup fast.
 */
export function home(services: Services, readHealth: () => Promise<Health>) {
  async function sendPage(set: ResponseHead): Promise<string> {
    const { renderPage } = await import('../home/page.ts');
    set.headers['content-security-policy'] = contentSecurityPolicy;
    set.headers['referrer-policy'] = 'no-referrer';
    const shown = { url: services.url(), docs: services.homepage, health: await readHealth() };
    return send(set, 'text/html; charset=utf-8', renderPage(shown));
  }

  return new Elysia()
    .get('/', ({ request, set }) => {
      varyByAccept(set);
      if (isBrowser(request)) return sendPage(set);
      const { version, homepage: docs } = services;
      const about = { name: 'memory-service', version, docs, openapi: '/openapi.json' };
      return sendJson(set, 200, JSON.stringify(about));
    })
    .get('/assets/home.css', async ({ set }) => {
      const { style } = await import('../home/assets.ts');
      return send(set, 'text/css; charset=utf-8', style);
    })
    .get('/assets/home.js', async ({ set }) => {
      const { script } = await import('../home/assets.ts');
      return send(set, 'text/javascript; charset=utf-8', script);
    })
    .get('/favicon.ico', async () => {
      const { favicon } = await import('../home/assets.ts');
      return new Response(favicon, { headers: { 'content-type': 'image/x-icon' } });
    });
}

/** Browsers ask for HTML first. Programs ask for JSON, or accept anything. */
function isBrowser({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? '';
  return accept.includes('text/html') && !accept.includes('application/json');
}

function send(set: ResponseHead, type: string, body: string): string {
  set.headers['content-type'] = type;
  return body;
}
