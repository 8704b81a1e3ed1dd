/* The snippets of the front page and the console. They read the key from MEMORY_API_KEY. */

/** What a snippet calls: a service, for one user. */
export type Target = { url: string; userId: string; readOnly: boolean };

export function curlCode({ url, userId, readOnly }: Target): string {
  const body = `{"userId": ${JSON.stringify(userId)}, "content": "Allergic to peanuts"}`;
  const save = `curl ${url}/v1/memories \\
  -H "Authorization: Bearer $MEMORY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d ${shellWord(body)}

`;
  return `${readOnly ? '' : save}curl -G ${url}/v1/memories/search \\
  -H "Authorization: Bearer $MEMORY_API_KEY" \\
  --data-urlencode ${shellWord(`userId=${userId}`)} \\
  --data-urlencode 'query=what is she allergic to?'`;
}

export function typescriptCode({ url, userId, readOnly }: Target): string {
  const user = `userId: ${scriptString(userId)}`;
  const save = `await memory.save({ ${user}, content: 'Allergic to peanuts' });\n`;
  return `import { MemoryClient } from 'memory-service-sdk';

const memory = new MemoryClient({ baseUrl: '${url}' });
${readOnly ? '' : save}
const { items } = await memory.search({ ${user}, query: 'what is she allergic to?' });
console.log(items[0]?.content);`;
}

export function pythonCode({ url, userId, readOnly }: Target): string {
  const user = `user_id=${JSON.stringify(userId)}`;
  const save = `memory.save(${user}, content="Allergic to peanuts")\n`;
  return `from memory_service import Memory

memory = Memory(base_url="${url}")
${readOnly ? '' : save}
found = memory.search(${user}, query="what is she allergic to?")
print([one["content"] for one in found["items"]])`;
}

export function cliCode({ url, userId, readOnly }: Target): string {
  const user = `--user ${shellWord(userId)}`;
  return `memory profile set ${url}
memory profile use ${url}

${readOnly ? '' : `memory save ${user} "Allergic to peanuts"\n`}memory search ${user} "what is she allergic to?"`;
}

/** For a client that starts a command. The command reads the key from the profile. */
export function mcpCode({ userId }: Target): string {
  return `# Or cursor, vscode, codex, claude-desktop:
memory mcp install claude-code --user ${shellWord(userId)}`;
}

/** For a client that connects to the server itself. */
export function mcpHttpCode({ url, userId }: Target): string {
  const server = {
    type: 'http',
    url: `${url}/mcp/users/${encodeURIComponent(userId)}`,
    headers: { Authorization: 'Bearer $MEMORY_API_KEY' },
  };
  return JSON.stringify({ mcpServers: { memory: server } }, null, 2);
}

/** Quotes a word for a POSIX shell, if that is necessary. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function scriptString(text: string): string {
  return /^[^'\\\p{Cc}]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}
