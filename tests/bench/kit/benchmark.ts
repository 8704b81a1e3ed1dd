import type { Dataset } from './dataset.ts';
import type { Ratio } from './numbers.ts';
import type { Tree } from './trees.ts';

/** The settings of a run. Sizes and times are smaller in a quick run. */
export type Context = {
  quick: boolean;
  /** The number of measurements of each subject after the warm-up. */
  rounds: number;
  /** The duration of one load measurement. */
  seconds: number;
  /** The time in seconds during which the resident memory is sampled under load. */
  memorySeconds: number;
  /** The numbers of memories in the compared tables, in ascending order. */
  sizes: readonly number[];
  /** The number of memories in the table of a benchmark that uses only one table. */
  size: number;
  /** A scratch folder on the disk under test. */
  folder: string;
  /** The service under test. */
  current: Tree;
  /** An older commit, measured in the same run. */
  baseline: Tree;
  /**
   * Resolves with the path of a database that contains the dataset. All benchmarks share this file,
   * so each benchmark must write little to it.
   */
  database(tree: Tree, dataset: Dataset): Promise<string>;
  /** Resolves with the path of a private copy of the database. */
  copyOf(tree: Tree, dataset: Dataset): Promise<string>;
  /** Prints progress to the terminal. */
  say(text: string): void;
};

export type Goal = {
  id: string;
  measure: string;
  bound: Bound;
  figure: Ratio;
  /** The baseline's figure, measured in the same run. */
  baseline?: Ratio | undefined;
};

export type Bound = { kind: 'at least' | 'at most'; limit: number; unit: string };

export type Table = { title: string; head: string[]; rows: string[][] };

/** The results of a benchmark, as the report shows them. */
export type Section = {
  goals: Goal[];
  tables: Table[];
  notes?: string[];
};

export type Benchmark = {
  /** The goals that the benchmark measures. */
  ids: string[];
  title: string;
  run(context: Context): Promise<Section>;
};
