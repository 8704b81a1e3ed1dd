import { Elysia } from 'elysia';
import type { DocumentedRoute } from './openapi/routes.ts';
import { sendJson } from './response.ts';

/** Serves /openapi.json, which needs no API key. */
export function openapi(version: string, routes: () => readonly DocumentedRoute[]) {
  // The document is loaded and built on the first request, to keep startup fast.
  let document: string | undefined;
  return new Elysia().get('/openapi.json', async ({ set }) => {
    const { openApiDocument } = await import('./openapi/document.ts');
    document ??= JSON.stringify(openApiDocument(version, routes()));
    return sendJson(set, 200, document);
  });
}
