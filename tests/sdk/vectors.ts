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
  /** The expected requests. A header of null is absent, and one of `<present>` has any value. */
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
  path?: string;
  headers?: Record<string, string | null>;
  body?: unknown;
};

export type VectorReply =
  | { fault: 'drop' | 'silent' | 'stall' | 'cut' | 'cutChunks' }
  | { status: number; json?: unknown; text?: string; headers?: Record<string, string> };

type Named = Record<string, VectorReply>;
type VectorFile = {
  /** Replies that cases refer to by name. */
  replies?: Named;
  /** A case with `forEach` is repeated with each reply of the group in place of `$`. */
  groups?: Record<string, Named>;
  cases: (Omit<Vector, 'server'> & { forEach?: string; server: (string | VectorReply)[] })[];
};

export const vectorFiles = ['operations', 'requests', 'retries', 'errors', 'pages', 'waits'];

export function readVectors(file: string): Vector[] {
  const path = join(import.meta.dir, 'vectors', `${file}.json`);
  const { replies = {}, groups = {}, cases }: VectorFile = JSON.parse(readFileSync(path, 'utf8'));
  return cases.flatMap(({ forEach, ...vector }) => {
    const group = forEach === undefined ? { $: undefined } : groups[forEach];
    if (group === undefined) throw new Error(`${file}: there is no group ${forEach}`);
    return Object.entries(group).map(([name, reply]) => {
      const known: Record<string, VectorReply | undefined> = { ...replies, $: reply };
      const server = vector.server.map((one) => (typeof one === 'string' ? known[one] : one));
      if (!server.every((one) => one !== undefined)) throw new Error(`${file}: unknown reply`);
      return { ...vector, name: vector.name.replace('$', () => name), server };
    });
  });
}

const faultReplies = {
  drop: faults.dropped(),
  silent: faults.silent(),
  stall: faults.stalled(),
  cut: faults.cut(),
  cutChunks: faults.cutInChunks(),
};

export function scriptedReply(reply: VectorReply): faults.Reply {
  if ('fault' in reply) return faultReplies[reply.fault];
  const { status, json, text = JSON.stringify(json), headers } = reply;
  const type = 'json' in reply ? { 'Content-Type': 'application/json' } : {};
  return faults.text(status, text, { ...type, ...headers });
}
