import { Database, type Statement } from 'bun:sqlite';

/** Replaces the statements of matching SQL; gets the real one, prepared. */
export type Hook = {
  match: RegExp;
  replace(statement: Statement, db: Database): Partial<Record<keyof Statement, unknown>>;
};

/** Changes SQL before it is prepared. */
export type Rewrite = [from: RegExp, to: string];

type Prototype = Record<
  'prepare' | 'query' | 'run' | 'exec',
  (sql: string, ...rest: never[]) => unknown
>;

const hooks: Hook[] = [];
const rewrites: Rewrite[] = [];
let isInstalled = false;

/**
 * Intercepts the SQL of this thread where it enters the library, so that a fault does not depend on
 * the source that sends it. Not seen: the BEGIN and COMMIT of `Database.transaction`.
 */
export function interceptSql(added: { hooks?: Hook[]; rewrites?: Rewrite[] }): void {
  hooks.push(...(added.hooks ?? []));
  rewrites.push(...(added.rewrites ?? []));
  if (!isInstalled) install(Database.prototype as unknown as Prototype);
  isInstalled = true;
}

function install(prototype: Prototype): void {
  const { prepare, query, run, exec } = prototype;
  const statementFrom = (inner: typeof prepare) =>
    function (this: Database, sql: string, ...rest: never[]) {
      const changed = rewrite(sql);
      return hooked(changed, inner.call(this, changed, ...rest) as Statement, this);
    };
  const runBy = (inner: typeof run) =>
    function (this: Database, sql: string, ...rest: never[]) {
      const changed = rewrite(sql);
      // It may be a script of several statements, which cannot be prepared as one.
      const whole = { run: () => inner.call(this, changed, ...rest) };
      return hooked(changed, whole as unknown as Statement, this).run(...rest);
    };
  Object.assign(prototype, {
    prepare: statementFrom(prepare),
    query: statementFrom(query),
    run: runBy(run),
    exec: runBy(exec),
  });
}

function rewrite(sql: string): string {
  return rewrites.reduce((text, [from, to]) => text.replace(from, to), sql);
}

function hookOf(sql: string): Hook | undefined {
  return hooks.find(({ match }) => match.test(sql));
}

/** The statement's other methods stay. */
function hooked(sql: string, statement: Statement, db: Database): Statement {
  const replaced = hookOf(sql)?.replace(statement, db);
  if (replaced === undefined) return statement;
  return new Proxy(statement, {
    get(target, name) {
      const value = name in replaced ? Reflect.get(replaced, name) : Reflect.get(target, name);
      return typeof value === 'function' && !(name in replaced) ? value.bind(target) : value;
    },
  });
}
