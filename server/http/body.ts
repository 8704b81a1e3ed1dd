import { losesDigits } from '../../sdk/contract/numbers.ts';
import { ServiceError } from '../errors.ts';
import type { Admission } from '../threads/admission.ts';
import { mapYielding, yieldToEventLoop } from '../threads/event-loop.ts';
import { countBody } from '../threads/garbage.ts';
import { createDiscard } from './discard.ts';
import { invalidBody, JsonScan, type Range } from './json-scan.ts';

export type BodyReader = ReturnType<typeof createBodyReader>;

/** Reads request bodies. `release` must be called when the response is complete. */
export function createBodyReader(admission: Admission, maxBodyBytes: number) {
  const releases = new WeakMap<Request, () => void>();
  /** The length of each body that was read and parsed. */
  const received = new WeakMap<Request, number>();
  const discard = createDiscard(discardLimits);

  /** Frees the memory that is reserved for a body. */
  function free(request: Request): void {
    releases.get(request)?.();
    releases.delete(request);
  }

  return {
    /**
     * Reads and parses the JSON body of a request. Throws `unsupported_media_type`,
     * `payload_too_large`, `unavailable` or `invalid_request`, in this order. `routeMaxBytes`
     * applies if it is lower than the service's limit.
     */
    async readJson(
      request: Request,
      projectId: number,
      routeMaxBytes = maxBodyBytes,
    ): Promise<unknown> {
      const maxBytes = Math.min(routeMaxBytes, maxBodyBytes);
      rejectOtherMedia(request.headers);
      const declared = declaredBytes(request.headers);
      const scan = new JsonScan();
      const bytes = await readBytes(request, { declared, maxBytes, scan }, async () => {
        const size = declared ?? maxBytes;
        releases.set(request, await admission.admit({ projectId, size, waitingSize: 1 }));
      });
      received.set(request, bytes.length);
      return parseJson(bytes, scan);
    },
    release(request: Request): void {
      free(request);
      countBody(received.get(request) ?? 0);
    },
    /**
     * Reads and discards the rest of a rejected request's body, within limits. Returns whether the
     * body has ended.
     */
    async discardRest(request: Request): Promise<boolean> {
      free(request);
      const { body } = request;
      // A body stays locked after it was read as a whole.
      if (body === null || body.locked) return true;
      return !isTooLongToDiscard(request) && discard(body);
    },
    /**
     * Whether the client may send much more of the request body after the response. Bun would read
     * and discard the rest.
     */
    mayStillSend(request: Request): boolean {
      if (received.has(request)) return false;
      return request.headers.has('transfer-encoding') || isTooLongToDiscard(request);
    },
  };
}

/** A larger body waits in the queue. The code that scans and parses it yields to the event loop. */
const largeBytes = 64 * 1024;

/** How much of a body is scanned at once. Bun passes up to 512 KiB, whose scan takes 3 to 8 ms. */
const scannedBytes = 64 * 1024;

/** Bounds what rejected requests cost, because even requests without an API key are rejected. */
const discardLimits = { maxBytes: 64 * 1024 * 1024, maxMs: 10_000, maxConcurrent: 64 };

function isTooLongToDiscard({ headers }: Request): boolean {
  // mutate-ignore constant: the limit is much larger
  // mutate-ignore boundary: one byte more
  return (declaredBytes(headers) ?? 0) > discardLimits.maxBytes;
}

/**
 * How long a large body may take to arrive once it is admitted. Memory is reserved for it during
 * this time.
 */
const maxReadMs = 120_000;

/**
 * Returns null if there is no Content-Length, as with a chunked body. Bun rejects lengths that
 * differ, and joins equal ones ("5, 5").
 */
export function declaredBytes(headers: Headers): number | null {
  const [declared] = /^\d+/.exec(headers.get('content-length') ?? '') ?? [];
  return declared === undefined ? null : Number(declared);
}

