import type { Database } from 'bun:sqlite';
import type { Model, PresentModel, VectorQueue } from '../../vector-storage.ts';

type Stored = Parameters<VectorQueue['storeVectors']>[0];

export type VectorWrites = {
  ensureModel(model: Model): PresentModel;
  storeVectors(stored: Stored): boolean;
};

export function createVectorWrites(db: Database): VectorWrites {
  const known = db.prepare<PresentModel & { isPresent: number }, [string, string]>(
    `SELECT model_id AS modelId, name, digest, dims, mean, deviation, probe,
       is_present AS isPresent
     FROM models WHERE name = ? AND digest = ?`,
  );
  const add = db.prepare<null, (string | number)[]>(
    `INSERT INTO models (name, digest, dims, mean, deviation, probe, is_present)
     VALUES (?, ?, ?, ?, ?, ?, 0)`,
  );
  const choose = db.prepare('UPDATE models SET is_present = model_id = ?');
  const reset = db.prepare('UPDATE users SET embedded_change = -1');
  const advance = db.prepare<null, [number, number, string, number, number]>(
    `UPDATE users SET embedded_change = ? WHERE project_id = ? AND user_id = ?
       AND embedded_change = ? AND last_change >= ?`,
  );
  const upsert = db.prepare<null, [number, number, string, Uint8Array, number, string, number]>(
    `INSERT INTO vectors (memory_row_id, model_id, change, text_hash, data)
     SELECT row_id, ?, ?, ?, ? FROM memories WHERE project_id = ? AND id = ? AND last_change = ?
     ON CONFLICT DO UPDATE SET model_id = excluded.model_id, change = excluded.change,
       text_hash = excluded.text_hash, data = excluded.data`,
  );
  const keep = db.prepare<null, [number, number, string, number, string, number]>(
    `UPDATE vectors SET change = ?
     WHERE model_id = ? AND text_hash = ? AND memory_row_id =
       (SELECT row_id FROM memories WHERE project_id = ? AND id = ? AND last_change = ?)`,
  );

  function find({ name, digest }: Model) {
    const model = known.get(name, digest);
    if (model === null) throw new Error('the model was not stored');
    const { isPresent, ...rest } = model;
    return { isPresent: isPresent === 1, model: rest };
  }

  return {
    ensureModel(model) {
      const { name, digest, dims, mean, deviation, probe } = model;
      if (known.get(name, digest) === null) add.run(name, digest, dims, mean, deviation, probe);
      const found = find(model);
      if (!found.isPresent) {
        choose.run(found.model.modelId);
        reset.run();
      }
      return found.model;
    },
    storeVectors({ projectId, userId, modelId, from, upTo, vectors }) {
      if (advance.run(upTo, projectId, userId, from, upTo).changes === 0) return false;
      for (const { id, change, textHash, data } of vectors) {
        if (data === null) keep.run(change, modelId, textHash, projectId, id, change);
        else {
          const bytes = Buffer.from(data, 'base64');
          upsert.run(modelId, change, textHash, bytes, projectId, id, change);
        }
      }
      return true;
    },
  };
}
