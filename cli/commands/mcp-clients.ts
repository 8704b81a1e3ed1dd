import * as fs from 'node:fs';
import { join } from 'node:path';
import { applyEdits, modify } from 'jsonc-parser';
import { CliError, errorText } from '../errors.ts';
import { jsonSyntaxError } from '../terminal/json.ts';
import { configFolder, type Platform, replaceFile, type Terminal } from '../terminal/terminal.ts';
import { quoted, shownPath } from '../terminal/text.ts';

/*
 * The supported MCP clients. Claude Code and Codex have commands that change their settings; the
 * settings of the others are JSON files.
 */

export const clientNames = ['claude-code', 'cursor', 'vscode', 'codex', 'claude-desktop'] as const;
export type ClientName = (typeof clientNames)[number];

/** How a client starts the server. */
export type ServerEntry = { command: string; args: string[] };

const name = 'memory';

type Client = {
  title: string;
  /** The settings file. JSON is written to it, unless the client has commands that change it. */
  fileOf: (platform: Platform) => string;
  /** Run in order. Those before the last one remove the previous entry, and may fail. */
  commandsOf?: (entry: string[]) => string[][];
  snippetOf(entry: ServerEntry): string;
};

const json = (section: string, more: object) => (entry: ServerEntry) =>
  `${JSON.stringify({ [section]: { [name]: { ...more, ...entry } } }, null, 2)}\n`;

const known: Record<ClientName, Client> = {
  'claude-code': {
    title: 'Claude Code',
    fileOf: ({ home }) => join(home, '.claude.json'),
    commandsOf: (entry) => [
      ['claude', 'mcp', 'remove', '--scope', 'user', name],
      ['claude', 'mcp', 'add', '--scope', 'user', name, '--', ...entry],
    ],
    snippetOf: json('mcpServers', { type: 'stdio' }),
  },
  cursor: {
    title: 'Cursor',
    fileOf: ({ home }) => join(home, '.cursor', 'mcp.json'),
    snippetOf: json('mcpServers', {}),
  },
  vscode: {
    title: 'VS Code',
    fileOf: (platform) => join(appFolder(platform), 'Code', 'User', 'mcp.json'),
    snippetOf: json('servers', { type: 'stdio' }),
  },
  codex: {
    title: 'Codex',
    fileOf: ({ home }) => join(home, '.codex', 'config.toml'),
    commandsOf: (entry) => [['codex', 'mcp', 'add', name, '--', ...entry]],
    snippetOf: (entry) => Bun.TOML.stringify({ mcp_servers: { [name]: entry } }),
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    fileOf: (platform) => join(appFolder(platform), 'Claude', 'claude_desktop_config.json'),
    snippetOf: json('mcpServers', {}),
  },
};

function appFolder(platform: Platform): string {
  if (platform.platform !== 'darwin') return configFolder(platform);
  return join(platform.home, 'Library', 'Application Support');
}

export function snippetFor(client: ClientName, entry: ServerEntry): string {
  return known[client].snippetOf(entry);
}

/** What installing the entry will do; `install` is undefined if the user has to do it. */
type Installation = { title: string; effect: string; install?: () => Promise<void> };

export function installationOf(
  term: Terminal,
  client: ClientName,
  entry: ServerEntry,
): Installation {
  const { title, fileOf, commandsOf, snippetOf } = known[client];
  const file = fileOf(term);
  const shown = shownPath(term, file);
  if (commandsOf === undefined) {
    return {
      title,
      effect: `Write this to ${shown}`,
      install: () => write(file, snippetOf(entry)),
    };
  }
  const commands = commandsOf([entry.command, ...entry.args]);
  const [program = ''] = commands[0] ?? [];
  const path = Bun.which(program, { PATH: term.env.PATH ?? '' });
  if (path === null) {
    return { title, effect: `${program} is not installed: add this to ${shown} by hand.` };
  }
  const effect = `Run ${commands.map((words) => words.map(quoted).join(' ')).join('; ')}`;
  return { title, effect, install: () => runAll(term, path, commands) };
}

/** Adds the snippet's entry to a settings file, and keeps its comments and other entries. */
async function write(file: string, snippet: string): Promise<void> {
  const [[section = '', servers = {}] = []] = Object.entries<object>(JSON.parse(snippet));
  try {
    const mode = fs.statSync(file, { throwIfNoEntry: false })?.mode;
    // A rename would replace it even so.
    if (mode !== undefined && (mode & 0o200) === 0) throw new Error('it is read-only');
    const found = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
    const text = found.trim() === '' ? '{}\n' : found;
    const problem = await jsonSyntaxError(text, { allowTrailingComma: true });
    if (problem !== undefined) throw new Error('it is not valid JSON');
    const formattingOptions = { insertSpaces: true, tabSize: 2 };
    const entry = Object.values(servers)[0];
    const edits = modify(text, [section, name], entry, { formattingOptions });
    replaceFile(file, applyEdits(text, edits), mode);
  } catch (error) {
    const message = `${file} cannot be changed: ${errorText(error)}.`;
    throw new CliError('settings_unreadable', message, 'Add the entry shown above by hand.');
  }
}

async function runAll(term: Terminal, path: string, commands: string[][]): Promise<void> {
  let [failure, removed] = ['', ''];
  for (const [program, ...args] of commands) {
    const child = Bun.spawn([path, ...args], { env: term.env, stdout: 'pipe', stderr: 'pipe' });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    const isDone = (await child.exited) === 0;
    failure = isDone ? '' : `${removed}${program} failed: ${(stderr || stdout).trim()}`;
    if (isDone) removed = 'The previous entry was removed, but ';
  }
  if (failure === '') return;
  throw new CliError('settings_unwritable', failure, 'Add the entry shown above by hand.');
}
