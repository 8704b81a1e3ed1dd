/** The service's limit on the size of a body. */
const bytes = 5 * 1024 * 1024;
const keyCount = 420_000;

export type Body = { path: string; bytes: Uint8Array; accepted: boolean };

const encoder = new TextEncoder();

/**
 * Bodies within the size limit that are expensive to parse, validate or allocate. All are sent to
 * an ingest endpoint, because ingest endpoints have the highest limit.
 */
export const hostileBodies: Record<string, () => Body> = {
  nested: () => around('"metadata":{"a":', (room) => '['.repeat(room / 2) + ']'.repeat(room / 2)),
  unclosed: () => refused('['.repeat(bytes)),
  values: () => around('"metadata":{"a":', (room) => `[${'0,'.repeat(room / 2 - 2)}0]`),
  keys: () => around('"metadata":{"a":', () => `{${members('k')}}`),
  unknownFields: () => refused(`{${members('u')},"userId":"h","data":{"text":"x"}}`),
  document: () => ({ ...refused(document('lorem ipsum dolor ')), accepted: true }),
  escapes: () => ({ ...refused(document('\\u0061\\n\\"')), accepted: true }),
};

function refused(text: string): Body {
  return { path: '/v1/ingest/document', bytes: encoder.encode(text), accepted: false };
}

function around(head: string, fill: (room: number) => string): Body {
  const [before, after] = [`{"userId":"h",${head}`, '},"data":{"text":"x"}}'];
  const room = bytes - before.length - after.length;
  return refused(before + fill(room - (room % 2)) + after);
}

function members(letter: string): string {
  return Array.from(
    { length: keyCount },
    (_, index) => `"${letter}${index.toString(36)}":1`,
  ).join();
}

function document(words: string): string {
  const [before, after] = ['{"userId":"h","data":{"text":"', '"}}'];
  const times = Math.floor((bytes - before.length - after.length) / words.length);
  return before + words.repeat(times) + after;
}
