import type { MemoryType } from '../../../sdk/index.ts';

export const defaults = { searchLimit: 8, listLimit: 20 };

export type SearchArguments = {
  query: string;
  limit?: number;
  type?: MemoryType;
  source?: string;
  from?: string;
  to?: string;
};
export type GetArguments = { id: string; offset?: number };
export type ListArguments = {
  limit?: number;
  cursor?: string;
  type?: MemoryType;
  source?: string;
};
export type SaveArguments = { content: string; key?: string; metadata?: object };
export type UpdateArguments = { id: string; content: string; expectedVersion?: number };
export type DeleteArguments = { id: string };
