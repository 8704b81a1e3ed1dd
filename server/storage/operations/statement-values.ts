import type { Value } from '../engine.ts';

/**
 * The values of a statement whose conditions vary. Each method adds one and returns its
 * placeholder.
 */
export class StatementValues {
  readonly list: Value[] = [];

  add(value: Value): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }

  bigint(value: number | null): string {
    return `CAST(${this.add(value)} AS bigint)`;
  }

  text(value: string | null): string {
    return `CAST(${this.add(value)} AS text)`;
  }
}
