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

/**
 * Sends a page. `assets` are the elements that load its files, by relative paths, so that it also
 * works behind a proxy that adds a prefix.
 */
export function sendHtml(set: ResponseHead, assets: string, body: string): string {
  set.headers['content-security-policy'] = contentSecurityPolicy;
  set.headers['referrer-policy'] = 'no-referrer';
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>memory-service</title>
<link rel="icon" href="favicon.ico">
${assets}
</head>
<body>
${body}
</body>
</html>
`;
  return sendFile(set, 'text/html; charset=utf-8', html);
}

/** Sends a page, or a file that a page loads. */
export function sendFile(set: ResponseHead, type: string, text: string): string {
  set.headers['content-type'] = type;
  return text;
}

export const css = 'text/css; charset=utf-8';
export const javascript = 'text/javascript; charset=utf-8';
