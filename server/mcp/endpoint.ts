import { limits } from '../../sdk/contract/limits.ts';
import { ServiceError } from '../errors.ts';
import type { Caller } from '../http/authenticate.ts';
import { declaredBytes } from '../http/body.ts';
import type { Fetch } from '../http/listen.ts';
import { type AdmissionLimits, createAdmission } from '../threads/admission.ts';
import { portOf } from '../threads/channel.ts';
import { faultPoint } from '../threads/fault-points.ts';
import { answerCalls } from '../threads/serve.ts';
import type { Thread, Threads } from '../threads/start.ts';
import type { InnerRequest, InnerResponse, McpRequest, McpResponse, McpStart } from './protocol.ts';
import type { ContentRange } from './tools/session.ts';

/**
 * Limits the calls that run, and the bytes of the messages that wait. A message has at most
 * `limits.saveBodyBytes`, and so does each request of its tool.
 */
const admissionLimits: AdmissionLimits = faultPoint('mcp-turns', {
  running: { total: 16, project: 4 },
  waiting: { total: 32 * 1024 * 1024, project: 4 * 1024 * 1024 },
  maxWaitMs: 10_000,
});
/** A waiting message also needs memory for its request and its parsed form. */
const minWaitingBytes = 4 * 1024;

export type Mcp = ReturnType<typeof createMcp>;

/** The HTTP thread's handle to the MCP thread, which starts on the first request. */
export function createMcp(options: {
  version: string;
  /** The service's request handler. Tools call it with the client's API key. */
  fetch: Fetch;
  threads: Threads;
}) {
  const { version, fetch, threads } = options;
  const admission = createAdmission(
    admissionLimits,
    'too many MCP calls are waiting; try again shortly',
  );
  /** The ranges of the tools' requests. Only tools can ask for parts of contents. */
  const ranges = new WeakMap<Request, ContentRange>();
  let thread: Thread | undefined;

  function start(): Thread {
    const { port1, port2 } = new MessageChannel();
    answerCalls(portOf(port1), async (_, argument): Promise<InnerResponse> => {
      const { url, range, ...init } = argument as InnerRequest;
      const request = new Request(url, init);
      if (range !== null && faultPoint('content-ranges', true)) ranges.set(request, range);
      const response = await fetch(request);
      const { status, headers } = response;
      return { status, headers: [...headers], texts: await textsOf(response) };
    });
    const data: McpStart = { version, requests: port2 };
    // The port must not keep the process running.
    port1.unref();
    return threads.start({
      name: 'mcp',
      module: 'server/mcp/tools-thread.ts',
      data,
      transfer: [port2],
      lost: (reason) => new ServiceError('unavailable', `${reason}; try again`),
    });
  }

  return {
    /** Waits for the project's turn. `signal` cancels a call that is still waiting. */
    async handle(
      message: { headers: Headers; json: string; requestId: string; signal: AbortSignal },
      { projectId, readOnly }: Pick<Caller, 'projectId' | 'readOnly'>,
      userId: string,
    ): Promise<Response> {
      const { headers, json, requestId, signal } = message;
      const request: McpRequest = { headers: [...headers], json, requestId, userId, readOnly };
      // Without a declared length, a message counts as one of the maximum size.
      const bytes = declaredBytes(headers) ?? limits.saveBodyBytes;
      const waitingSize = Math.max(minWaitingBytes, bytes);
      const end = await admission.admit({ projectId, size: 1, waitingSize, signal });
      try {
        thread ??= start();
        const answer = await thread.call('handle', request);
        const { status, contentType, text } = answer as McpResponse;
        const init = contentType === null ? {} : { headers: { 'content-type': contentType } };
        return new Response(text === '' ? null : text, { status, ...init });
      } finally {
        end();
      }
    },
    /** Returns the part of each memory's content that a tool's request asks for. */
    rangeOf: (request: Request) => ranges.get(request),
    async stop(): Promise<void> {
      await thread?.stop();
    },
  };
}

/**
 * Returns the body in parts, each decoded as it arrives, because decoding megabytes at once would
 * delay other requests.
 */
async function textsOf({ body }: Response): Promise<string[]> {
  const decoder = new TextDecoder();
  return Array.fromAsync(body ?? [], (part) => decoder.decode(part, { stream: true }));
}
