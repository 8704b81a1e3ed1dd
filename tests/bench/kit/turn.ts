import { type Load, load, type Measured } from './load.ts';
import { processorMicros, type Subject } from './process.ts';

/** A turn of load, and the processor time that the service took for each request of it. */
export type Turn = Measured & { cpuMicros: number };

export const cpuNote =
  'CPU µs is the processor time of the measured process for each request, all its threads. What ' +
  'else the machine does moves it less than it moves the rates.';

export async function loadOf(subject: Subject, options: Omit<Load, 'url'>): Promise<Turn> {
  const before = processorMicros(subject.pid);
  const measured = await load({ ...options, url: subject.url });
  const used = processorMicros(subject.pid) - before;
  return { ...measured, cpuMicros: used / measured.requests };
}
