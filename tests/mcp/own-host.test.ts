import { expect, test } from 'bun:test';
import { send, startTestServer } from '../support/server.ts';

// Only Linux assigns all addresses in 127.0.0.0/8 to the loopback interface.
test.skipIf(process.platform !== 'linux')(
  'MCP clients can reach a server at the address that it listens on',
  async () => {
    const server = await startTestServer({ HOST: '127.0.0.2' });
    const headers = { accept: 'application/json, text/event-stream' };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { status } = await send(server, 'POST', '/mcp/users/u', { body, headers });
    expect(status).toBe(200);
    await server.stop();
  },
);
