import type { Question } from './data.ts';
import type { Engine } from './engines.ts';

/** The recall in the first results, and the reciprocal rank of the first result with evidence. */
export type Scores = { at1: number; at5: number; at10: number; mrr: number };

/** Scores the results of one question. Each result is given by the ids of the turns in it. */
export function scoresOf(evidence: string[], results: string[][]): Scores {
  const recall = (most: number) => {
    const wanted = [...new Set(evidence)];
    const found = results.slice(0, most).flat();
    return wanted.filter((id) => found.includes(id)).length / wanted.length;
  };
  const first = results.findIndex((turns) => turns.some((id) => evidence.includes(id)));
  const mrr = first < 0 ? 0 : 1 / (first + 1);
  return { at1: recall(1), at5: recall(5), at10: recall(10), mrr };
}

/** Asks an engine the questions of one user. */
export function ask(engine: Engine, questions: Question[]): Scores[] {
  return questions.map(({ text, evidence }) =>
    scoresOf(
      evidence,
      engine(text).map((id) => [id]),
    ),
  );
}

export function meanOf(list: Scores[]): Scores {
  const mean = (name: keyof Scores) => list.reduce((sum, one) => sum + one[name], 0) / list.length;
  return { at1: mean('at1'), at5: mean('at5'), at10: mean('at10'), mrr: mean('mrr') };
}
