import { readdirSync, readFileSync } from 'node:fs';
import { type Family, family } from './exposition.ts';

/** The usual figures of a process, under the names that all Prometheus clients give them. */
export function processFamilies(): Family[] {
  const { user, system } = process.cpuUsage();
  const startedAt = performance.timeOrigin / 1_000;
  return [
    family(
      'counter',
      'process_cpu_seconds_total',
      'CPU time of all threads.',
      (user + system) / 1e6,
    ),
    family('gauge', 'process_resident_memory_bytes', 'Memory in RAM.', process.memoryUsage.rss()),
    family('gauge', 'process_start_time_seconds', 'Start time, in Unix time.', startedAt),
    family('gauge', 'process_open_fds', 'Open file descriptors.', openFiles()),
    family('gauge', 'process_max_fds', 'The limit of open file descriptors.', maxFiles()),
  ];
}

/** Null on systems other than Linux. */
function openFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return null;
  }
}

function maxFiles(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, most] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
    return most === undefined ? null : Number(most);
  } catch {
    return null;
  }
}
