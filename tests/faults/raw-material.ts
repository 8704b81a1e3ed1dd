/* Inputs for the raw-socket cases. */

export const paths = [
  '/',
  '//',
  '//v1/memories',
  '/v1',
  '/v1/',
  '/v1//memories',
  '/v1/memories/',
  '/V1/memories',
  '/v1/memories/../../health',
  '/v1/%2e%2e/health',
  '/%76%31/memories?userId=u',
  '/v1/memories%2f',
  '/v1/memories/%00',
  '/v1/memories/%ff',
  '/v1/memories/%',
  '/v1/memories/%zz',
  '/v1/memories/a%2fstatus',
  '/v1/memories/__proto__',
  '/v1/memories/constructor',
  '/v1/memories/toString/status',
  `/v1/memories/${'x'.repeat(5_000)}`,
  '/v1/memories?userId=%ff',
  '/v1/memories?userId=a&userId=b',
  '/v1/memories?__proto__=1',
  '/v1/memories?userId=u&limit=1e1',
  '/v1/memories?userId=u&limit=-0',
  '/v1/memories?userId=u&cursor=W10',
  '/v1/memories?userId=u&cursor=bnVsbA',
  '/v1/memories?userId=u&metadata[__proto__]=1',
  '/v1/memories?userId=u&metadata[]=1',
  '/v1/memories?userId=u&cursor=WzFlMzA4LCJhIiwiYiJd',
  '/v1/memories?&&&=&=',
  '/v1/memories/search?userId=u&query=%22%22%22%20OR%20*%20NEAR(',
  '/v1/memories/search?userId=u&query=%F0%9F%A6%8A',
  'http://localhost/health',
  'http://evil.example/v1/memories?userId=u',
  'v1/memories',
  '*',
  '?',
  '#',
  '/v1/memories?userId=u#fragment',
  '/v1/memories;x=y',
  '/v1/memories\\..\\health',
];

export const hosts = [
  '',
  ' ',
  'a b',
  '[::1',
  '[::1]:99999',
  'x:port',
  'localhost:-1',
  'a/b',
  '%',
  'user@host',
  'é.example',
  'http://x',
  'x'.repeat(3_000),
  '..',
];

/** Returns bodies and headers that a save must reject. */
export function bodies(
  good: string,
): { name: string; body: string | Uint8Array; headers?: string[] }[] {
  return [
    { name: 'an empty body', body: '' },
    { name: 'a body of spaces', body: '   ' },
    { name: 'truncated JSON', body: good.slice(0, -3) },
    { name: 'two values', body: good + good },
    { name: 'a byte order mark', body: `\ufeff${good}` },
    { name: 'UTF-16', body: Buffer.from(good, 'utf16le') },
    { name: 'invalid UTF-8', body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]) },
    { name: 'null', body: 'null' },
    { name: 'an array', body: '[]' },
    { name: 'a string', body: '"x"' },
    { name: 'NaN', body: 'NaN' },
    { name: 'a comment', body: `/* x */${good}` },
    { name: 'a trailing comma', body: '{"userId":"u","content":"x",}' },
    { name: 'single quotes', body: "{'userId':'u'}" },
    { name: 'the key __proto__', body: '{"userId":"u","content":"x","__proto__":{"a":1}}' },
    {
      name: 'the key __proto__ in metadata',
      body: '{"userId":"u","content":"x","metadata":{"__proto__":1}}',
    },
    {
      name: 'the key constructor, deeper',
      body: '{"userId":"u","content":"x","metadata":{"a":{"constructor":1}}}',
    },
    { name: 'a duplicate key, the last invalid', body: '{"userId":"u","content":"x","content":1}' },
    { name: 'numbers instead of text', body: '{"userId":1,"content":2}' },
    { name: 'an idempotency key with spaces', body: good, headers: ['Idempotency-Key: a b'] },
    {
      name: 'two idempotency keys',
      body: good,
      headers: ['Idempotency-Key: a', 'Idempotency-Key: b'],
    },
  ];
}

/** Returns deeply nested bodies. The deepest would overflow the stack of a recursive parser. */
export function deep(): { name: string; path: string; body: string }[] {
  const nest = (open: string, close: string, levels: number) =>
    `${open.repeat(levels)}1${close.repeat(levels)}`;
  return [1_000, 50_000, 1_000_000].flatMap((levels) => [
    {
      name: `${levels} arrays`,
      path: '/v1/ingest/document',
      body: `{"userId":"u","data":{"text":"x"},"metadata":{"a":${nest('[', ']', levels)}}}`,
    },
    {
      name: `${levels} objects in a batch`,
      path: '/v1/ingest/batch',
      body: `{"items":[${nest('{"a":', '}', Math.min(levels, 500_000))}]}`,
    },
    {
      name: `${levels} arrays in a batch`,
      path: '/v1/ingest/batch',
      body: `{"items":[${nest('[', ']', levels)}]}`,
    },
    {
      name: `${levels} arrays in an event`,
      path: '/v1/ingest',
      body: `{"type":"event","userId":"u","data":{"name":"n","a":${nest('[', ']', levels)}}}`,
    },
  ]);
}
