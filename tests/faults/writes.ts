import type { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { Random } from '../support/random.ts';
import type { Call } from './api.ts';
import type { Ledger } from './ledger.ts';

/** A write. `settle` records its response in the ledger and returns the ids of its memories. */
export type Write = Call & {
  idempotencyKey: string;
  settle(answer: unknown): string[];
};

/** The memories that one client has stored so far. */
export type Owner = {
  userId: string;
  memories: string[];
  /** Memory ids by external id. */
  byExternalId: Map<string, string>;
};

type Made = Omit<Write, 'idempotencyKey'>;

/** A record's body and the text of the memory that must result from it. */
type Record = { body: { [key: string]: unknown }; content: string };

const externalIds = 20;
const words = 'the user prefers dark mode; Größe 12 · 東京へ行く 🦊 naïve café\n'.split(' ');

/** Returns a function that draws the client's next write at random. */
export function createWrites(owner: Owner, ledger: Ledger, random: Random): () => Write {
  const { userId, memories } = owner;
  const run = random.between(0, 2 ** 31).toString(36);
  let count = 0;

  function text(): string {
    const length = random.chance(0.05) ? 400 : random.between(1, 30);
    return `${userId} ${count} ${Array.from({ length }, () => random.pick(words)).join(' ')}.`;
  }

  function owe(id: string, content: string): string {
    if (ledger.owed(id) === undefined) memories.push(id);
    ledger.present(id, { userId, content });
    return id;
  }

  function save(): Made {
    const content = text();
    const body = { userId, content, metadata: { count } };
    return {
      ...{ method: 'POST', path: '/v1/memories', body },
      settle: (answer) => [owe((answer as { id: string }).id, content)],
    };
  }

  function update(): Made {
    const id = random.pick(memories);
    const content = text();
    return {
      ...{ method: 'PATCH', path: `/v1/memories/${id}`, body: { content } },
      settle: () => [owe(id, content)],
    };
  }

  function remove(): Made {
    const index = random.between(0, memories.length);
    const id = memories[index] ?? '';
    return {
      ...{ method: 'DELETE', path: `/v1/memories/${id}` },
      settle() {
        memories.splice(index, 1);
        for (const [name, of] of owner.byExternalId) if (of === id) owner.byExternalId.delete(name);
        ledger.gone(id);
        return [id];
      },
    };
  }

  function record(): Record {
    const [head, line] = [text(), text()];
    const envelope = { userId, source: 'load', externalId: `x-${random.between(0, externalIds)}` };
    const key = random.chance(0.5) ? envelope : { userId };
    const comments = [{ author: 'user', content: line }];
    if (random.chance(0.5)) {
      const data = { subject: head, comments };
      return { body: { type: 'ticket', ...key, data }, content: `${head}\n\nuser: ${line}` };
    }
    return { body: { type: 'document', ...key, data: { text: head } }, content: head };
  }

  function accepted({ body, content }: Record, id: string): string {
    if (typeof body.externalId === 'string') owner.byExternalId.set(body.externalId, id);
    return owe(id, content);
  }

  function ingest(): Made {
    const made = record();
    return {
      ...{ method: 'POST', path: '/v1/ingest', body: made.body },
      settle: (answer) => [accepted(made, (answer as Accepted).memoryId)],
    };
  }

  function batch(): Made {
    const records = Array.from({ length: random.between(2, 12) }, record);
    return {
      ...{ method: 'POST', path: '/v1/ingest/batch', body: { items: records.map((r) => r.body) } },
      settle(answer) {
        const { items } = answer as BatchAccepted;
        return records.map((made, index) => accepted(made, items[index]?.memoryId ?? ''));
      },
    };
  }

  function draw(): Made {
    const share = random.next();
    if (memories.length > 5 && share < 0.15) return update();
    if (memories.length > 5 && share < 0.25) return remove();
    if (share < 0.6) return save();
    return share < 0.9 ? ingest() : batch();
  }

  return () => {
    count += 1;
    return { ...draw(), idempotencyKey: `${run}-${userId}-${count}` };
  };
}
