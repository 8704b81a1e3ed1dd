import { Elysia } from 'elysia';
import { sendJson } from './answer.ts';

export function openapi(version: string) {
  const document = JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version }, paths: {} });
  return new Elysia().get('/openapi.json', (context) => sendJson(context, 200, document));
}
