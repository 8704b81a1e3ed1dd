import type { Config } from '../config.ts';
import type { LogEntry, Logger } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import type { QuestionVector, UserToEmbed } from '../storage/vector-storage.ts';
import { startThread, type Thread } from '../threads/start.ts';
import type { ModelStart } from './thread.ts';

/**
 * The HTTP thread's handle to the model thread. If the thread ends or hangs, only the search by
 * meaning is unavailable; the thread is started again after a pause that doubles each time.
 */
export type Embedder = {
  /**
   * Returns the question's vector; null if it has none, because the model does not know its
   * script; or 'unavailable' if the model fails or takes too long.
   */
  ask(question: string): Promise<QuestionVector | null | 'unavailable'>;
  /** Embeds the few newest memories of a user. Resolves in any case, at most after a moment. */
  embedNow(user: UserToEmbed): Promise<void>;
  /** Notifies the thread of new work. This is cheap enough to call after every write. */
  wake(): void;
  stop(): Promise<void>;
};

const cachedQuestions = 256;
const embedNowMs = 100;
/** An endpoint needs longer than the built-in model, also when it is in good health. */
const askMs = { builtIn: 300, endpoint: 1_000 };
/** The first question may arrive while the thread starts and loads the model. */
const firstAskMs = 3_000;
/** After an endpoint has failed, it is not asked for this long. */
const breakerMs = 30_000;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

export function startEmbedder(options: {
  storage: Storage;
  config: Pick<Config, 'logLevel'>;
  endpoint: ModelStart['endpoint'];
  log: Logger;
  write(entry: LogEntry): void;
  preload: readonly string[];
}): Embedder {
  const { storage, config, endpoint, log, write, preload } = options;
  const answers = new Map<string, QuestionVector | null>();
  let thread: Thread | null = null;
  let isStopping = false;
  let isAwake = false;
  let hasAnswered = false;
  let pauseMs = firstPauseMs;
  let brokenUntil = 0;
  start();

  function start(): void {
    const { data, transfer } = storage.connection();
    const given: ModelStart = { connection: data, logLevel: config.logLevel, endpoint };
    hasAnswered = false;
    answers.clear();
    const started = startThread({
      name: 'model',
      module: 'server/embeddings/thread.ts',
      data: given,
      transfer,
      preload,
      lost: (reason) => new Error(reason),
      onSilent: (reason) => {
        log.error(reason);
        started.terminate();
        restart(started);
      },
      onEnd: (reason) => {
        log.error(`${reason}; searches use words alone until it has been restarted`);
        restart(started);
      },
      onNotice: (notice) => write((notice as { log: LogEntry }).log),
    });
    thread = started;
  }

  function restart(ended: Thread): void {
    if (isStopping || thread !== ended) return;
    thread = null;
    const timer = setTimeout(() => {
      if (!isStopping) start();
    }, pauseMs);
    timer.unref();
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }

  async function call<T>(operation: string, argument: unknown, withinMs: number): Promise<T> {
    if (thread === null) throw new Error('the model thread is not running');
    const called = thread.call(operation, argument);
    thread.flush();
    return within(
      withinMs,
      called.then(({ value }) => value as T),
    );
  }

  function remember(question: string, answer: QuestionVector | null): void {
    answers.delete(question);
    answers.set(question, answer);
    const [oldest] = answers.keys();
    if (answers.size > cachedQuestions && oldest !== undefined) answers.delete(oldest);
  }

  async function askModel(question: string): Promise<QuestionVector | null | 'unavailable'> {
    if (performance.now() < brokenUntil) return 'unavailable';
    const usualMs = endpoint === null ? askMs.builtIn : askMs.endpoint;
    try {
      const waitMs = hasAnswered ? usualMs : firstAskMs;
      const answer = (await call<QuestionVector | undefined>('ask', question, waitMs)) ?? null;
      hasAnswered = true;
      pauseMs = firstPauseMs;
      remember(question, answer);
      return answer;
    } catch (error) {
      if (endpoint !== null) brokenUntil = performance.now() + breakerMs;
      log.debug('a question could not be embedded', { error });
      return 'unavailable';
    }
  }

  return {
    async ask(question) {
      const known = answers.get(question);
      if (known === undefined) return askModel(question);
      remember(question, known);
      return known;
    },
    async embedNow(user) {
      if (performance.now() < brokenUntil) return;
      await call('embedNow', user, embedNowMs).catch(() => {});
    },
    wake() {
      if (isAwake) return;
      isAwake = true;
      setImmediate(() => {
        isAwake = false;
        thread?.post('wake');
      });
    },
    async stop() {
      isStopping = true;
      await thread?.stop();
    },
  };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
