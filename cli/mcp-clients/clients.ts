import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError, errorText } from '../errors.ts';
import { isObject } from '../terminal/json.ts';
import { configFolder, type Place } from '../terminal/terminal.ts';
import { editJson, parseJson } from './json.ts';
import { editToml, parseToml } from './toml.ts';

/* The supported MCP clients and their settings files. */

export const clientNames = ['claude-code', 'cursor', 'vscode', 'codex', 'claude-desktop'] as const;
export type ClientName = (typeof clientNames)[number];

const name = 'memory';

export type ServerEntry = {
  command: string;
  args: string[];
  env?: { MEMORY_API_KEY: string };
};

type Client = {
  title: string;
  fileOf(place: Place): string;
  /** The name of the table that contains the servers. */
  section?: string;
  /** Additional fields of an entry. */
  more?: object;
  format?: typeof toml;
};

const toml = { parse: parseToml, edit: editToml };
const defaults = { section: 'mcpServers', format: { parse: parseJson, edit: editJson } };

const known: Record<ClientName, Client> = {
  'claude-code': {
    title: 'Claude Code',
    fileOf: ({ env, home }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    more: { type: 'stdio' },
  },
  cursor: { title: 'Cursor', fileOf: ({ home }) => join(home, '.cursor', 'mcp.json') },
  vscode: {
    title: 'VS Code',
    fileOf: (place) => join(appFolder(place), 'Code', 'User', 'mcp.json'),
    section: 'servers',
    more: { type: 'stdio' },
  },
  codex: {
    title: 'Codex',
    fileOf: ({ env, home }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    section: 'mcp_servers',
    format: toml,
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    fileOf: (place) => join(appFolder(place), 'Claude', 'claude_desktop_config.json'),
  },
};

function appFolder(place: Place): string {
  if (place.platform !== 'darwin') return configFolder(place);
  return join(place.home, 'Library', 'Application Support');
}

export function snippetFor(client: ClientName, entry: ServerEntry): string {
  const { section, more, format } = { ...defaults, ...known[client] };
  return format.edit('', [section, name], { ...more, ...entry });
}

/**
 * Returns a client's settings with our entry, before they are written. Throws if the file
 * cannot be extended without losing some of its contents.
 */
export async function openSettings(place: Place, client: ClientName, entry: ServerEntry) {
  const { title, fileOf, section, more, format } = { ...defaults, ...known[client] };
  const file = fileOf(place);
  const { text, mode } = readSettings(file);
  const before = await format.parse(text).catch((error) => {
    const hint = 'Correct the file and try again, or add the entry shown above by hand.';
    throw settingsError(`${file} ${errorText(error)}`, hint);
  });
  const invalid = settingsError(
    `The entry cannot be added to ${file} without other changes`,
    `Add the entry shown above to your ${title} settings by hand.`,
  );
  const servers = isObject(before) ? (before[section] ?? {}) : undefined;
  if (!isObject(before) || !isObject(servers)) throw invalid;
  const value = merged(servers[name], entry, more);
  const after = { ...before, [section]: { ...servers, [name]: value } };
  const isKnown = Object.hasOwn(servers, name);
  // The key must not be in a file that other users can read.
  const newMode = entry.env === undefined ? mode : mode & 0o700;
  const isSame = Bun.deepEquals(before, after) && newMode === mode;
  const change = !isKnown ? 'added' : isSame ? 'none' : 'replaced';
  const edited = format.edit(text, [section, name], value);
  // Verify that the edit changed nothing else.
  const parsed = await format.parse(edited).catch(() => undefined);
  if (!Bun.deepEquals(parsed, after)) throw invalid;
  return { title, file, change, write: () => writeSettings(file, edited, newMode) };
}

/** Reads a settings file. Throws if replacing the file would change more than its text. */
function readSettings(file: string): { text: string; mode: number } {
  const entry = fs.lstatSync(file, { throwIfNoEntry: false });
  if (entry === undefined) return { text: '', mode: 0o600 };
  const found = fs.statSync(file, { throwIfNoEntry: false });
  const refuse = (why: string) =>
    settingsError(`${file} is ${why}`, 'Correct this and try again, or add the entry by hand.');
  if (found === undefined) throw refuse('a broken symbolic link');
  if (!found.isFile()) throw refuse('not a file');
  if ((found.mode & 0o222) === 0) throw refuse('read-only');
  return { text: fs.readFileSync(file, 'utf8'), mode: found.mode & 0o777 };
}

/**
 * Merges our entry into an existing entry. Keeps the other fields of that entry, but nothing that
 * would lead to another service: an address, or an environment variable of ours.
 */
function merged(known: unknown, entry: ServerEntry, more: object = {}) {
  const before = isObject(known) && !('url' in known) ? known : {};
  const vars = Object.entries(isObject(before.env) ? before.env : {});
  const others = Object.fromEntries(vars.filter(([variable]) => !variable.startsWith('MEMORY_')));
  const env = { ...others, ...entry.env };
  const { env: _, ...rest } = { ...more, ...before, ...entry };
  return Object.keys(env).length === 0 ? rest : { ...rest, env };
}

/** Replaces the file with a rename, so the client never reads a partial file. Follows links. */
function writeSettings(file: string, text: string, mode: number): void {
  fs.mkdirSync(dirname(file), { recursive: true });
  const target = fs.existsSync(file) ? fs.realpathSync(file) : file;
  const temporary = `${target}.${crypto.randomUUID()}`;
  try {
    fs.writeFileSync(temporary, text, { mode: 0o600 });
    fs.chmodSync(temporary, mode);
    fs.renameSync(temporary, target);
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}

function settingsError(message: string, hint: string): CliError {
  return new CliError('settings_unreadable', `${message}. Nothing was written.`, hint);
}
