import { Elysia } from 'elysia';
import { sendJson } from './response.ts';

/** /openapi.json: outside /v1, without a key. */
export function openapi(version: string) {
  // Loaded and made when it is first asked for, so that it costs the start of the server nothing.
  let document: string | undefined;
  return new Elysia().get('/openapi.json', async ({ set }) => {
    const { openApiDocument } = await import('./openapi/document.ts');
    document ??= JSON.stringify(openApiDocument(version));
    return sendJson(set, 200, document);
  });
}
