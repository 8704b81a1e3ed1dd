import type { StorageHealth } from '../storage.ts';
import { type Connection, createConnection } from './connection.ts';
import { faultOf, isWriteFault } from './errors.ts';
import { statement } from './statement.ts';

/** Whether the database answers and stores. Asked for by /health, which must not wait for it. */
export type Health = {
  state(): StorageHealth;
  /** Takes note of an error of a write; one that says nothing of other writes is passed over. */
  note(error: unknown): void;
  stop(): void;
};

const probeEveryMs = 500;
const probeWithinMs = 2_000;

const read = statement('SELECT 1');
const write = statement(`UPDATE maintenance SET value = value + 1 WHERE name = 'probe'`);

export function createHealth(url: string): Health {
  const connection: Connection = createConnection({ url, purpose: 'health' });
  let fault: string | null = null;
  let writeFault: string | null = null;
  let isProbing = false;

  async function probe(): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    try {
      await connection.run([read], probeWithinMs);
      fault = null;
      if (writeFault !== null) await connection.run([write], probeWithinMs);
      writeFault = null;
    } catch (error) {
      if (isWriteFault(error)) writeFault = faultOf(error);
      else fault = faultOf(error) ?? 'the database does not answer';
    } finally {
      isProbing = false;
    }
  }

  const timer = setInterval(probe, probeEveryMs);
  return {
    state: () => ({ fault: fault ?? writeFault, warning: null }),
    note(error) {
      if (isWriteFault(error)) writeFault = faultOf(error);
    },
    stop() {
      clearInterval(timer);
      connection.close();
    },
  };
}
