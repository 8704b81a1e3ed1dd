import type { MemoryClient } from '../sdk/index.ts';
import { Option } from './commander.ts';
import { CliError, exitCodes, usageError } from './errors.ts';
import { needUser, userOptionFor } from './options.ts';

/* Whose memories an MCP client gets, and whether it may change them. */

export const mcpUserOption = userOptionFor('whose memories; not needed if the key is bound to one');
export const readOnlyOption = new Option('--read-only', 'offer only the tools that read');

export type McpOptions = { user?: string | undefined; readOnly?: true | undefined };

/**
 * The user, and whether anything may be written, by the options and what the key itself says. Where
 * a user is named, a service that is away for now is no error: its client would not start it again.
 */
export async function accessOf(
  client: MemoryClient,
  { user, readOnly }: McpOptions,
  signal: AbortSignal,
): Promise<{ userId: string; readOnly: boolean }> {
  const named = user === undefined ? undefined : needUser(user);
  const key = await client.key({ signal }).catch((error) => {
    const isAway = error.status === undefined || error.status >= 500;
    if (named === undefined || !isAway || error.code === 'unauthorized') throw error;
    return undefined;
  });
  const userId = named ?? key?.userId;
  if (userId == null) {
    throw usageError(
      'Missing --user <id>: the key is bound to no user.',
      'Such as: memory mcp --user u-1',
    );
  }
  if (key?.userId != null && key.userId !== userId) {
    throw new CliError(
      'forbidden',
      'The key is bound to another user.',
      'Leave --user out, or use another key. What the key is: memory whoami',
      exitCodes.refused,
    );
  }
  return { userId, readOnly: readOnly === true || key?.readOnly === true };
}
