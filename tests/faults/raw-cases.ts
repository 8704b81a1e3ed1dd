import { bodies, deep, hosts, paths } from './raw-material.ts';
import { createWire, lines, type RawCase, type Wire } from './raw-wire.ts';

const good = '{"userId":"u","content":"x"}';

export function rawCases(key: string): RawCase[] {
  const wire = createWire(key);
  return [...heads(wire), ...framing(wire), ...chunking(wire), ...media(wire), ...extremes(wire)];
}

/** Returns cases with unusual request lines and headers. */
function heads({ auth, get, item }: Wire): RawCase[] {
  return [
    ...paths.map((path) => item(`path ${path.slice(0, 40)}`, [get(path)])),
    ...hosts.map((host) =>
      item(`Host ${host}`, [lines('GET /v1/memories?userId=u HTTP/1.1', `Host: ${host}`, auth)]),
    ),
    item('no Host', [lines('GET /health HTTP/1.1')]),
    item('two Host headers', [lines('GET /health HTTP/1.1', 'Host: a', 'Host: b')]),
    item('HTTP/1.0', [lines('GET /health HTTP/1.0')]),
    item('HTTP/0.9', ['GET /health\r\n']),
    item('HTTP/2 preface', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']),
    item('bare line feeds', [`GET /health HTTP/1.1\nHost: x\n\n`]),
    item('a TLS hello', [new Uint8Array([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])]),
    item('an unknown method', [lines('BREW /v1/memories HTTP/1.1', 'Host: x', auth)]),
    item('TRACE', [lines('TRACE /v1/memories HTTP/1.1', 'Host: x', auth)]),
    item('CONNECT', [lines('CONNECT localhost:80 HTTP/1.1', 'Host: x', auth)]),
    item('HEAD', [lines('HEAD /v1/memories?userId=u HTTP/1.1', 'Host: x', auth)]),
    item('a header of 20 kB', [get('/health', `X-Long: ${'x'.repeat(20_000)}`)]),
    item('a thousand headers', [
      get('/health', ...Array.from({ length: 1_000 }, (_, n) => `X-${n}: 1`)),
    ]),
    item('a header with NUL', [get('/health', 'X-Nul: a\0b')]),
    item('a header without a colon', [get('/health', 'nonsense')]),
    item('a space before the colon', [get('/health', 'X-Space : 1')]),
    item('a folded header', [get('/health', 'X-Fold: a', ' b')]),
    item('two Authorization headers', [get('/v1/memories?userId=u', auth)]),
  ];
}

/** Returns cases about the length of a body: Content-Length and Transfer-Encoding. */
function framing({ auth, json, post, item }: Wire): RawCase[] {
  return [
    item('a body, well-formed', post(good), 201),
    item('two equal Content-Lengths', post(good, `Content-Length: ${good.length}`)),
    item('two different Content-Lengths', post(good, 'Content-Length: 3'), 400, null),
    item('Content-Length and chunked', post(good, 'Transfer-Encoding: chunked'), 400, null),
    item(
      'a negative Content-Length',
      [lines('POST /v1/memories HTTP/1.1', 'Host: x', auth, json, 'Content-Length: -1')],
      400,
      null,
    ),
    item(
      'a Content-Length in hex',
      [lines('POST /v1/memories HTTP/1.1', 'Host: x', auth, json, 'Content-Length: 0x1c'), good],
      400,
      null,
    ),
    item(
      'a Content-Length past 2^64',
      [
        lines(
          'POST /v1/memories HTTP/1.1',
          'Host: x',
          auth,
          json,
          'Content-Length: 99999999999999999999',
        ),
      ],
      400,
      413,
      null,
    ),
  ];
}

/** Returns cases about chunked bodies, Expect and Upgrade. */
function chunking({ auth, json, get, post, chunked, item }: Wire): RawCase[] {
  return [
    item('chunked', chunked('1c\r\n', good, '\r\n0\r\n\r\n'), 201),
    item(
      'chunked, with an extension',
      chunked('1c;a=b\r\n', good, '\r\n0\r\n\r\n'),
      201,
      400,
      null,
    ),
    item('chunked, a size that is not hex', chunked('zz\r\n', good, '\r\n0\r\n\r\n'), 400, null),
    item('chunked, a size past 2^64', chunked('fffffffffffffffff\r\n', good), 400, 413, null),
    item('chunked, a wrong size', chunked('5\r\n', good, '\r\n0\r\n\r\n'), 400, null),
    item(
      'chunked, with a trailer',
      chunked('1c\r\n', good, '\r\n0\r\nX-T: 1\r\n\r\n'),
      201,
      400,
      null,
    ),
    item('the same transfer encoding twice', [
      lines(
        'POST /v1/memories HTTP/1.1',
        'Host: x',
        auth,
        json,
        'Transfer-Encoding: chunked, chunked',
      ),
      '0\r\n\r\n',
    ]),
    item('an unknown transfer encoding', [
      lines('POST /v1/memories HTTP/1.1', 'Host: x', auth, json, 'Transfer-Encoding: gzip'),
    ]),
    item('Expect: 100-continue', post(good, 'Expect: 100-continue')),
    item('Expect: nonsense', post(good, 'Expect: tea')),
    item('Upgrade: websocket', [
      get(
        '/v1/memories?userId=u',
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Key: x',
        'Sec-WebSocket-Version: 13',
      ),
    ]),
  ];
}

/** Returns cases about media types, charsets, encodings and invalid bodies. */
function media({ auth, json, post, item }: Wire): RawCase[] {
  return [
    item('gzip', post(Bun.gzipSync(Buffer.from(good)), 'Content-Encoding: gzip'), 415),
    item(
      'no media type',
      [
        lines('POST /v1/memories HTTP/1.1', 'Host: x', auth, `Content-Length: ${good.length}`),
        good,
      ],
      415,
    ),
    item(
      'a form',
      [
        lines(
          'POST /v1/memories HTTP/1.1',
          'Host: x',
          auth,
          'Content-Type: multipart/form-data; boundary=x',
          'Content-Length: 4',
        ),
        '--x-',
      ],
      415,
    ),
    item(
      'another charset',
      [
        lines(
          'POST /v1/memories HTTP/1.1',
          'Host: x',
          auth,
          `${json}; charset=utf-16`,
          `Content-Length: ${good.length}`,
        ),
        good,
      ],
      415,
    ),
    ...bodies(good).map(({ name, body, headers = [] }) => item(name, post(body, ...headers), 400)),
    item('a number out of range', post('{"userId":"u","content":"x","metadata":{"n":1e999}}')),
  ];
}

/** Returns deeply nested, slow and pipelined requests. */
function extremes({ auth, json, get, post, item }: Wire): RawCase[] {
  return [
    ...deep().map(({ name, path, body }) =>
      item(
        name,
        [
          lines(
            `POST ${path} HTTP/1.1`,
            'Host: x',
            auth,
            json,
            'Idempotency-Key: deep',
            `Content-Length: ${body.length}`,
          ),
          body,
        ],
        202,
        400,
      ),
    ),
    {
      name: 'headers one byte at a time',
      parts: [...get('/health')].slice(0, 40).concat(get('/health').slice(40)),
      pauseMs: 10,
    },
    {
      name: 'a body one byte at a time',
      parts: [...post(good).slice(0, 1), ...good],
      pauseMs: 10,
      expect: [201],
    },
    // Bun closes a connection if a second request arrives before the first has been answered.
    item('two requests at once', [get('/health/live') + get('/health/live')], 200),
    item(
      'a request inside the body of a GET',
      [`${get('/health', 'Content-Length: 4')}GET `],
      200,
      400,
      null,
    ),
  ];
}
