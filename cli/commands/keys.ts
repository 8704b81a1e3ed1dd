import type { Admin } from '../../server/admin.ts';
import { defaultBaseUrl, resolveBaseUrl } from '../client/connect.ts';
import * as profile from '../client/profile.ts';
import { addHelp, Option, type Parent } from '../commander.ts';
import { databaseOption, databaseUrlOf, shownDatabase, withAdmin } from '../database.ts';
import { CliError, errorText, exitCodes, usageError } from '../errors.ts';
import { parseExpiry, parseId, parseName, userOptionFor } from '../options.ts';
import { type Column, printJson, printResult, printTable } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { age, cut } from '../terminal/text.ts';

export function addKeys(program: Parent, term: Terminal): void {
  const group = program
    .command('keys')
    .description(
      'Create, list and revoke API keys in the database. Works whether or not the server is running.',
    );
  for (const add of [addCreate, addList, addRevoke]) add(group, term);
}

function addList(group: Parent, term: Terminal): void {
  const command = group
    .command('list')
    .description('List the keys with their ids. No key is shown in full.')
    .addOption(databaseOption);
  command.action(async ({ database }) => {
    const keys = await withAdmin(term, database, (admin) => admin.listKeys());
    const { json, project } = term.options;
    const rows = keys.map(rowOf).filter((key) => key.project === (project ?? key.project));
    if (json) return printJson(term, { items: rows });
    await printTable(term, columnsAt(term.now()), rows);
    const create = `memory keys create${project === undefined ? '' : ` --project ${project}`}`;
    if (rows.length === 0) await note(term, `No keys yet. To create one: ${create}`);
  });
  const help = '\nWith --project, lists only the keys of that project.';
  addHelp(command, help, ['memory keys list', 'memory keys list --project shop']);
}

type KeyRow = ReturnType<typeof rowOf>;

function rowOf(key: Awaited<ReturnType<Admin['listKeys']>>[number]) {
  return {
    ...key,
    createdAt: new Date(key.createdAt).toISOString(),
    expiresAt: iso(key.expiresAt),
    lastUsedAt: iso(key.lastUsedAt),
    revokedAt: iso(key.revokedAt),
  };
}

const nameWidth = 16;

function columnsAt(now: number): Column<KeyRow>[] {
  const ago = (time: string) => (time === '' ? '' : age(time, now));
  const short = (name: string) => cut(name, nameWidth);
  const expiry = (time: string) =>
    // mutate-ignore operand: no time is parsed as NaN
    time && Date.parse(time) <= now ? 'expired' : time.slice(0, 10);
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'PROJECT', value: ({ project }) => project, shown: short, usual: 'default' },
    { title: 'KEY', value: ({ prefix, lastFour }) => `${prefix}…${lastFour}`, dropped: 3 },
    { title: 'AGE', value: ({ createdAt }) => createdAt, shown: ago, dropped: 1 },
    { title: 'USED', value: ({ lastUsedAt }) => lastUsedAt ?? '', shown: ago, dropped: 2 },
    // mutate-ignore constant: the sort is stable
    { title: 'EXPIRES', value: (key) => key.expiresAt ?? '', shown: expiry, usual: '', dropped: 4 },
    { title: 'REVOKED', value: ({ revokedAt }) => revokedAt ?? '', shown: ago, usual: '' },
    { title: 'USER', value: ({ userId }) => userId ?? '', shown: short, usual: '' },
    { title: 'ACCESS', value: accessOf, usual: 'all', dropped: 5 },
    { title: 'NAME', value: ({ name }) => name, cut: true },
  ];
}

