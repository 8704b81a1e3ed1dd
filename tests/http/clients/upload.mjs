// Sends the uploads on stdin with the API in argv[2] and prints the status of each response.

import { request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

const chunk = Buffer.alloc(65_536, ' ');

function* chunks(size) {
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk.subarray(0, size - sent);
}

async function withFetch({ method, url, headers, bytes, chunked }) {
  const body = chunked ? Readable.toWeb(Readable.from(chunks(bytes))) : Buffer.alloc(bytes, ' ');
  return (await fetch(url, { method, headers, body, duplex: 'half' })).status;
}

function withHttp({ method, url, headers, bytes, chunked }) {
  const length = chunked ? {} : { 'content-length': bytes };
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers: { ...headers, ...length } });
    sending.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    sending.on('error', reject);
    Readable.from(chunks(bytes)).pipe(sending);
  });
}

const send = { fetch: withFetch, http: withHttp }[process.argv[2]];
for (const upload of JSON.parse(await text(process.stdin))) {
  console.log(await send(upload).catch((error) => String(error.cause ?? error)));
}
