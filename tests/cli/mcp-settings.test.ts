import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { openSettings } from '../../cli/mcp-clients/clients.ts';
import { temporaryFolder, testTerminal } from './command.ts';

test('replacing a TOML entry keeps its environment variables, without duplicates', async () => {
  using folder = temporaryFolder();
  const file = folder.file('config.toml');
  const before = '[mcp_servers.memory]\ncommand = "old"\n\n[mcp_servers.memory.env]\nA = "b"\n';
  writeFileSync(file, before);
  const around = { env: { CODEX_HOME: folder.path } };
  const term = testTerminal({ code: 0, stdout: '', stderr: '' }, around);
  const entry = { command: '/opt/memory', args: ['mcp', '--user', 'ada'] };
  const settings = await openSettings(term, 'codex', entry);
  settings.write();
  const text = readFileSync(file, 'utf8');
  expect(Bun.TOML.parse(text)).toEqual({ mcp_servers: { memory: { ...entry, env: { A: 'b' } } } });
  expect(text.match(/A = /g)).toHaveLength(1);
});
