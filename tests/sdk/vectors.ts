import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as faults from '../support/fault-server.ts';

/*
 * The contract vectors: calls, the replies of a scripted server, and the requests and outcome that
 * are expected. The tests of both SDKs run them, so that both follow the same rules.
 */

export type Vector = {
  name: string;
  client?: { apiKey?: string; headers?: Record<string, string> };
  call: {
    /** The name of an operation, or `waitUntilComplete`. */
    method: string;
    id?: string;
    /** Named as on the wire. */
    arguments?: Record<string, unknown>;
    /** Named as in the TypeScript SDK. */
    options?: Record<string, unknown>;
    /** Whether to iterate over all pages. */
    iterate?: true;
  };
  /** The reply to each request. The last one is repeated. */
  server: VectorReply[];
  /** The expected requests. */
  requests?: ExpectedRequest[];
  /** The expected number of requests, if neither `requests` nor `error` says it. */
  attempts?: number;
  /** The expected fields of the error. Without it, the call returns the JSON of the last reply. */
  error?: { class?: string; messageStart?: string; [field: string]: unknown };
  /** The expected ids of the items, if the call iterates. */
  items?: string[];
  /** The expected statuses that a wait reports. */
  statuses?: string[];
  /** The limits of the call's duration. */
  minMs?: number;
  maxMs?: number;
};

type ExpectedRequest = {
  method: string;
  path: string;
  /** Headers that differ from the usual ones. One of null is absent. */
  headers?: Record<string, string | null>;
  /** By default, a POST or PATCH sends the arguments. */
  body?: unknown;
};

export type VectorReply =
  | { fault: 'drop' | 'silent' | 'stall' | 'cut' | 'cutChunks' }
  /** `error` is the code of an error of the service. */
  | { status: number; error: string; headers?: Record<string, string> }
  | { status: number; html: string }
  | { status: number; json?: unknown; text?: string; headers?: Record<string, string> };

type VectorFile = {
  /** Replies that cases refer to by name. */
  replies?: Record<string, VectorReply>;
  /** A case with `forEach` is repeated for each row of a group, whose fields replace `$field`. */
  groups?: Record<string, Record<string, unknown>[]>;
  cases: (Vector & { forEach?: string })[];
};

export const vectorFiles = ['operations', 'requests', 'retries', 'errors', 'pages', 'waits'];

export function readVectors(file: string): Vector[] {
  const path = join(import.meta.dir, 'vectors', `${file}.json`);
  const { replies = {}, groups = {}, cases }: VectorFile = JSON.parse(readFileSync(path, 'utf8'));
  return cases.flatMap(({ forEach, ...vector }) => {
    const rows = forEach === undefined ? [{}] : groups[forEach];
    if (rows === undefined) throw new Error(`${file}: there is no group ${forEach}`);
    return rows.map((row) => {
      const filled = fill(vector, row);
      return { ...filled, server: filled.server.map((one) => replies[String(one)] ?? one) };
    });
  });
}

/** Replaces `"$field"` by the value of the field, and `$field` in a text by its text. */
function fill(vector: Vector, row: Record<string, unknown>): Vector {
  let text = JSON.stringify(vector);
  for (const [field, value] of Object.entries(row)) {
    const json = JSON.stringify(value);
    text = text.replaceAll(`"$${field}"`, () => json).replaceAll(`$${field}`, () => String(value));
  }
  return JSON.parse(text);
}

const { dropped: drop, silent, stalled: stall, cut, cutInChunks: cutChunks } = faults;
const faultReplies = { drop, silent, stall, cut, cutChunks };

export function scriptedReply(reply: VectorReply): faults.Reply {
  if ('fault' in reply) return faultReplies[reply.fault];
  if ('error' in reply) return faults.refusal(reply.status, reply.error, reply.headers);
  if ('html' in reply)
    return faults.text(reply.status, reply.html, { 'Content-Type': 'text/html' });
  const { status, json, text = JSON.stringify(json), headers } = reply;
  const type = 'json' in reply ? { 'Content-Type': 'application/json' } : {};
  return faults.text(status, text, { ...type, ...headers });
}
