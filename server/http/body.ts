import { ServiceError } from '../errors.ts';

/** For every route that may be sent a body: Elysia leaves it to the handler, which reads it after
 * all that is judged before. */
export const bodyUnread = { parse: 'none' } as const;

/** An over-long body is read and thrown away up to this many times the limit, so that an ordinary
 * client, which writes first and reads after, gets to see the answer. */
export const discardedLimits = 4;

/**
 * The JSON of a request's body. Throws `unsupported_media_type`, `payload_too_large` or
 * `invalid_request`, judged in this order.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  refuseOtherMedia(request.headers);
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(request, maxBytes);
  } catch (error) {
    // A client that hangs up is no fault of ours.
    throw error instanceof ServiceError
      ? error
      : malformed('the body ended before it was complete');
  }
  return parseJson(bytes);
}

function refuseOtherMedia(headers: Headers): void {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;\s*(charset\s*=\s*"?utf-?8"?\s*)?)?$/i.test(type)) {
    throw unsupported('send the body as JSON, with "Content-Type: application/json"');
  }
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported('send the body uncompressed, without Content-Encoding');
  }
}

function unsupported(message: string): ServiceError {
  return new ServiceError('unsupported_media_type', message);
}

function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length');
  // The HTTP parser holds the client to what it declared.
  if (declared !== null && Number(declared) <= maxBytes) return request.bytes();
  return readCounted(request.body, maxBytes);
}

async function readCounted(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes * discardedLimits) break;
    if (bytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (bytes > maxBytes) {
    throw new ServiceError('payload_too_large', `the body must be at most ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw malformed('the body is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words may quote the body.
    throw malformed(text === '' ? 'the body is empty; send JSON' : 'the body is not valid JSON');
  }
}

function malformed(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
