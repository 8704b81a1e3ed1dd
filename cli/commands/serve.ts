import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidSettingsError } from '../../server/errors.ts';
import { resolveBaseUrl } from '../client/connect.ts';
import { defaultProject, serviceName, shownProfilePath, storeKey } from '../client/profile.ts';
import { addExamples, addNotes, type Parent } from '../commander.ts';
import { databaseOption, databaseUrlOf, shownDatabase, withFlag } from '../database.ts';
import { CliError, errorCode, errorText, usageError } from '../errors.ts';
import { definedOnly, numberIn } from '../options.ts';
import { hint, note, noteStyled, ownName, type Terminal } from '../terminal/terminal.ts';
import { escapeControls, paint, quoted } from '../terminal/text.ts';

const lastWordMs = 1_000;
const parsePort = numberIn([0, 65_535], 'a port number, 0 to 65535');

export function addServe(program: Parent, term: Terminal): void {
  const command = program
    .command('serve')
    .description('Run the service until Ctrl-C.')
    .option('-p, --port <number>', 'the port to listen on (env: PORT, default: 7070)', parsePort)
    .option('--host <host>', 'the address to listen on (env: HOST, default: 127.0.0.1)')
    .addOption(databaseOption);
  command.action(async () => {
    const { port, host, database } = command.opts();
    const databaseUrl = databaseUrlOf(term, database);
    const newFile = missingFile(term, databaseUrl);
    const server = await start(term, { databaseUrl, ...definedOnly({ port, host }) }, database);
    try {
      await noteStyled(term, banner(term, server.url, databaseUrl, newFile));
      const keysCreate = `memory keys create${database ? ` --database ${quoted(database)}` : ''}`;
      if (server.firstKey !== null) {
        await showFirstKey(term, server.url, server.firstKey, keysCreate);
      }
      if (!term.interrupted.aborted) await once(term.interrupted, 'abort');
    } finally {
      await server.stop();
    }
    // Writing to a full pipe without a reader must not keep the process alive.
    const unread = setTimeout(() => process.exit(), lastWordMs);
    await note(term, 'Stopped.');
    clearTimeout(unread);
  });
  const settings = serverSettings.map(({ name, description, default: preset }) => {
    const suffix = preset === null ? '' : ` (default: ${preset})`;
    return `  ${name.padEnd(21)}  ${description}${suffix}`;
  });
  addNotes(command, ['\nSet by environment variables only:', ...settings].join('\n'));
  addExamples(command, ['memory serve', 'memory serve --port 8080 --database sqlite:./demo.db']);
}

/** The settings that the server reads only from the environment. A test checks the list. */
export const serverSettings = [
  setting('MEMORY_MAX_BODY_BYTES', 'the maximum size of a body, in bytes', '5242880'),
  setting('MEMORY_RATE_LIMIT', 'limit as requests/seconds, or off', '6000/60'),
  setting('MEMORY_CORS_ORIGINS', 'the allowed CORS origins, comma-separated', null),
  setting('MEMORY_MCP_HOSTS', 'additional host names for /mcp, comma-separated', null),
  setting('LOG_LEVEL', 'debug, info, warn, error or silent', 'info'),
];

function setting(name: string, description: string, preset: string | null) {
  return { name, description, default: preset };
}

type ServeOptions = { port?: number; host?: string; databaseUrl: string };

async function start(term: Terminal, options: ServeOptions, flag: string | undefined) {
  // Imported on demand, to keep other commands fast.
  const { startServer } = await import('../../server/main.ts');
  try {
    return await startServer({ env: term.env, ...options });
  } catch (error) {
    throw cannotStart(error, options.databaseUrl, flag);
  }
}

function cannotStart(error: unknown, url: string, flag: string | undefined): CliError {
  const reason = errorText(error);
  if (error instanceof InvalidSettingsError) return usageError(withFlag(reason, flag));
  // Only file errors have a system error code. They do not name the setting.
  if (errorCode(error) === '') return new CliError('cannot_start', reason);
  const name = withFlag('MEMORY_DATABASE_URL', flag);
  const path = `sqlite:${shownDatabase(url)}`;
  return new CliError('cannot_start', `${name} ${path} cannot be opened: ${reason}`);
}

/** Returns the absolute path of the SQLite file that the server will create, or null. */
function missingFile({ cwd }: Terminal, url: string): string | null {
  if (!url.startsWith('sqlite:')) return null;
  const path = resolve(cwd, shownDatabase(url));
  return existsSync(path) ? null : path;
}

function banner(term: Terminal, url: string, database: string, newFile: string | null): string {
  const stored =
    newFile === null
      ? `Data is stored in ${shownDatabase(database)}.`
      : `Created a new database at ${newFile}.`;
  return [
    `${paint(term.stderr, 'bold', 'The memory service is running')} at ${url}`,
    `${escapeControls(stored)} Press Ctrl-C to stop.`,
  ].join('\n');
}

/** Prints the first key only on a terminal, because a redirected stderr may be kept in a log. */
async function showFirstKey(term: Terminal, url: string, apiKey: string, keysCreate: string) {
  const baseUrl = serviceName(url);
  const flag = isUsed(term, baseUrl) ? '' : ` --base-url ${baseUrl}`;
  const { failure, replaced } = await storeFirstKey(term, baseUrl, apiKey);
  const shown = term.stderr.isTerminal;
  const lines = shown
    ? ['', 'The first API key was created. It is shown only once:', `  ${apiKey}`]
    : ['', 'The first API key was created. It is shown only on a terminal.'];
  if (failure === null) {
    lines.push(`It is stored for the CLI in ${shownProfilePath(term)}.`);
    if (replaced !== undefined) lines.push(`Replaced the previous key: ${replaced}`);
  } else if (shown) lines.push(`${failure}; to use the new key, set MEMORY_API_KEY.`);
  else lines.push(`${failure}.`, `To create a key that you can use: ${keysCreate}`);
  if (shown || failure === null) {
    // npx finds the command only in this folder, and a new terminal may open in another folder.
    const where = ownName(term) === 'memory' ? '' : ', in this folder';
    lines.push(
      '',
      `In another terminal${where}, try:`,
      `  memory save --user u-1 "Prefers dark mode"${flag}`,
      `  memory list --user u-1${flag}`,
    );
  }
  const header = `Authorization: Bearer ${apiKey}`;
  if (shown) lines.push(`  curl -H "${header}" "${baseUrl}/v1/memories?userId=u-1"`);
  await hint(term, [...lines, ''].join('\n'));
}

/** Whether commands use this service by default. An unreadable profile is reported later. */
function isUsed(term: Terminal, service: string): boolean {
  try {
    return serviceName(resolveBaseUrl(term, {}).value) === service;
  } catch {
    return false;
  }
}

/** Returns the reason if the key is not stored. Never throws, because the server can still run. */
async function storeFirstKey(term: Terminal, service: string, apiKey: string) {
  try {
    const entry = { service, project: defaultProject, apiKey, firstRun: true } as const;
    const { isStored, replaced } = await storeKey(term, entry);
    const failure = isStored ? null : `Your profile contains another key for ${service}`;
    return { failure, replaced };
  } catch (error) {
    return { failure: `The key could not be stored (${errorText(error)})` };
  }
}
