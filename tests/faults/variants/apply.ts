import { type Handler, handlers } from '../../../server/tasks/handlers.ts';
import { interceptHttp } from './http.ts';
import { note, reached } from './notes.ts';
import { interceptSql } from './statements.ts';
import { type Points, type Variant, variants } from './table.ts';

export function chooseVariants(names: string[]): Variant[] {
  return names.map((name) => {
    const variant = variants[name];
    if (variant === undefined) throw new Error(`unknown variant ${name}`);
    return variant;
  });
}

/** Applies the variants to this thread, which must not have loaded the service yet. */
export function applyVariants(chosen: Variant[]): void {
  replaceAt(Object.assign({}, ...chosen.map(({ points }) => points)));
  const hooks = chosen.flatMap((variant) => variant.hooks ?? []);
  if (hooks.length > 0) interceptSql(hooks);
  const middleware = chosen.flatMap((variant) => variant.http ?? []);
  if (middleware.length > 0) interceptHttp(middleware);
  const wrap = (inner: Handler, { handler }: Variant) => handler?.(inner) ?? inner;
  handlers.index = chosen.reduce(wrap, handlers.index);
  for (const { prepare } of chosen) prepare?.();
}

function replaceAt(points: Points): void {
  const faults = new Proxy(points, {
    has(target, name) {
      note(reached(String(name)));
      return name in target;
    },
  });
  Object.assign(globalThis, { faults });
}
