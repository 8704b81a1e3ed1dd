import type { Database } from 'bun:sqlite';
import { firstMemories, turns } from '../../embedding-work.ts';
import type { MemoryToEmbed, PresentModel, VectorQueue } from '../../vector-storage.ts';

type Reads = Pick<
  VectorQueue,
  'presentModel' | 'usersToEmbed' | 'memoriesToEmbed' | 'embeddingBacklog'
>;
type User = { embeddedChange: number; lastChange: number };

export type VectorReads = {
  [Name in keyof Reads]: (...given: Parameters<Reads[Name]>) => Awaited<ReturnType<Reads[Name]>>;
};

/** The reads of the model thread. */
export function createVectorReads(db: Database): VectorReads {
  const present = db.prepare<PresentModel, []>(
    `SELECT model_id AS modelId, name, digest, dims, mean, deviation, probe
     FROM models WHERE is_present = 1`,
  );
  const projects = db.prepare<{ projectId: number }, []>(
    'SELECT project_id AS projectId FROM projects ORDER BY project_id',
  );
  const users = db.prepare<{ projectId: number; userId: string }, [number, number]>(
    `SELECT project_id AS projectId, user_id AS userId FROM users
     WHERE project_id = ? AND embedded_change < last_change ORDER BY user_id LIMIT ?`,
  );
  const user = db.prepare<User, [number, string]>(
    `SELECT embedded_change AS embeddedChange, last_change AS lastChange FROM users
     WHERE project_id = ? AND user_id = ?`,
  );
  const memories = db.prepare<MemoryToEmbed, [number, number, string, number, number]>(
    `SELECT m.id, m.last_change AS change, m.content, m.metadata,
       iif(v.model_id = ?1, v.text_hash, NULL) AS textHash
     FROM memories AS m LEFT JOIN vectors AS v ON v.memory_row_id = m.row_id
     WHERE m.project_id = +?2 AND m.user_id = +?3 AND m.last_change > +?4
       AND (v.model_id IS NOT ?1 OR v.change IS NOT m.last_change)
     ORDER BY m.last_change LIMIT ?5`,
  );
  // Users with new memories only have few of them; for a new model, all memories count.
  const backlog = db.prepare<{ memories: number }, []>(
    `SELECT coalesce(sum(iif(embedded_change < 0, memories,
       min(memories, last_change - embedded_change))), 0) AS memories
     FROM users WHERE embedded_change < last_change`,
  );
  return {
    presentModel: () => present.get(),
    usersToEmbed: ({ limit }) =>
      turns(
        projects.all().map(({ projectId }) => users.all(projectId, limit)),
        limit,
      ),
    memoriesToEmbed: db.transaction(({ projectId, userId, modelId, limit }) => {
      const { embeddedChange: from, lastChange } = user.get(projectId, userId) ?? {
        embeddedChange: -1,
        lastChange: -1,
      };
      return firstMemories(memories.iterate(modelId, projectId, userId, from, limit + 1), {
        from,
        lastChange,
        limit,
        sizeOf: ({ content }) => content.length,
      });
    }),
    embeddingBacklog: () => backlog.get()?.memories ?? 0,
  };
}
