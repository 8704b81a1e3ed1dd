import type { Command } from '@commander-js/extra-typings';
import { version } from '../../package.json';
import type { MemoryClient, MemoryServiceError } from '../../sdk/index.ts';
import { connect, resolveApiKey, resolveBaseUrl } from '../client/connect.ts';
import { endsOfKey } from '../client/profile.ts';
import { serviceFailure } from '../client/service-errors.ts';
import {
  Argument,
  addExamples,
  addNotes,
  type GlobalOptions,
  Option,
  type Parent,
} from '../commander.ts';
import { CliError, errorText, exitCodes, usageError } from '../errors.ts';
import { clientNames, openSettings, type ServerEntry, snippetFor } from '../mcp-clients/clients.ts';
import { needUser, userOptionFor } from '../options.ts';
import { confirm } from '../terminal/input.ts';
import { printJson } from '../terminal/output.ts';
import { asCalled, hint, note, type Terminal } from '../terminal/terminal.ts';
import { escapeControls, quoted, shownPath } from '../terminal/text.ts';

export function addMcp(program: Parent, term: Terminal): void {
  const command = program
    .command('mcp')
    .usage('[--user <id>] [options]')
    .description("Serve a user's memories to an MCP client over stdin and stdout.")
    .addOption(mcpUserOption)
    .addOption(readOnlyOption)
    .helpCommand('help [command]', 'Show help for a command.')
    .addHelpText(
      'after',
      '\nAn MCP client starts this command itself. To set one up: memory mcp install',
    );
  addInstall(command, term);
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const [{ serveOverStdio }, access] = await Promise.all([
      import('../../server/mcp/tools/stdio.ts'),
      accessOf(term, client, options, 'memory mcp'),
    ]);
    if (term.stdin.isTerminal) {
      await note(term, 'Waiting for an MCP client on stdin; press Ctrl-D to stop.');
      await hint(term, 'To set up a client: memory mcp install <client>');
    }
    const onError = (error: unknown) => void note(term, errorText(error));
    const onUnreachable = (error: MemoryServiceError) => noteFailure(term, options, error);
    await serveOverStdio(
      { ...access, client, version, onError, onUnreachable },
      {
        input: term.stdin.stream(),
        write: (data) => term.stdout.write(data),
        signal: term.interrupted,
      },
    );
  });
  addExamples(command, ['memory mcp --user u-1', 'memory mcp --user u-1 --read-only']);
}

type Mcp = Command<[], McpOptions, GlobalOptions>;

function addInstall(group: Mcp, term: Terminal): void {
  const command = group
    .command('install')
    .addArgument(new Argument('<client>', 'the MCP client').choices(clientNames))
    .usage('<client> --user <id> [options]')
    .description('Add this server to the settings of an MCP client. Prints the entry first.')
    .option('--with-key', 'also write the API key into the settings')
    .option('-y, --yes', 'skip the confirmation; required if stdin is not a terminal');
  command.action(async (client) => {
    const options = command.optsWithGlobals();
    const { json, yes } = options;
    const install = `memory mcp install ${client}`;
    await accessOf(term, await connect(term, options), options, install);
    const entry = await entryOf(term, options);
    if (!json) await term.stdout.write(escapeControls(snippetFor(client, withoutKey(entry))));
    const settings = await openSettings(term, client, entry);
    const { title, file, change } = settings;
    const shown = shownPath(term, file);
    const target = entry.env === undefined ? shown : `${shown} (including the API key)`;
    if (change !== 'none') {
      const flags = [
        ...accessFlags(options).map(quoted),
        ...(options.withKey ? ['--with-key'] : []),
      ];
      const unasked = usageError(
        `Writing to ${target} requires --yes if stdin is not a terminal.`,
        `To skip the confirmation: ${[install, ...flags, '--yes'].join(' ')}`,
      );
      const place = change === 'added' ? '' : ', replacing the existing entry';
      const question = `Write this to ${target}${place}?`;
      if (!yes) await confirm(term, question, unasked, 'Nothing was written.');
      await settings.write();
    }
    if (json) return printJson(term, { client, file, change });
    if (change === 'none') return note(term, `${shown} is already up to date.`);
    await note(term, `Written to ${target}. Restart ${title} to apply it.`);
  });
  addNotes(command, installHelp);
  addExamples(command, [
    'memory mcp install claude-code --user u-1 --yes',
    'memory mcp install codex --user u-1 --read-only --yes',
  ]);
}

