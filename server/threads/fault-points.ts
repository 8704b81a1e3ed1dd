/**
 * The places where a fault harness removes a protection or shortens a time, to prove that it would
 * notice a fault. tests/faults/variants describes each.
 */
export type FaultPoint =
  | 'content-ranges'
  | 'heartbeat-ms'
  | 'lease-check'
  | 'lease-ms'
  | 'mcp-turns';

/** Set only by the harnesses, before a thread loads its modules. */
const replacements: Partial<Record<FaultPoint, unknown>> = Reflect.get(globalThis, 'faults') ?? {};

/** Returns the value, which only a fault harness replaces. */
export function faultPoint<T>(name: FaultPoint, value: T): T {
  return name in replacements ? (replacements[name] as T) : value;
}
