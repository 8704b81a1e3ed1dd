import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TestServer } from '../support/server.ts';
import { memoryAt, type Surroundings, temporaryFolder } from './command.ts';

const files = {
  'claude-code': '.claude.json',
  cursor: '.cursor/mcp.json',
  vscode: '.config/Code/User/mcp.json',
  codex: '.codex/config.toml',
  'claude-desktop': '.config/Claude/claude_desktop_config.json',
};
export type Client = keyof typeof files;

/** Creates a home directory whose profile contains the server's key. */
export function homeOf(server: TestServer) {
  const folder = temporaryFolder();
  const path = (client: Client) => folder.file(files[client]);
  const put = (file: string, text: string) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const keys = { [server.url]: { apiKey: server.key } };
  const profile = JSON.stringify({ baseUrl: server.url, keys });
  put(folder.file('.config/memory-service/profile.json'), profile);
  return {
    ...folder,
    path,
    put: (client: Client, text: string) => put(path(client), text),
    read: (client: Client) => readFileSync(path(client), 'utf8'),
    install(client: Client, more: string[] = [], around: Surroundings = {}) {
      const env = { MEMORY_BASE_URL: '', MEMORY_API_KEY: '', ...around.env };
      const argv = ['mcp', 'install', client, '--user', 'ada', ...more];
      return memoryAt(server)(argv, { home: folder.path, ...around, env });
    },
  };
}