const installHelp = `
The key is not written to the settings without --with-key: like every other
command, this one reads it from the profile. To give a client a separate key:
  key=$(memory keys create --name cursor --user u-1)
  MEMORY_API_KEY=$key memory mcp install cursor --with-key`;

type InstallOptions = GlobalOptions & McpOptions & { withKey?: true | undefined };

/** Returns the entry that starts this command with the same service and key. */
async function entryOf(term: Terminal, options: InstallOptions): Promise<ServerEntry> {
  const { withKey, project } = options;
  const baseUrl = await resolveBaseUrl(term, options);
  const isOwn = baseUrl.from === 'flag' || baseUrl.from === 'environment';
  const key = await resolveApiKey(term, options, baseUrl.value);
  const kept = await keyInProfile(term, options, baseUrl.value);
  if (!withKey && (kept === undefined || kept !== key?.value)) {
    throw notInProfile(baseUrl.value, kept === undefined);
  }
  const [command = '', ...own] = term.program;
  const args = [
    ...own,
    'mcp',
    ...accessFlags(options),
    ...(isOwn ? ['--base-url', baseUrl.value] : []),
    ...(project === undefined || withKey ? [] : ['--project', project]),
  ];
  return { command, args, ...(withKey && key && { env: { MEMORY_API_KEY: key.value } }) };
}

/** Returns the key in the profile. The MCP client runs without our flags and environment. */
async function keyInProfile(term: Terminal, { project }: InstallOptions, baseUrl: string) {
  const without = { ...term, env: { ...term.env, MEMORY_API_KEY: undefined } };
  const key = await resolveApiKey(without, project === undefined ? {} : { project }, baseUrl);
  return key?.value;
}

function notInProfile(baseUrl: string, isMissing: boolean): CliError {
  return new CliError(
    'unauthorized',
    isMissing
      ? 'The key is not in the profile, where the client would look for it.'
      : 'The profile has a different key for this service, which the client would use instead.',
    `To store it in the profile: memory profile set ${quoted(baseUrl)} -\n` +
      "To write it to the client's settings: --with-key",
    exitCodes.refused,
  );
}

/** Masks the key, because terminal output ends up in logs. */
function withoutKey({ env, ...entry }: ServerEntry): ServerEntry {
  if (env === undefined) return entry;
  return { ...entry, env: { MEMORY_API_KEY: endsOfKey(env.MEMORY_API_KEY) } };
}

function accessFlags({ user, readOnly }: McpOptions): string[] {
  return [...(user === undefined ? [] : ['--user', user]), ...(readOnly ? ['--read-only'] : [])];
}

/* Determines which user's memories an MCP client can access, and whether it can change them. */

const mcpUserOption = userOptionFor('the user; optional if the key is bound to a user');
const readOnlyOption = new Option('--read-only', 'offer only read-only tools');

type McpOptions = { user?: string | undefined; readOnly?: true | undefined };

/**
 * Derives the user and the write permission from the options and the key. With --user, an
 * unreachable service is logged but is not an error, because the MCP client would not restart the
 * command. The hint of a usage error shows `command`.
 */
async function accessOf(
  term: Terminal,
  client: MemoryClient,
  options: GlobalOptions & McpOptions,
  command: string,
): Promise<{ userId: string; readOnly: boolean }> {
  const { user, readOnly } = options;
  const named = user === undefined ? undefined : needUser(user);
  const key = await client.key({ signal: term.interrupted }).catch(async (error) => {
    const isAway = error.status === undefined || error.status >= 500;
    if (named === undefined || !isAway || error.code === 'unauthorized') throw error;
    await noteFailure(term, options, error);
    return undefined;
  });
  const userId = named ?? key?.userId;
  if (userId == null) {
    throw usageError(
      'Missing --user <id>: the key is not bound to a user.',
      `For example: ${command} --user u-1`,
    );
  }
  if (key?.userId != null && key.userId !== userId) {
    throw new CliError(
      'forbidden',
      'The key is bound to another user.',
      "Omit --user, or use another key. To show the key's user: memory whoami",
      exitCodes.refused,
    );
  }
  return { userId, readOnly: readOnly === true || key?.readOnly === true };
}

/** Writes the error and its hint to stderr, which MCP clients log. Returns the text. */
async function noteFailure(
  term: Terminal,
  options: GlobalOptions,
  error: MemoryServiceError,
): Promise<string> {
  const { message, hint } = await serviceFailure(term, error, options);
  const text = hint === null ? message : `${message} ${asCalled(term, hint)}`;
  await note(term, text);
  return text;
}