function rejectOtherMedia(headers: Headers): void {
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

type Reading = { declared: number | null; maxBytes: number; scan: JsonScan };

/** Awaits `admit` once more than `largeBytes` have arrived. */
async function readBytes(
  request: Request,
  reading: Reading,
  admit: () => Promise<void>,
): Promise<Uint8Array> {
  const { declared, maxBytes, scan } = reading;
  if (declared !== null && declared > maxBytes) throw tooLarge(maxBytes);
  try {
    // Bun's HTTP parser does not read more than the declared length.
    if (declared !== null && declared <= largeBytes) {
      const bytes = await request.bytes();
      scan.push(bytes);
      return bytes;
    }
    return await readCounted(request.body, reading, admit);
  } catch (error) {
    // Any other error means that the client closed the connection.
    throw error instanceof ServiceError ? error : invalidBody('the request body is incomplete');
  }
}

async function readCounted(
  body: ReadableStream<Uint8Array> | null,
  { maxBytes, scan }: Reading,
  admit: () => Promise<void>,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let admittedAt = Number.POSITIVE_INFINITY;
  // Without `preventCancel`, an error would cancel the stream, and the rest could not be discarded.
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    const wasLarge = bytes > largeBytes; // mutate-ignore boundary: affects only memory
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    if (performance.now() - admittedAt > maxReadMs) throw tooSlow();
    chunks.push(chunk);
    // Admission depends on the bytes received: a client that only declares a large body must not
    // reserve memory.
    if (bytes > largeBytes && !wasLarge) {
      await admit();
      admittedAt = performance.now();
    }
    // mutate-ignore boundary: an empty part
    for (let at = 0; at < chunk.length; at += scannedBytes) {
      scan.push(chunk.subarray(at, at + scannedBytes));
      if (bytes > largeBytes) await yieldToEventLoop();
    }
  }
  return Buffer.concat(chunks);
}

function tooSlow(): ServiceError {
  const seconds = maxReadMs / 1_000;
  return invalidBody(
    `the request body did not arrive within ${seconds} seconds; send a smaller body`,
  );
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `the body must be at most ${maxBytes} bytes`);
}

async function parseJson(bytes: Uint8Array, scan: JsonScan): Promise<unknown> {
  const items = scan.end();
  if (bytes.length === 0) throw invalidBody('the request body is empty; send JSON');
  await mapYielding(scan.longNumbers, (at) => replaceInexact(bytes, at));
  // mutate-ignore removal: affects only speed
  if (bytes.length <= largeBytes) return parse(bytes);
  const body = items === null ? parse(bytes) : { items: await parseItems(bytes, items) };
  await yieldToEventLoop();
  return body;
}

/** JSON.parse returns Infinity for it. */
const infinite = Buffer.from('1e999');
/** What comes before a fraction or an exponent, and after the digits before it. */
const ofFractions = new Set(Buffer.from('.eE+'));
const minus = 0x2d;
const [zero, nine, space] = [0x30, 0x39, 0x20];

/**
 * Replaces the whole number whose 16th digit is at this offset if a double would lose digits of
 * it, so that validation rejects it. A reviver would make JSON.parse thirty times slower.
 */
function replaceInexact(bytes: Uint8Array, at: number): void {
  const byteAt = (offset: number) => bytes[offset] ?? space;
  let begin = at - 15;
  if (byteAt(begin - 1) === minus) begin -= 1;
  let end = at + 1;
  while (byteAt(end) >= zero && byteAt(end) <= nine) end += 1;
  if (ofFractions.has(byteAt(begin - 1)) || ofFractions.has(byteAt(end))) return;
  const number = bytes.subarray(begin, end);
  if (losesDigits(new TextDecoder().decode(number))) number.fill(space).set(infinite);
}

async function parseItems(bytes: Uint8Array, items: Range[]): Promise<unknown[]> {
  // mutate-ignore constant: a list of items has at least one range
  const [[begin, end] = [0, 0], ...more] = items;
  const blank = bytes.subarray(begin, end).every((byte) => byte <= 0x20);
  if (blank && more.length === 0) return [];
  return mapYielding(items, ([begin, end]) => parse(bytes.subarray(begin, end)));
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parse(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidBody('the request body is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message is not returned, because it may contain parts of the body.
    throw invalidBody('the request body is not valid JSON');
  }
}
