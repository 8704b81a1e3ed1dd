import type { ResponseHead } from './response.ts';

/** A page loads nothing from other servers, and no other page may show it in a frame. */
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

export function sendHtml(set: ResponseHead, html: string): string {
  set.headers['content-security-policy'] = contentSecurityPolicy;
  set.headers['referrer-policy'] = 'no-referrer';
  return sendFile(set, 'text/html; charset=utf-8', html);
}

/** Sends a page, or a file that a page loads. */
export function sendFile(set: ResponseHead, type: string, text: string): string {
  set.headers['content-type'] = type;
  return text;
}

export const css = 'text/css; charset=utf-8';
export const javascript = 'text/javascript; charset=utf-8';
