import { announced, answerCalls, parent, startData, watched } from '../../../threads/serve.ts';
import { structuralFaults } from '../check.ts';
import { openForReading } from '../settings.ts';

/* Checks the file in a separate thread, because checking a large file can take hours. */

const { path } = await startData<{ path: string }>();

function check(): string[] {
  using db = openForReading(path);
  return structuralFaults(db, 'quick_check');
}

answerCalls(parent, () => announced(check, Number.POSITIVE_INFINITY));
watched(() => {});
