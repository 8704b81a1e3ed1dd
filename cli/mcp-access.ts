import type { MemoryClient, MemoryServiceError } from '../sdk/index.ts';
import { serviceFailure } from './client/service-errors.ts';
import { type GlobalOptions, Option } from './commander.ts';
import { CliError, exitCodes, usageError } from './errors.ts';
import { needUser, userOptionFor } from './options.ts';
import { asCalled, note, type Terminal } from './terminal/terminal.ts';

/* Determines which user's memories an MCP client can access, and whether it can change them. */

export const mcpUserOption = userOptionFor('the user; optional if the key is bound to a user');
export const readOnlyOption = new Option('--read-only', 'offer only read-only tools');

export type McpOptions = { user?: string | undefined; readOnly?: true | undefined };

/**
 * Derives the user and the write permission from the options and the key. With --user, an
 * unreachable service is logged but is not an error, because the MCP client would not restart the
 * command. The hint of a usage error shows `command`.
 */
export async function accessOf(
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
      'Omit --user, or use another key. To show the user of the key: memory whoami',
      exitCodes.refused,
    );
  }
  return { userId, readOnly: readOnly === true || key?.readOnly === true };
}

/** Writes the error and its hint to stderr, which MCP clients log. Returns the text. */
export async function noteFailure(
  term: Terminal,
  options: GlobalOptions,
  error: MemoryServiceError,
): Promise<string> {
  const { message, hint } = await serviceFailure(term, error, options);
  const text = hint === null ? message : `${message} ${asCalled(term, hint)}`;
  await note(term, text);
  return text;
}
