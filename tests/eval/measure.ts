import type { Question, Turn } from './data.ts';
import type { Engine } from './engines.ts';

/** The recall in the first results, and the reciprocal rank of the first result with evidence. */
export type Scores = { at1: number; at5: number; at10: number; mrr: number };

/** Means over the questions. `sessions` is the recall@10 of the evidence sessions. */
export type Figures = Scores & { sessions: number; count: number };

/** Scores the results of one question. Each result is given by the ids of the turns in it. */
export function scoresOf(evidence: string[], results: string[][]): Scores {
  const recall = (most: number) => share(evidence, results.slice(0, most).flat());
  const first = results.findIndex((turns) => turns.some((id) => evidence.includes(id)));
  const mrr = first < 0 ? 0 : 1 / (first + 1);
  return { at1: recall(1), at5: recall(5), at10: recall(10), mrr };
}

export function meanOf(list: Scores[]): Scores {
  const mean = (name: keyof Scores) => list.reduce((sum, one) => sum + one[name], 0) / list.length;
  return { at1: mean('at1'), at5: mean('at5'), at10: mean('at10'), mrr: mean('mrr') };
}

/** Measures how well an engine finds the evidence for the questions. */
export function measure(engine: Engine, turns: Turn[], questions: Question[]): Figures {
  const sessionOf = new Map(turns.map((turn) => [turn.id, turn.session]));
  const sessionsOf = (ids: string[]) => ids.map((id) => sessionOf.get(id) ?? '');
  let sessions = 0;
  const scores = questions.map(({ text, evidence }) => {
    const found = engine(text);
    sessions += share(sessionsOf(evidence), sessionsOf(found.slice(0, 10)));
    return scoresOf(
      evidence,
      found.map((id) => [id]),
    );
  });
  const count = questions.length;
  return { ...meanOf(scores), sessions: sessions / count, count };
}

function share(wanted: string[], found: string[]): number {
  const distinct = [...new Set(wanted)];
  return distinct.filter((id) => found.includes(id)).length / distinct.length;
}
