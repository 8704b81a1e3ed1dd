import { linesThatMatch, type Rule } from './source.ts';

/** The only files of the server, the SDK and the CLI that may read the environment. */
const readersOfEnv = [
  'server/config.ts',
  'sdk/options.ts',
  'cli/terminal/terminal.ts',
  'cli/main.ts',
].concat('cli/terminal/process-output.ts');
const homes = ['work', 'root', 'home', 'Users'];
const machinePath = new RegExp(`(?<![\\w./-])/(?:${homes.join('|')})/`);
const sql =
  /\b(?:SELECT\s+[\w*("].*\sFROM|INSERT (?:OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE (?:TABLE|INDEX)|PRAGMA \w)/;

export const wordRules: Rule[] = [
  {
    name: 'only settings modules read the environment',
    breaches: ({ path, text }) => {
      const isFree = /(?:^|\/)tests\//.test(path) || readersOfEnv.includes(path);
      return isFree ? [] : linesThatMatch(text, /(?<!')\b(?:process\??|Bun|import\.meta)\.env\b/);
    },
    bad: { path: 'server/app.ts', text: 'const port = process.env.PORT;' },
    good: { path: 'server/config.ts', text: 'const port = process.env.PORT;' },
  },
  {
    name: 'no TODO or FIXME comments',
    breaches: ({ text }) => linesThatMatch(text, /(?:\/\/|\*) (?:.*\W)?(?:TODO|FIXME|XXX)\b/),
    bad: { path: 'server/a.ts', text: ['//', 'TODO: more'].join(' ') },
    good: { path: 'server/a.ts', text: "const a = 'TODO';" },
  },
  {
    // A variant hooks into libraries or fault points, so that renaming and moving code breaks none.
    name: 'fault variants do not depend on source text',
    breaches: ({ path, text }) =>
      path.startsWith('tests/faults/')
        ? linesThatMatch(text, /\.onLoad\(|'(?:server|sdk|cli)\/[\w./-]+\.ts'/)
        : [],
    bad: { path: 'tests/faults/a.ts', text: "const patch = ['server/app.ts', 'a', 'b'];" },
    good: { path: 'tests/faults/a.ts', text: "import { b } from '../../server/app.ts';" },
  },
  {
    name: 'no machine-specific paths',
    breaches: ({ text }) => linesThatMatch(text, machinePath),
    bad: { path: 'docs/a.md', text: ['see `', 'home', 'me/notes`'].join('/') },
    good: { path: 'docs/a.md', text: 'https://example.org/home/page and ./root/a' },
  },
  {
    name: 'SQL lives in server/storage',
    breaches: ({ path, text }) =>
      /^(?:server|sdk|cli)\/(?!storage\/)/.test(path) ? linesThatMatch(text, sql) : [],
    bad: { path: 'server/http/a.ts', text: "db.query('SELECT id FROM memories');" },
    good: { path: 'server/storage/sqlite/a.ts', text: "db.query('SELECT id FROM memories');" },
  },
];
