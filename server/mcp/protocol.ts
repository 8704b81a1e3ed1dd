import type { MessagePort } from 'node:worker_threads';

/* What the HTTP thread and the MCP thread send each other. */

export type McpStart = { version: string; requests: MessagePort };

/** One HTTP request of a client, which the HTTP thread has authenticated. */
export type McpRequest = {
  headers: [name: string, value: string][];
  body: unknown;
  requestId: string;
  userId: string;
  readOnly: boolean;
};

/** The text goes beside it. */
export type McpResponse = { status: number; contentType: string | null };

/** A request of a tool to the service, and the response, whose body goes beside it in parts. */
export type InnerRequest = {
  url: string;
  method: string;
  headers: [name: string, value: string][];
  body: string | null;
};
export type InnerResponse = { status: number; headers: [name: string, value: string][] };

/** An error that is none of the service, as text. */
export type McpNotice = { error: string };
