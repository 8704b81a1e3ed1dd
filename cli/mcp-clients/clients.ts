import { dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { isObject } from '../terminal/json.ts';
import { configFolder, type Place } from '../terminal/terminal.ts';
import { merged, type ServerEntry, type Table } from './entry.ts';
import { editJson, jsonProblem, parseJson } from './json.ts';
import { editToml, parseToml, tomlProblem } from './toml.ts';

/* The supported MCP clients and the files of their settings. */

export const clientNames = ['claude-code', 'cursor', 'vscode', 'codex', 'claude-desktop'] as const;
export type ClientName = (typeof clientNames)[number];

const name = 'memory';

type Client = {
  title: string;
  fileOf(place: Place): string;
  /** The name of the table of servers. `more` are additional fields of an entry. */
  section: string;
  more?: Table;
  format: 'json' | 'toml';
};

const known: Record<ClientName, Client> = {
  'claude-code': {
    title: 'Claude Code',
    fileOf: ({ env, home }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    section: 'mcpServers',
    more: { type: 'stdio' },
    format: 'json',
  },
  cursor: {
    title: 'Cursor',
    fileOf: ({ home }) => join(home, '.cursor', 'mcp.json'),
    section: 'mcpServers',
    format: 'json',
  },
  vscode: {
    title: 'VS Code',
    fileOf: (place) => join(appFolder(place), 'Code', 'User', 'mcp.json'),
    section: 'servers',
    more: { type: 'stdio' },
    format: 'json',
  },
  codex: {
    title: 'Codex',
    fileOf: ({ env, home }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    section: 'mcp_servers',
    format: 'toml',
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    fileOf: (place) => join(appFolder(place), 'Claude', 'claude_desktop_config.json'),
    section: 'mcpServers',
    format: 'json',
  },
};

function appFolder(place: Place): string {
  if (place.platform !== 'darwin') return configFolder(place);
  return join(place.home, 'Library', 'Application Support');
}

const formats = {
  json: { parse: parseJson, edit: editJson, problemOf: jsonProblem },
  toml: { parse: parseToml, edit: editToml, problemOf: tomlProblem },
};

export function snippetFor(client: ClientName, entry: ServerEntry): string {
  const { section, more, format } = known[client];
  return formats[format].edit('', [section, name], merged(undefined, entry, more));
}

/**
 * Returns a client's settings with our entry, before they are written. Throws if the file
 * cannot be extended without losing some of its contents.
 */
export async function openSettings(place: Place, client: ClientName, entry: ServerEntry) {
  const { title, fileOf, section, more, format } = known[client];
  const { parse, edit, problemOf } = formats[format];
  const file = fileOf(place);
  const text = await readSettings(file);
  const before = parse(text);
  const problem = before === undefined ? await problemOf(text) : undefined;
  if (problem !== undefined) {
    const hint = 'Correct it and run the command again, or add the entry shown above by hand.';
    throw settingsError(`${file} ${problem}`, hint);
  }
  const invalid = settingsError(
    `The entry cannot be added to ${file} without other changes`,
    `Add the entry shown above to the settings of ${title} by hand.`,
  );
  const servers = before?.[section] ?? {};
  if (before === undefined || !isObject(servers)) throw invalid;
  const value = merged(servers[name], entry, more);
  const after = { ...before, [section]: { ...servers, [name]: value } };
  const isKnown = Object.hasOwn(servers, name);
  const change = !isKnown ? 'added' : Bun.deepEquals(before, after) ? 'none' : 'replaced';
  const edited = edit(text, [section, name], value);
  // Verify that the edit changed nothing else.
  if (!Bun.deepEquals(parse(edited), after)) throw invalid;
  return { title, file, change, write: () => writeSettings(file, edited) };
}

async function readSettings(file: string): Promise<string> {
  const handle = Bun.file(file);
  return (await handle.exists()) ? handle.text() : '';
}

/** Replaces the file by a rename, so the client never reads a partial file. Follows a link. */
async function writeSettings(file: string, text: string): Promise<void> {
  const { chmod, mkdir, realpath, rename, rm, stat, writeFile } = await import('node:fs/promises');
  await mkdir(dirname(file), { recursive: true });
  const target = await realpath(file).catch(() => file);
  // The settings of other servers may contain secrets, so the file keeps its mode.
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const temporary = `${target}.${crypto.randomUUID()}`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await chmod(temporary, mode);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function settingsError(message: string, hint: string): CliError {
  return new CliError('settings_unreadable', `${message}. Nothing was written.`, hint);
}
