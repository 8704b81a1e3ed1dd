import { Database, type Statement } from 'bun:sqlite';
import { isOfSqlite, onCalls } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. A call that contains one of these strings has the effect
 * that the string describes.
 */

export const endsThread = 'this call ends its thread';
export const breaksThread = 'this call throws in its thread';
export const hangsThread = 'this call hangs its thread';
export const slowsThread = 'this call takes its thread a while';
export const slowsRows = 'each row that this call reads by key takes a while';
export const slowMs = 150;
export const delaysRows = 'each row that this call reads by key takes a moment';
const delayMs = 5;
export const slowsIndexing = 'the chunk with this text takes its thread seconds to index';
export const slowsRanking = 'this search takes its thread seconds to rank';
const secondsMs = 2_500;
export const failsCommit = 'the first COMMIT after this call fails';

/** Only the first request for a fault has an effect, so that a retry succeeds. */
const commitFaults = { requested: false, used: false };
let rowMs = 0;
let rankingMs = 0;

if (isOfSqlite) {
  interceptStatements();
  slowNormalization();
  slowRanking();
  onCalls((json) => {
    if (json.includes(endsThread)) process.exit(7);
    if (json.includes(breaksThread)) throw new Error('a broken thread');
    if (json.includes(slowsThread)) Bun.sleepSync(slowMs);
    rowMs = rowMsOf(json);
    rankingMs = json.includes(slowsRanking) ? secondsMs : 0;
    if (json.includes(failsCommit)) commitFaults.requested = true;
    while (json.includes(hangsThread)) Bun.sleepSync(1_000);
  });
}

function rowMsOf(json: string): number {
  if (json.includes(slowsRows)) return slowMs;
  return json.includes(delaysRows) ? delayMs : 0;
}

/**
 * Slows the indexing of text that contains `slowsIndexing`. The text must contain a non-ASCII
 * character, because ASCII text is normalized without this method.
 */
function slowNormalization(): void {
  const { normalize } = String.prototype;
  String.prototype.normalize = function normalizeSlowly(form?: string) {
    if (this.includes(slowsIndexing)) Bun.sleepSync(secondsMs);
    return normalize.call(this, form);
  };
}

/** A search cuts the array of its scores to length. */
function slowRanking(): void {
  const { subarray } = Float64Array.prototype;
  Float64Array.prototype.subarray = function subarraySlowly(
    this: Float64Array,
    start?: number,
    end?: number,
  ) {
    if (rankingMs > 0) Bun.sleepSync(rankingMs);
    return subarray.call(this, start, end);
  } as typeof subarray;
}

function interceptStatements(): void {
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function prepareFaulty(this: Database, sql: string) {
    const statement: Statement = prepare.call(this, sql);
    const run = statement.run.bind(statement);
    const get = statement.get.bind(statement);
    statement.get = ((...values) => {
      if (rowMs > 0) Bun.sleepSync(rowMs);
      return get(...values);
    }) as typeof statement.get;
    if (sql !== 'COMMIT') return statement;
    statement.run = ((...values) => {
      if (!commitFaults.requested || commitFaults.used) return run(...values);
      commitFaults.used = true;
      throw new Error('the COMMIT failed');
    }) as typeof statement.run;
    return statement;
  } as typeof prepare;
}
