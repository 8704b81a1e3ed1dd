import type { Dataset } from './dataset.ts';
import type { Tree } from './trees.ts';

/** What a benchmark is given. Sizes and times are smaller in a quick run. */
export type Context = {
  quick: boolean;
  /** How often each subject is measured, after a warm-up. */
  rounds: number;
  /** How long one measurement of load lasts. */
  seconds: number;
  /** How long the memory of the process is watched under load. */
  memorySeconds: number;
  /** Memories in the tables that are compared, from small to large. */
  sizes: readonly number[];
  /** The size at which a single table is measured. */
  size: number;
  /** A scratch folder on the disk that is measured. */
  folder: string;
  /** The service under test. */
  current: Tree;
  /** The last commit of the first wave, measured in the same run; null if git does not have it. */
  firstWave: Tree | null;
  /** The path of a database that holds the dataset. It is shared: write only a little to it. */
  database(tree: Tree, dataset: Dataset): Promise<string>;
  /** A copy of the same, to write to freely. */
  copyOf(tree: Tree, dataset: Dataset): Promise<string>;
  /** Reports progress to the terminal. */
  say(text: string): void;
};

/** A figure and its goal. */
export type Goal = {
  id: string;
  measure: string;
  bound: Bound;
  figure: Figure;
  /** The same figure of the first wave, measured in the same run. */
  firstWave?: Figure;
  /** Why this run cannot say whether the goal is met. */
  notJudged?: string;
};

export type Bound = { kind: 'at least' | 'at most'; limit: number; unit: string };

/** The median over the rounds of one run, with the lowest and the highest. */
export type Figure = { median: number; low: number; high: number };

export type Table = { title: string; head: string[]; rows: string[][] };

export type Chart = { name: string; alt: string; svg: string };

/** What a benchmark found, as the report shows it. */
export type Section = {
  goals: Goal[];
  tables: Table[];
  charts?: Chart[];
  notes?: string[];
};

export type Benchmark = {
  /** The goals that it measures. */
  ids: string[];
  title: string;
  run(context: Context): Promise<Section>;
};
