import type { Question, Turn } from './data.ts';
import type { Engine } from './engines.ts';

/** Means over the questions. `sessions` is the recall@10 of the evidence sessions. */
export type Figures = { at5: number; at10: number; sessions: number; mrr: number; count: number };

/** Measures how well an engine finds the evidence for the questions. */
export function measure(engine: Engine, turns: Turn[], questions: Question[]): Figures {
  const sessionOf = new Map(turns.map((turn) => [turn.id, turn.session]));
  const sum = { at5: 0, at10: 0, sessions: 0, mrr: 0, count: questions.length };
  for (const { text, evidence } of questions) {
    const found = engine(text);
    sum.at5 += share(evidence, found.slice(0, 5));
    sum.at10 += share(evidence, found.slice(0, 10));
    const wanted = evidence.map((id) => sessionOf.get(id) ?? '');
    sum.sessions += share(
      wanted,
      found.slice(0, 10).map((id) => sessionOf.get(id) ?? ''),
    );
    const first = found.findIndex((id) => evidence.includes(id));
    if (first >= 0) sum.mrr += 1 / (first + 1);
  }
  const { count } = sum;
  return {
    at5: sum.at5 / count,
    at10: sum.at10 / count,
    sessions: sum.sessions / count,
    mrr: sum.mrr / count,
    count,
  };
}

function share(wanted: string[], found: string[]): number {
  const distinct = [...new Set(wanted)];
  return distinct.filter((id) => found.includes(id)).length / distinct.length;
}
