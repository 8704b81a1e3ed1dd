/* What the tests of the packages ask an MCP server. */

const hello = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'tests', version: '1' },
  },
};

/** Greets the program over stdio. Throws if it does not answer, or fails when its input ends. */
export async function greet(command: string[], env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(command, { env, stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' });
  child.stdin.write(`${JSON.stringify(hello)}\n`);
  await child.stdin.flush();
  const { value } = await child.stdout.getReader().read();
  child.stdin.end();
  const answer = new TextDecoder().decode(value);
  if (!answer.includes('"name":"memory"')) throw new Error(`no greeting: ${answer}`);
  if ((await child.exited) !== 0) throw new Error(`exit status ${child.exitCode}`);
}

/** Asks a server for its tools over HTTP. Throws if it does not list them. */
export async function listTools(url: string, key: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const answer = await response.text();
  if (!answer.includes('save_memory')) throw new Error(`no tools over HTTP: ${answer}`);
}
