import { bodyOf, sendRaw } from '../support/raw.ts';
import { send } from './api.ts';
import type { Violations } from './harness.ts';
import type { Target } from './target.ts';

const canary = 'bypass-canary';

/** Tries to read a memory without a valid key. Returns each attempt with its response status. */
export async function tryBypasses(target: Target, violations: Violations): Promise<string[]> {
  const body = { userId: canary, content: canary };
  const saved = await send(target, { method: 'POST', path: '/v1/memories', body });
  const { id } = JSON.parse(saved?.text ?? '{}') as { id: string };
  const shown: string[] = [];
  for (const [name, request] of requests(id, target.key)) {
    const reply = await sendRaw(target.url, [request]);
    shown.push(`${name}: ${reply.status ?? 'closed without a response'}`);
    if (bodyOf(reply).includes(canary)) violations.add(`${name}: the response contains the memory`);
    if ((reply.status ?? 400) < 300 && bodyOf(reply).includes('"id"'))
      violations.add(`${name}: ${reply.status} ${bodyOf(reply).slice(0, 80)}`);
    if ((reply.status ?? 400) >= 500) violations.add(`${name}: ${reply.status}`);
  }
  return shown;
}

function requests(id: string, key: string): [string, string][] {
  const memory = `/v1/memories/${id}`;
  const raw = (method: string, path: string, headers: string[]) =>
    `${[`${method} ${path} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`;
  const host = 'Host: localhost';
  const all: [string, string][] = [];
  for (const path of pathsTo(memory, id))
    all.push([`GET ${path.replaceAll(id, ':id')}`, raw('GET', path, [host])]);
  for (const bad of badHosts) {
    all.push([`Host: ${bad}`, raw('GET', memory, [`Host: ${bad}`])]);
  }
  for (const method of methods) {
    all.push([`method ${method}`, raw(method, memory, [host])]);
  }
  for (const header of overrides) all.push([header, raw('GET', memory, [host, header])]);
  for (const token of tokensLike(key)) {
    const name = token
      .replaceAll(key, '<key>')
      .replaceAll(key.slice(0, -1), '<key cut>')
      .replaceAll(key.toUpperCase(), '<KEY>');
    all.push([`Authorization: ${name}`, raw('GET', memory, [host, `Authorization: ${token}`])]);
  }
  all.push([
    'key in the query string',
    raw('GET', `${memory}?access_token=${key}&api_key=${key}`, [host]),
  ]);
  all.push(['a valid request first', raw('GET', '/health', [host]) + raw('GET', memory, [host])]);
  return all;
}

function pathsTo(memory: string, id: string): string[] {
  return [
    memory,
    `/health/..${memory}`,
    `/health/%2e%2e${memory}`,
    `//v1/memories/${id}`,
    `/v1//memories/${id}`,
    `/%76%31/memories/${id}`,
    `/v1/memories/%6d${id.slice(1)}`,
    `${memory}?`,
    `${memory}#`,
    `${memory}/`,
    `${memory}/.`,
    `${memory}%2f`,
    `${memory};health`,
    `/./v1/memories/${id}`,
    `/openapi.json/..${memory}`,
    `/health?${memory}`,
    `http://localhost${memory}`,
    `http://localhost/health/..${memory}`,
    `http://user:pass@localhost${memory}`,
    `/V1/MEMORIES/${id}`,
    `/v1/memories?userId=${canary}`,
    `/v1\\memories\\${id}`,
    `/health\\..${memory}`,
    `/health%00${memory}`,
  ];
}

const badHosts = [
  '',
  'localhost/health?',
  'localhost/health#',
  'x/..',
  'health',
  '[::1',
  'localhost%2fhealth',
];

const methods = ['HEAD', 'OPTIONS', 'POST', 'PUT', 'TRACE', 'get', 'GETT'];

const overrides = [
  'X-Original-URL: /health',
  'X-Rewrite-URL: /health',
  'X-Forwarded-Prefix: /health',
  'X-HTTP-Method-Override: GET',
  'X-Forwarded-For: 127.0.0.1',
  'X-Forwarded-Host: localhost',
  'Forwarded: for=127.0.0.1',
  'X-Api-Key: admin',
  'Cookie: key=admin',
  'Origin: http://localhost',
  'Upgrade: websocket',
  'Connection: Authorization',
];

/** Authorization headers that must be rejected: malformed, or close to the valid key. */
function tokensLike(key: string): string[] {
  return [
    '',
    'Bearer',
    'Bearer ',
    'Bearer  ',
    'Basic YTpi',
    `bearer${key}`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${key}x`,
    `Bearer ${key.toUpperCase()}`,
    `Bearer ${key} x`,
    `Bearer "${key}"`,
    `Bearer\t${key}`,
    `Token ${key}`,
    key,
    'Bearer null',
    'Bearer undefined',
    'Bearer *',
    `Bearer x, Bearer ${key}`,
    "Bearer ' OR 1=1 --",
  ];
}
