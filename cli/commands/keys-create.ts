import type { Admin } from '../../server/admin.ts';
import { defaultBaseUrl, resolveBaseUrl } from '../client/connect.ts';
import { usageError } from '../client/errors.ts';
import {
  defaultProject,
  type Entry,
  projectOf,
  readProfile,
  serviceName,
  storeOwnKey,
  useProject,
} from '../client/profile.ts';
import { addExamples } from '../command-metadata.ts';
import type { GlobalOptions, Parent } from '../commander.ts';
import { databaseOption, databaseUrlOf, shownDatabase, withAdminOrNew } from '../database.ts';
import { expiresOption } from '../options.ts';
import { printResult, resilientOutput } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';

export function addCreate(group: Parent, term: Terminal): void {
  const command = group
    .command('create')
    .description('Make an API key. It is printed once; only --save keeps it.')
    .option('--name <name>', 'what it is for', 'unnamed')
    .addOption(expiresOption)
    .option('--save', 'keep it in the profile: this command line uses it from now on')
    .addOption(databaseOption)
    .addHelpText(
      'after',
      '\nKeys of one --project see the same memories, those of another see none of them.' +
        '\nTo replace a key: memory keys create --save; memory keys revoke <old>',
    );
  command.action(async () => {
    const options = command.optsWithGlobals();
    const { json, name, project = defaultProject, expires, database } = options;
    const keptFor = options.save ? await serviceOf(term, options) : null;
    const expiresAt = expires === undefined ? null : term.now() + expires;
    const { made, isNew, isNewProject } = await withAdminOrNew(
      term,
      database,
      async (admin, isNew) => {
        const isNewProject = !(await projectsOf(admin)).has(project);
        return { made: await admin.createKey({ name, project, expiresAt }), isNew, isNewProject };
      },
    );
    const expiry = expiresAt === null ? null : new Date(expiresAt).toISOString();
    if (isNew) {
      await note(term, `Made a new database at ${shownDatabase(databaseUrlOf(term, database))}.`);
    }
    const out = resilientOutput(term);
    await printResult(out.term, json, { ...made, expiresAt: expiry }, made.key);
    const of = `${isNewProject ? 'a new project' : 'project'} ${project}`;
    const until = expiry === null ? 'It does not expire.' : `It expires on ${expiry}.`;
    if (!json || out.hasFailed()) await note(term, `Key ${made.id} of ${of}. ${until}`);
    if (keptFor !== null) await save(term, { service: keptFor, project, apiKey: made.key });
    else if (out.hasFailed()) await hint(term, howToRevoke(made.id, database));
    else if (!json) await hint(term, howToUse);
    out.end();
  });
  addExamples(command, [
    'memory keys create --name my-app --expires 90d',
    'memory keys create --save',
  ]);
}

const howToUse =
  'It is shown only this once. To use it: export MEMORY_API_KEY=<key>; to have it kept: --save';

/** Nobody has seen the key, and nobody will. */
function howToRevoke(id: string, database: string | undefined): string {
  const where = database === undefined ? '' : ` --database ${quoted(database)}`;
  return `It could not be printed. As it is shown only once: memory keys revoke ${id}${where}`;
}

/** A server makes the project `default`, with a key or without. */
async function projectsOf(admin: Admin): Promise<Set<string>> {
  return new Set(['default', ...(await admin.listKeys()).map(({ project }) => project)]);
}

/** The profile may be about a service elsewhere, whose key must not be lost to one made here. */
async function serviceOf(term: Terminal, options: GlobalOptions): Promise<string> {
  const { value, from } = await resolveBaseUrl(term, options);
  if (from !== 'profile') return serviceName(value);
  throw usageError(
    `Which service is the key for? The profile is about ${value}.`,
    `Say it: memory keys create --save --base-url ${value}, or ${defaultBaseUrl}`,
  );
}

async function save(term: Terminal, entry: Entry): Promise<void> {
  const { service, project } = entry;
  const before = projectOf(await readProfile(term), service);
  const { kept, replaced } = await storeOwnKey(term, entry);
  await useProject(term, service, project);
  await note(term, kept);
  if (before !== project) {
    const back = `memory profile use ${service} --project ${before}`;
    await hint(term, `Commands use project ${project} there from now on; to go back: ${back}`);
  }
  if (replaced !== undefined) await note(term, replaced);
  if (term.env.MEMORY_API_KEY) await note(term, 'But MEMORY_API_KEY is set and wins over it.');
}
