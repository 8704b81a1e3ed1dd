/** What a benchmark is given. Sizes and times are smaller in a quick run. */
export type Context = {
  quick: boolean;
  /** How often each subject gets its turn, after a warm-up. */
  rounds: number;
  /** How long one turn of load lasts. */
  seconds: number;
  /** Memories in the tables that are compared, from small to large. */
  sizes: readonly number[];
  /** The size at which a single table is measured. */
  size: number;
  /** A scratch folder on the disk that is measured. */
  folder: string;
  /** The path of a database with this many memories. It is shared: add only a few. */
  database(count: number): Promise<string>;
  /** The same to write to at will. */
  copyOf(count: number): Promise<string>;
  /** Tells who watches what is being done. */
  say(text: string): void;
};

/** A figure beside its goal. `met` is null where there is no goal, or the run is not the one. */
export type Goal = {
  id: string;
  measure: string;
  goal: string;
  figure: string;
  met: boolean | null;
};

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
  /** The lines of the list of goals that it answers. */
  ids: string[];
  title: string;
  run(context: Context): Promise<Section>;
};
