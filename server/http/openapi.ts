import { Elysia } from 'elysia';
import { sendJson } from './response.ts';

/** Serves /openapi.json, which is outside of /v1 and needs no key. */
export function openapi(version: string) {
  // Loaded and built on the first request, so that it does not slow down the start.
  let document: string | undefined;
  return new Elysia().get('/openapi.json', async ({ set }) => {
    const { openApiDocument } = await import('./openapi/document.ts');
    document ??= JSON.stringify(openApiDocument(version));
    return sendJson(set, 200, document);
  });
}