function accessOf({ readOnly, metricsOnly }: KeyRow): string {
  if (metricsOnly) return 'metrics';
  return readOnly ? 'read' : 'all';
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function addCreate(group: Parent, term: Terminal): void {
  const command = group
    .command('create')
    .description('Create an API key and print it once. With --save, also store it in the profile.')
    .option('--name <name>', 'a name for the key (default: "unnamed")', parseName)
    .option('--read-only', 'do not allow writes')
    .addOption(metricsOption)
    .addOption(userOptionFor("restrict the key to this user's memories"))
    .option('--expires <time>', 'when the key expires, for example 30d or 2096-12-01', parseExpiry)
    .option('--save', 'store the key in the profile, for other commands to use')
    .addOption(databaseOption);
  command.action(async (options) => {
    const { json, project = profile.defaultProject } = term.options;
    const { name = 'unnamed', readOnly = false, metrics: metricsOnly = false, database } = options;
    const { user: userId = null, expires } = options;
    const baseUrl = options.save ? baseUrlOf(term) : null;
    const expiresAt = expires === undefined ? null : new Date(expires);
    const kind = { userId, readOnly, metricsOnly };
    const key = { name, project, ...kind, expiresAt: expiresAt?.getTime() ?? null };
    const { made, isNewProject } = await createKey(term, database, key);
    const of = `${isNewProject ? 'a new project' : 'project'} ${project}`;
    const limits = (readOnly ? ', read-only' : '') + (userId ? `, bound to ${userId}` : '');
    const rights = metricsOnly ? 'for reading /metrics' : `in ${of}${limits}`;
    const until =
      expiresAt === null ? 'It does not expire.' : `It expires on ${expiresAt.toISOString()}.`;
    if (!json) await note(term, `Created key ${made.id} ${rights}. ${until}`);
    try {
      if (baseUrl !== null) await save(term, { baseUrl, project, apiKey: made.key });
      else if (!json) await note(term, metricsOnly ? howToScrape : howToUse);
    } finally {
      await printResult(term, { ...made, ...kind, expiresAt }, made.key);
    }
  });
  const help =
    '\nThe key belongs to the project default, or to that of --project, which need not\n' +
    'exist yet. All keys of a project access the same memories. Projects are\nisolated.\n' +
    '\nTo replace a key: memory keys create --save; memory keys revoke <old>';
  addHelp(command, help, [
    'memory keys create --name my-app --expires 90d',
    'memory keys create --project shop --name backend',
    'memory keys create --read-only --user ada',
    'memory keys create --metrics --name prometheus',
    'memory keys create --save',
  ]);
}

/** A key for metrics must not be stored in the profile, because no other command could use it. */
const metricsOption = new Option('--metrics', 'allow only reading /metrics');
metricsOption.conflicts(['readOnly', 'user', 'save']);

const howToScrape =
  'The key is shown only once. In Prometheus, set authorization: { credentials: <key> } for the job.';
const howToUse =
  'The key is shown only once. To use it: export MEMORY_API_KEY=<key>; to store it: --save';

type NewKey = Parameters<Admin['createKey']>[0];

function createKey(term: Terminal, database: string | undefined, key: NewKey) {
  async function create(admin: Admin, isNew: boolean) {
    const shown = shownDatabase(term, databaseUrlOf(term, database));
    if (isNew) await note(term, `Created a new database at ${shown}.`);
    const known = (await admin.listKeys()).map((one) => one.project);
    // The server creates the project `default` even without a key.
    const isNewProject = ![profile.defaultProject, ...known].includes(key.project);
    return { isNewProject, made: await admin.createKey(key) };
  }
  return withAdmin(term, database, create, { make: true });
}

/**
 * Returns the URL of the service that the new key is for. A remote service from the profile is
 * rejected, because its key must not be overwritten.
 */
function baseUrlOf(term: Terminal): string {
  const { value, from } = resolveBaseUrl(term);
  const isLocal = /^127(\.\d+){3}$/.test(new URL(profile.serviceName(value)).hostname);
  if (from !== 'profile' || isLocal) return value;
  throw usageError(
    `Specify the key's service with --base-url: the profile uses ${value}.`,
    `For example: memory keys create --save --base-url ${defaultBaseUrl}`,
  );
}

async function save(term: Terminal, { baseUrl, project, apiKey }: profile.Entry): Promise<void> {
  try {
    profile.storeKey(term, { baseUrl, project, apiKey });
    profile.useService(term, baseUrl, project);
  } catch (error) {
    const message = `The key could not be stored (${errorText(error)}).`;
    throw new CliError('profile_unwritable', message, 'To use it: export MEMORY_API_KEY=<key>');
  }
  await note(term, `Stored the key in ${profile.shownProfilePath(term)}.`);
  await note(term, `Commands now use project ${project} of ${baseUrl}.`);
  for (const override of profile.overridesOf(term)) await note(term, override);
}

function addRevoke(group: Parent, term: Terminal): void {
  const command = group
    .command('revoke')
    .argument('<id>', 'the id of the key, not the key itself', parseId)
    .description('Revoke a key. A running server rejects it within a second.')
    .addOption(databaseOption);
  command.action(async (id, { database }) => {
    const keys = await withAdmin(term, database, async (admin) => {
      await admin.revokeKey(id);
      return admin.listKeys();
    });
    if (!keys.some((key) => key.id === id)) {
      // Does not repeat the argument: it may be a key, and terminal output ends up in logs.
      const hint = 'To list ids: memory keys list';
      throw new CliError('not_found', 'No key has this id.', hint, exitCodes.notFound);
    }
    await printResult(term, { id, revoked: true }, null, `Revoked ${id}.`);
  });
  addHelp(command, '', ['memory keys revoke key_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}
