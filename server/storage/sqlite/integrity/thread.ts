import { announced, answerCalls, parent, startData, watched } from '../../../threads/serve.ts';
import { structuralFaults } from '../check.ts';
import { openForReading } from '../settings.ts';

/* Checks the file in a separate thread, because checking a large file can take hours. */

const { path } = await startData<{ path: string }>();

function check(): string[] {
  const db = openForReading(path);
  try {
    return structuralFaults(db, 'quick_check');
  } finally {
    db.close(true);
  }
}

answerCalls(parent, () => announced(check, Number.POSITIVE_INFINITY));
watched(() => {});
