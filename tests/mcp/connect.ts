import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { program } from '../cli/shell.ts';
import { noHome } from '../support/process.ts';
import type { TestServer } from '../support/server.ts';

/* Connects the official MCP client over both transports and with both protocol versions. */

export type Way = { transport: 'stdio' | 'http'; version: string };

export const ways: Way[] = ['stdio', 'http'].flatMap((transport) =>
  ['2025-11-25', '2026-07-28'].map((version) => ({ transport, version }) as Way),
);

type As = { userId?: string; key?: string; readOnly?: boolean };

export type Connected = AsyncDisposable & {
  client: Client;
  /** Returns the text of a result. Rejects if the tool fails. */
  call(tool: string, args?: Record<string, unknown>): Promise<string>;
  /** Returns the text of an error. Rejects if the tool succeeds. */
  failure(tool: string, args?: Record<string, unknown>): Promise<string>;
};

export async function connectTo(server: TestServer, way: Way, as: As = {}): Promise<Connected> {
  const mode = way.version === '2025-11-25' ? ('legacy' as const) : { pin: way.version };
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(way.transport === 'http' ? overHttp(server, as) : overStdio(server, as));
  async function call(name: string, args: Record<string, unknown> = {}, fails = false) {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    const [block, ...more] = content;
    if (block?.type !== 'text' || more.length > 0)
      throw new Error('the result is not a single text block');
    if (isError !== fails) throw new Error(block.text);
    return block.text;
  }
  return {
    client,
    call: (tool, args) => call(tool, args),
    failure: (tool, args) => call(tool, args, true),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function overHttp({ url, key: ofProject }: TestServer, { userId, key = ofProject }: As): Transport {
  const path = userId === undefined ? '/mcp' : `/mcp/users/${encodeURIComponent(userId)}`;
  return new StreamableHTTPClientTransport(new URL(url + path), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
}

function overStdio({ url, key: ofProject }: TestServer, as: As): Transport {
  const { userId, key = ofProject, readOnly } = as;
  const [command = '', ...args] = program;
  const user = userId === undefined ? [] : ['--user', userId];
  return new StdioClientTransport({
    command,
    args: [...args, 'mcp', ...user, ...(readOnly ? ['--read-only'] : [])],
    env: { PATH: process.env.PATH ?? '', ...noHome, MEMORY_BASE_URL: url, MEMORY_API_KEY: key },
    stderr: 'ignore',
  });
}
