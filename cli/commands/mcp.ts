import type { Command } from '@commander-js/extra-typings';
import { version } from '../../package.json';
import type { MemoryClient, MemoryServiceError } from '../../sdk/index.ts';
import { connect, resolveApiKey, resolveBaseUrl } from '../client/connect.ts';
import { serviceFailure } from '../client/service-errors.ts';
import { Argument, addHelp, type Parent } from '../commander.ts';
import { CliError, errorText, exitCodes, exitWith, usageError } from '../errors.ts';
import { definedOnly, userOption } from '../options.ts';
import { confirm } from '../terminal/input.ts';
import { printResult } from '../terminal/output.ts';
import { asCalled, type GlobalOptions, note, type Terminal } from '../terminal/terminal.ts';
import { escapeControls, quoted } from '../terminal/text.ts';
import { clientNames, installationOf, type ServerEntry, snippetFor } from './mcp-clients.ts';

/**
 * How long each of the three attempts of a request may take. Many MCP clients give up a call after
 * 60 seconds and a start after 10, and then the model does not see the error.
 */
const attemptMs = { call: 15_000, start: 2_500 };

/** For a longer `Retry-After`, the model gets the error at once. */
const maxRetryAfterS = 5;

/** Lengthens a long `Retry-After` to an hour, for which the SDK does not wait. */
async function fetchWithoutLongWaits(url: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  // A date is not a number, and counts as long.
  if (Number(response.headers.get('Retry-After')) <= maxRetryAfterS) return response;
  const { status, headers } = response;
  headers.set('Retry-After', '3600');
  return new Response(response.body, { status, headers });
}

export function addMcp(program: Parent, term: Terminal): void {
  const command = program
    .command('mcp')
    .usage('[--user <id>] [options]')
    .description("Serve a user's memories to an MCP client over stdin and stdout.")
    .addOption(userOption)
    .option('--read-only', 'offer only read-only tools');
  addInstall(command, term);
  command.action(async (options) => {
    const limits = { timeoutMs: attemptMs.call, fetch: fetchWithoutLongWaits };
    const client = await connect(term, limits);
    const [{ serveOverStdio }, access] = await Promise.all([
      import('../../server/mcp/tools/stdio.ts'),
      accessOf(term, client, options, attemptMs.start),
    ]);
    if (term.stdin.isTerminal) {
      await note(term, 'Waiting for an MCP client on stdin; press Ctrl-D to stop.');
      await note(term, 'To set up a client: memory mcp install <client>');
    }
    const onError = (error: unknown) => void note(term, errorText(error));
    const onUnreachable = (error: MemoryServiceError) => noteFailure(term, error);
    const clients = { client, clientFor: () => client };
    const session = { ...access, ...clients, version, onError, onUnreachable };
    const write = (data: Uint8Array) => term.stdout.write(data);
    const streams = { input: term.stdin.stream(), write, signal: term.interrupted };
    await serveOverStdio(session, streams);
  });
  const help =
    '\nAn MCP client starts this command itself.\nTo set up a client: memory mcp install';
  addHelp(command, help, ['memory mcp --user u-1', 'memory mcp --user u-1 --read-only']);
}

type McpOptions = { user?: string | undefined; readOnly?: true | undefined };

function addInstall(group: Command<[], McpOptions, GlobalOptions>, term: Terminal): void {
  const command = group
    .command('install')
    .addArgument(new Argument('<client>', 'the MCP client').choices(clientNames))
    .usage('<client> --user <id> [options]')
    .description("Add this server to an MCP client's settings. Prints the entry first.")
    .option('-y, --yes', 'skip the confirmation; required if stdin is not a terminal');
  command.action(async (client) => {
    const options = command.optsWithGlobals();
    await accessOf(term, await connect(term), options);
    const entry = entryOf(term, options);
    const snippet = snippetFor(client, entry);
    const { title, effect, install } = installationOf(term, client, entry);
    if (!term.options.json) await term.stdout.write(escapeControls(snippet));
    if (install === undefined) {
      await printResult(term, { client, effect, snippet }, null, effect);
      return exitWith(exitCodes.failed);
    }
    const unasked = usageError('Confirm with --yes, because stdin is not a terminal.');
    if (!options.yes) await confirm(term, `${effect}?`, unasked, 'Nothing was changed.');
    await install();
    const done = `Done. Restart ${title} to apply the change.`;
    await printResult(term, { client, effect }, null, done);
  });
  addHelp(command, installHelp, [
    'memory mcp install cursor --user u-1 --yes',
    'memory mcp install vscode --user u-1 --read-only --yes',
  ]);
}

const installHelp = `
For Claude Code and Codex, this runs their own commands, claude mcp add and
codex mcp add. The entry contains no key: the command in it reads the profile.
To give a client a separate key, store it in the profile under another name:
  key=$(memory keys create --name cursor --user u-1 --read-only)
  echo $key | memory profile set http://127.0.0.1:7070 - --project cursor
  memory mcp install cursor --project cursor`;

/** Returns the entry that starts this command with the same service and key. */
function entryOf(term: Terminal, options: McpOptions): ServerEntry {
  const { user, readOnly } = options;
  const { project } = term.options;
  const baseUrl = resolveBaseUrl(term);
  const key = resolveApiKey(term, baseUrl.value);
  // The MCP client runs the command without our flags and environment.
  const env = { ...term.env, MEMORY_API_KEY: undefined };
  const without = { ...term, env, options: definedOnly({ project }) };
  const stored = resolveApiKey(without, baseUrl.value);
  if (stored?.value !== key?.value) {
    const message = 'The key is not in the profile, where the client would look for it.';
    const set = `To store it: memory profile set ${quoted(baseUrl.value)} -`;
    throw new CliError('unauthorized', message, set, exitCodes.refused);
  }
  const isInProfile = baseUrl.from === 'profile' || baseUrl.from === 'default';
  const given = [
    ...(user === undefined ? [] : ['--user', user]),
    ...(readOnly === undefined ? [] : ['--read-only']),
    ...(isInProfile ? [] : ['--base-url', baseUrl.value]),
    ...(project === undefined ? [] : ['--project', project]),
  ];
  const [command = '', ...own] = term.program;
  return { command, args: [...own, 'mcp', ...given] };
}

/**
 * Derives the user and the write permission from the options and the key. With --user, an
 * unreachable service is logged but is not an error, because the MCP client would not restart the
 * command.
 */
async function accessOf(
  term: Terminal,
  client: MemoryClient,
  options: McpOptions,
  timeoutMs?: number,
) {
  const { user, readOnly } = options;
  const call = { signal: term.interrupted, timeoutMs };
  const key = await client.key(call).catch(async (error) => {
    const isAway = error.status === undefined || error.status >= 500;
    if (user === undefined || !isAway || error.code === 'unauthorized') throw error;
    await noteFailure(term, error);
    return undefined;
  });
  const userId = user ?? key?.userId;
  if (userId == null) throw usageError('Missing --user <id>: the key is not bound to a user.');
  if (key?.userId != null && key.userId !== userId) {
    const hint = "Omit --user, or use another key. To show the key's user: memory whoami";
    throw new CliError('forbidden', 'The key is bound to another user.', hint, exitCodes.refused);
  }
  return { userId, readOnly: readOnly === true || key?.readOnly === true };
}

/** Writes the error and its hint to stderr, which MCP clients log. Returns the text. */
async function noteFailure(term: Terminal, error: MemoryServiceError) {
  const { message, hint } = serviceFailure(term, error);
  const text = hint === null ? message : `${message} ${asCalled(term, hint)}`;
  await note(term, text);
  return text;
}
