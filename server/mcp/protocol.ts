import type { ContentRange } from './tools/session.ts';

export type McpStart = { version: string; requests: MessagePort };

/** An authenticated HTTP request from a client. */
export type McpRequest = {
  headers: [name: string, value: string][];
  /** The message as text, because passing on its values would take many times as long. */
  json: string;
  requestId: string;
  userId: string;
  readOnly: boolean;
};

export type McpResponse = { status: number; contentType: string | null; text: string };

/** A tool's request to the service, and its response, whose body comes in parts. */
export type InnerRequest = {
  url: string;
  method: string;
  headers: [name: string, value: string][];
  body: string | null;
  /** The part of each memory's content that the tool needs; null for whole contents. */
  range: ContentRange | null;
};
export type InnerResponse = {
  status: number;
  headers: [name: string, value: string][];
  texts: string[];
};
