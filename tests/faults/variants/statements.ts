import { Database, type Statement } from 'bun:sqlite';
import { matched, note } from './notes.ts';

/** Replaces methods of statements whose SQL matches. `replace` receives the prepared statement. */
export type Hook = {
  match: RegExp;
  replace(statement: Statement, db: Database): Partial<Record<keyof Statement, unknown>>;
};

type Prototype = Record<
  'prepare' | 'query' | 'run' | 'exec',
  (sql: string, ...rest: never[]) => unknown
>;

const hooks: Hook[] = [];
let isInstalled = false;

/**
 * Intercepts this thread's SQL at the library's interface, so that a fault does not depend on the
 * code that runs the SQL. The BEGIN and COMMIT of `Database.transaction` are not intercepted.
 */
export function interceptSql(added: Hook[]): void {
  hooks.push(...added);
  if (!isInstalled) install(Database.prototype as unknown as Prototype);
  isInstalled = true;
}

function install(prototype: Prototype): void {
  const { prepare, query, run, exec } = prototype;
  const statementFrom = (inner: typeof prepare) =>
    function (this: Database, sql: string, ...rest: never[]) {
      return hooked(sql, inner.call(this, sql, ...rest) as Statement, this);
    };
  const runBy = (inner: typeof run) =>
    function (this: Database, sql: string, ...rest: never[]) {
      // Text with several statements cannot be prepared, so the hook receives an object that runs
      // the whole text.
      const whole = { run: () => inner.call(this, sql, ...rest) };
      return hooked(sql, whole as unknown as Statement, this).run(...rest);
    };
  Object.assign(prototype, {
    prepare: statementFrom(prepare),
    query: statementFrom(query),
    run: runBy(run),
    exec: runBy(exec),
  });
}

function hookOf(sql: string): Hook | undefined {
  const matching = hooks.filter(({ match }) => match.test(sql));
  for (const { match } of matching) note(matched(match));
  return matching[0];
}

/** Returns the statement. If a hook matches, the hook's methods replace the statement's methods. */
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
