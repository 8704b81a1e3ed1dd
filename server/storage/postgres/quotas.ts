import type { QuotaGrant, QuotaRequest } from '../types/project.ts';
import { type Connection, statement } from './connection.ts';

/** Short, because a request may be waiting. On failure, the server counts requests in memory. */
const deadlineMs = 2_000;

/** If a stored window ends this much later than a new window would, the clock has been set back. */
const maxLate = "interval '1 minute'";

const isOpen = `q.ends_at > excluded.ends_at - make_interval(secs => $3::float8)
  AND q.ends_at < excluded.ends_at + ${maxLate}`;

const reserve = `INSERT INTO quotas AS q (project_id, used, ends_at)
  VALUES ($1::bigint, $2::bigint, clock_timestamp() + make_interval(secs => $3::float8))
  ON CONFLICT (project_id) DO UPDATE SET
    used = CASE WHEN ${isOpen} THEN q.used + excluded.used ELSE excluded.used END,
    ends_at = CASE WHEN ${isOpen} THEN q.ends_at ELSE excluded.ends_at END
  RETURNING used, (extract(epoch FROM ends_at) * 1000)::float8 AS "endsAt",
    (extract(epoch FROM ends_at - clock_timestamp()) * 1000)::float8 AS "endsInMs"`;

type Row = { used: number; endsAt: number; endsInMs: number };

/**
 * Reserves quota from a project's window. The row lock serializes the reservations of all servers.
 */
export async function reserveQuota(
  connection: Connection,
  { projectId, amount, limit, seconds }: QuotaRequest,
): Promise<QuotaGrant> {
  const wanted = statement(reserve, [projectId, amount, seconds]);
  const [[row] = []] = (await connection.run([wanted], deadlineMs)) as Row[][];
  if (row === undefined) throw new Error('no quota row was returned');
  const { used, ...window } = row;
  const granted = Math.min(amount, Math.max(0, limit - (used - amount)));
  return { granted, available: Math.max(0, limit - used), ...window };
}
