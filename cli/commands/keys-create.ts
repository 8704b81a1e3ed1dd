import { defaultBaseUrl, resolveBaseUrl } from '../client/connect.ts';
import * as profile from '../client/profile.ts';
import { addExamples } from '../command-metadata.ts';
import type { GlobalOptions, Parent } from '../commander.ts';
import { databaseOption, databaseUrlOf, shownDatabase, withAdmin } from '../database.ts';
import { usageError } from '../errors.ts';
import { expiresOption, needUser, userOptionFor } from '../options.ts';
import { printResult, resilientOutput } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';

const { defaultProject } = profile;

export function addCreate(group: Parent, term: Terminal): void {
  const command = group
    .command('create')
    .description('Create an API key and print it once; only --save stores it.')
    .option('--name <name>', 'a name for the key', 'unnamed')
    .option('--read-only', 'do not allow writes')
    .addOption(userOptionFor('restrict the key to the memories of this user'))
    .addOption(expiresOption)
    .option('--save', 'store the key in the profile, for other commands to use')
    .addOption(databaseOption)
    .addHelpText(
      'after',
      '\nAll keys of a project access the same memories. Projects are isolated.' +
        '\nTo replace a key: memory keys create --save; memory keys revoke <old>',
    );
  command.action(async () => {
    const options = command.optsWithGlobals();
    const { name, project = defaultProject, user, readOnly = false, database, json } = options;
    const service = options.save ? await serviceOf(term, options) : null;
    const expiresAt = options.expires === undefined ? null : term.now() + options.expires;
    const userId = user === undefined ? null : needUser(user);
    const create = { name, project, userId, readOnly, expiresAt };
    const { made, isNewProject } = await createKey(term, database, create);
    const expiry = expiresAt === null ? null : new Date(expiresAt).toISOString();
    const out = resilientOutput(term);
    await printResult(out.term, json, { ...made, userId, readOnly, expiresAt: expiry }, made.key);
    if (!json || out.hasFailed()) {
      const of = `${isNewProject ? 'a new project' : 'project'} ${project}`;
      const kind =
        (readOnly ? ', read-only' : '') + (userId === null ? '' : `, bound to ${userId}`);
      const until = expiry === null ? 'It does not expire.' : `It expires on ${expiry}.`;
      await note(term, `Created key ${made.id} in ${of}${kind}. ${until}`);
    }
    if (service !== null) await save(term, { service, project, apiKey: made.key });
    else if (out.hasFailed()) {
      const revoke = `memory keys revoke ${made.id}${database ? ` --database ${quoted(database)}` : ''}`;
      await hint(
        term,
        `The key could not be printed and is shown only once. To revoke it: ${revoke}`,
      );
    } else if (!json) await hint(term, howToUse);
    out.end();
  });
  addExamples(command, [
    'memory keys create --name my-app --expires 90d',
    'memory keys create --read-only --user ada',
    'memory keys create --save',
  ]);
}

const howToUse =
  'The key is shown only once. To use it: export MEMORY_API_KEY=<key>; to store it: --save';

type NewKey = {
  name: string;
  project: string;
  userId: string | null;
  readOnly: boolean;
  expiresAt: number | null;
};

function createKey(term: Terminal, database: string | undefined, key: NewKey) {
  return withAdmin(
    term,
    database,
    async (admin, isNew) => {
      if (isNew) {
        await note(
          term,
          `Created a new database at ${shownDatabase(databaseUrlOf(term, database))}.`,
        );
      }
      const known = (await admin.listKeys()).map((one) => one.project);
      // The server creates the project `default` even without a key.
      const isNewProject = ![defaultProject, ...known].includes(key.project);
      return { isNewProject, made: await admin.createKey(key) };
    },
    { make: true },
  );
}

/**
 * Returns the service of the new key. A service from the profile is rejected, because it may be
 * remote, and its key must not be overwritten.
 */
async function serviceOf(term: Terminal, options: GlobalOptions): Promise<string> {
  const { value, from } = await resolveBaseUrl(term, options);
  if (from !== 'profile') return profile.serviceName(value);
  throw usageError(
    `Specify the service of the key with --base-url: the profile uses ${value}.`,
    `For example: memory keys create --save --base-url ${value}, or ${defaultBaseUrl}`,
  );
}

async function save(term: Terminal, entry: profile.Entry): Promise<void> {
  const { service, project } = entry;
  const before = await profile.readProject(term, service);
  const stored = await profile.storeOwnKey(term, entry);
  await profile.useProject(term, service, project);
  for (const line of stored) await note(term, line);
  if (before !== project) {
    const back = `memory profile use ${service} --project ${before}`;
    await hint(
      term,
      `Commands now use project ${project} of this service. To switch back: ${back}`,
    );
  }
  if (term.env.MEMORY_API_KEY) await note(term, 'MEMORY_API_KEY is set and overrides the profile.');
}
