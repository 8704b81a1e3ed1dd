/* Requests as text. `:id` stands for the id of a memory of the user `u`. */

export const paths = [
  ...['/', '//', '//v1/memories', '/v1', '/v1/', '/v1//memories', '/v1/memories/', '/V1/memories'],
  ...['/v1/memories/:id', '//v1/memories/:id', '/v1//memories/:id', '/./v1/memories/:id'],
  ...['/health/../v1/memories/:id', '/health/%2e%2e/v1/memories/:id', '/v1/%2e/memories/:id'],
  ...['/%76%31/memories/:id', '/v1%2fmemories/:id', '/v1\\memories\\:id', '/v1/memories/:id;a=b'],
  ...['/v1/memories/:id#health', '/v1/memories/:id%00', '/health?/v1/memories/:id'],
  ...['http://evil.example/v1/memories/:id', 'http://evil.example/health/../v1/memories/:id'],
  ...['http://user:pass@localhost/v1/memories/:id', '/v1/memories?userId=u', '/v1/memories/:id?'],
  ...['/v1/memories/:id/', '/v1/memories/:id/.', '/v1/memories/:id%2f', '/V1/MEMORIES/:id'],
  ...['/openapi.json/../v1/memories/:id', '/health\\..\\v1\\memories\\:id'],
  ...['/health%00/v1/memories/:id'],
  ...['/v1/memories/../../health', '/v1/%2e%2e/health', '/%76%31/memories?userId=u'],
  ...['/v1/memories%2f', '/v1/memories/%00', '/v1/memories/%ff', '/v1/memories/%'],
  ...['/v1/memories/%zz', '/v1/memories/a%2fstatus', '/v1/memories/__proto__'],
  ...['/v1/memories/constructor', '/v1/memories/toString/status'],
  ...[`/v1/memories/${'x'.repeat(5_000)}`, '/v1/memories?userId=%ff'],
  ...['/v1/memories?userId=a&userId=b', '/v1/memories?__proto__=1', '/v1/memories?&&&=&='],
  ...['/v1/memories?userId=u&limit=1e1', '/v1/memories?userId=u&limit=-0'],
  ...['/v1/memories?userId=u&cursor=W10', '/v1/memories?userId=u&cursor=bnVsbA'],
  ...['/v1/memories?userId=u&cursor=WzFlMzA4LCJhIiwiYiJd', '/v1/memories?userId=u#fragment'],
  ...['/v1/memories?userId=u&metadata[__proto__]=1', '/v1/memories?userId=u&metadata[]=1'],
  ...['/v1/memories/search?userId=u&query=%22%22%22%20OR%20*%20NEAR('],
  ...['/v1/memories/search?userId=u&query=%F0%9F%A6%8A'],
  ...['http://localhost/health', 'http://evil.example/v1/memories?userId=u'],
  ...['v1/memories', '*', '?', '#', '/v1/memories;x=y', '/v1/memories\\..\\health'],
];

export const hosts = [
  ...['', ' ', 'a b', '[::1', '[::1]:99999', 'x:port', 'localhost:-1', 'a/b', '%', 'user@host'],
  ...['é.example', 'http://x', 'x'.repeat(3_000), '..', 'x/health?', 'evil.example/health#'],
];

const get = (path: string, ...lines: string[]) =>
  `${[`GET ${path} HTTP/1.1`, 'Host: x', '<auth>', ...lines].join('\n')}\n\n`;
const good = '{"userId":"u","content":"x"}';
const json = 'Content-Type: application/json';
const saveWith = (...lines: string[]) =>
  `${['POST /v1/memories HTTP/1.1', 'Host: x', '<auth>', ...lines].join('\n')}\n\n`;
const saveOf = (body: string, ...lines: string[]) =>
  saveWith(json, `Content-Length: ${Buffer.byteLength(body)}`, ...lines) + body;
const chunks = (text: string) => saveWith(json, 'Transfer-Encoding: chunked') + text;

/** `null` among the expected statuses permits a connection closed without a response. */
type Piece = [name: string, text: string, ...expected: (number | null)[]];
const refused = [400, 401, 429];
const unknown = [400, 404, 405, 501, null];
const wrong = 'Authorization: Bearer x';

export const pieces: Piece[] = [
  ['no Host', 'GET /health HTTP/1.1\n\n'],
  ['two Host headers', 'GET /health HTTP/1.1\nHost: a\nHost: b\n\n'],
  ['HTTP/1.0', 'GET /health HTTP/1.0\n\n'],
  ['HTTP/0.9', 'GET /health\n'],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\n\nSM\n\n'],
  ...['BREW', 'TRACE', 'PROPFIND', 'CONNECT', 'HEAD'].map(
    (method): Piece => [method, `${method} /v1/memories HTTP/1.1\nHost: x\n<auth>\n\n`, ...unknown],
  ),
  ['CONNECT to a host', 'CONNECT localhost:80 HTTP/1.1\nHost: x\n<auth>\n\n'],
  ['a header with NUL', get('/health', 'X-Nul: a\0b')],
  ['a header without a colon', get('/health', 'nonsense')],
  ['a space before the colon', get('/health', 'X-Space : 1')],
  ['a folded header', get('/health', 'X-Fold: a', ' b')],
  ['a valid key, then a wrong one', get('/v1/key', wrong), ...refused],
  ['a wrong key, then a valid one', get('/v1/key', '<auth>').replace('<auth>', wrong), ...refused],
  ['a well-formed body', saveOf(good), 201],
  ['two equal Content-Lengths', saveOf(good, `Content-Length: ${good.length}`), 201],
  ['two different Content-Lengths', saveOf(good, 'Content-Length: 3'), 400, null],
  ['Content-Length and chunked', saveOf(good, 'Transfer-Encoding: chunked'), 400, null],
  ['a negative Content-Length', saveWith(json, 'Content-Length: -1'), 400, null],
  ['a Content-Length in hex', saveWith(json, 'Content-Length: 0x1c') + good, 400, null],
  ['a length past 2^64', saveWith(json, `Content-Length: ${'9'.repeat(20)}`), 400, 413, null],
  ['chunked', chunks(`1c\n${good}\n0\n\n`), 201],
  ['a chunk with an extension', chunks(`1c;a=b\n${good}\n0\n\n`), 201, 400, null],
  ['a chunk size that is not hex', chunks(`zz\n${good}\n0\n\n`), 400, null],
  ['a chunk size past 2^64', chunks(`fffffffffffffffff\n${good}`), 400, 413, null],
  ['a wrong chunk size', chunks(`5\n${good}\n0\n\n`), 400, null],
  ['a trailer', chunks(`1c\n${good}\n0\nX-T: 1\n\n`), 201, 400, null],
  ['chunked twice', `${saveWith(json, 'Transfer-Encoding: chunked, chunked')}0\n\n`],
  ['an unknown transfer encoding', saveWith(json, 'Transfer-Encoding: gzip')],
  ['Expect: 100-continue', saveOf(good, 'Expect: 100-continue')],
  ['Expect: nonsense', saveOf(good, 'Expect: tea')],
  ['Upgrade: websocket', get('/v1/users', 'Upgrade: websocket', 'Connection: Upgrade')],
  ['two idempotency keys', saveOf(good, 'Idempotency-Key: a', 'Idempotency-Key: b'), 400],
  ['a duplicate key, the last invalid', saveOf(good.replace('}', ',"content":1}')), 400],
  // Bun closes a connection if a second request arrives before the first has been answered.
  ['two requests at once', get('/health/live').repeat(2), 200],
  ['a request in the body of a GET', `${get('/health', 'Content-Length: 4')}GET `, 200, 400, null],
];
