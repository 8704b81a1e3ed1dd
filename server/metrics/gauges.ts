import type { Health } from '../../sdk/contract/status.ts';
import type { StorageFigures } from '../storage/types/maintenance.ts';
import type { QueueState } from '../storage/types/tasks.ts';
import { type Family, family, type Sample } from './exposition.ts';

/** The state of the service. A part is null if it could not be read. */
export type Observed = {
  version: string;
  storage: string;
  /** The name of the model, or an empty string. */
  model: string;
  inFlight: number;
  health: Health['status'] | null;
  queue: QueueState | null;
  toEmbed: number | null;
  figures: StorageFigures | null;
  /** Milliseconds since 1970. */
  now: number;
};

/** Returns the gauges. One that is unknown has no sample. */
export function gaugeFamilies(observed: Observed): Family[] {
  const { version, storage, model, inFlight, health, queue, toEmbed, figures } = observed;
  const build = { version, storage, model };
  const { lastBackupAt = null } = figures ?? {};
  return [
    gauge('memory_build_info', 'Version, database and model.', [{ labels: build, value: 1 }]),
    gauge(
      'memory_healthy',
      'Whether /health reports no fault: 1 or 0.',
      health && Number(health === 'ok'),
    ),
    gauge('memory_http_requests_in_flight', 'Requests being answered.', inFlight),
    gauge('memory_tasks', 'Tasks that are not complete, by kind and state.', tasksOf(queue)),
    gauge(
      'memory_oldest_task_age_seconds',
      'Age of the oldest queued task; 0 if there is none.',
      ageOf(queue, observed.now),
    ),
    gauge('memory_embeddings_pending', 'Memories without vectors.', toEmbed),
    gauge(
      'memory_database_bytes',
      'Size of the SQLite file or the PostgreSQL database.',
      figures?.databaseBytes ?? null,
    ),
    gauge('memory_log_bytes', 'Size of the write-ahead log of SQLite.', figures?.logBytes ?? null),
    gauge(
      'memory_last_backup_timestamp_seconds',
      'When the last backup was made, in Unix time.',
      lastBackupAt === null ? null : lastBackupAt / 1_000,
    ),
  ];
}

function gauge(name: string, help: string, value: number | null | Sample[]): Family {
  return family('gauge', name, help, value);
}

function tasksOf(queue: QueueState | null): Sample[] | null {
  if (queue === null) return null;
  const waiting = queue.pending - queue.running;
  return [
    { labels: { kind: 'index', state: 'waiting' }, value: waiting },
    { labels: { kind: 'index', state: 'running' }, value: queue.running },
    { labels: { kind: 'index', state: 'failed' }, value: queue.failed },
  ];
}

function ageOf(queue: QueueState | null, now: number): number | null {
  if (queue === null) return null;
  return queue.oldestAcceptedAt === null ? 0 : Math.max(0, now - queue.oldestAcceptedAt) / 1_000;
}
