import type { Logger } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import type { UserRef } from '../storage/types/project.ts';
import type { QuestionVector } from '../storage/types/vectors.ts';
import { type Admission, createAdmission } from '../threads/admission.ts';
import type { Thread, Threads } from '../threads/start.ts';
import type { Endpoint } from './endpoint.ts';
import { builtInModel, memoriesNow } from './model.ts';
import type { Changed, ModelNotice, ModelStart, Searched } from './model-thread.ts';

type Answer = QuestionVector | null | 'unavailable';

const cachedQuestions = 256;
/** For the first `memoriesNow` memories, which may be paragraphs, and for each more of them. */
const embedNowMs = { first: 300, more: 100 };
/** The built-in model may still be loading, or share a busy core. */
const foundNothingMs = 2_000;
const askMs = 300;
/** The first question may arrive while the thread starts and loads the built-in model. */
const firstAskMs = 3_000;
/** An endpoint needs longer than the built-in model, also when it is in good health. */
const endpointAskMs = 1_000;
/** How many requests an endpoint gets at the same time. The built-in model works on one. */
const endpointCalls = 8;
/** After an endpoint has failed, it is not asked for this long. */
const breakerMs = 30_000;
/** The same before the endpoint has been opened, which takes several requests. */
const openingBreakerMs = 3_000;
/** The users in one message to the thread. A sweep of the thread finds the others. */
const maxNoted = 10_000;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

export type Embedder = ReturnType<typeof createEmbedder>;

/**
 * The HTTP thread's handle to the model thread. If the thread ends or hangs, only the search by
 * meaning is unavailable; the thread is started again after a pause that doubles each time.
 */
export function createEmbedder(options: {
  storage: Storage;
  /** Null for the built-in model. */
  endpoint: Endpoint | null;
  log: Logger;
  threads: Threads;
}) {
  const { storage, endpoint, log, threads } = options;
  const answers = new Map<string, QuestionVector | null>();
  const atOnce = endpoint === null ? 1 : endpointCalls;
  const asking = createTurns(atOnce);
  const embedding = createTurns(atOnce);
  let thread: Thread | null = null;
  /** The id of the stored model that this server found when it started, or has used since. */
  let usedModel: number | null = null;
  let isStopping = false;
  const changed = new Map<string, UserRef>();
  let isFirst = true;
  let isOpened = false;
  let pauseMs = firstPauseMs;
  let brokenUntil = 0;

  /** Starts the thread. Until then, the model is unavailable. */
  async function start(): Promise<void> {
    usedModel = (await storage.presentModel())?.modelId ?? null;
    startThread();
  }

  function startThread(): void {
    const { data: connection, transfer } = storage.connection();
    const given: ModelStart = { connection, endpoint, usedModel };
    isOpened = false;
    answers.clear();
    const started = threads.start({
      name: 'model',
      module: 'server/embeddings/model-thread.ts',
      data: given,
      transfer,
      onLost: (reason) => {
        log.error(`${reason}; searches use words alone until it has been restarted`);
        restart(started);
      },
      onNotice: (notice) => receive(notice as ModelNotice),
    });
    thread = started;
  }

  function receive(notice: ModelNotice): void {
    // The vectors of another model must not be compared with those of the new one.
    answers.clear();
    if (notice === 'refused') return;
    isOpened = true;
    usedModel = notice.opened;
  }

  function sendChanged(): void {
    thread?.post({ changed: [...changed.values()] } satisfies Changed);
    changed.clear();
  }

  function restart(ended: Thread): void {
    if (isStopping || thread !== ended) return;
    thread = null;
    const timer = setTimeout(() => {
      if (!isStopping) startThread();
    }, pauseMs);
    timer.unref();
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }

  async function call<T>(operation: string, argument: unknown): Promise<T> {
    if (thread === null) throw new Error('the model thread is not running');
    const called = thread.call(operation, argument);
    thread.flush();
    return (await called) as T;
  }

  function remember(question: string, answer: QuestionVector | null): void {
    answers.delete(question);
    answers.set(question, answer);
    const [oldest] = answers.keys();
    if (answers.size > cachedQuestions && oldest !== undefined) answers.delete(oldest);
  }

  async function askModel(projectId: number, question: string): Promise<Answer> {
    if (thread?.fault() !== null || performance.now() < brokenUntil) return 'unavailable';
    const withinMs = endpoint !== null ? endpointAskMs : isFirst ? firstAskMs : askMs;
    let isSent = false;
    try {
      const answer = await inTurn(asking, { projectId, withinMs }, async () => {
        isSent = true;
        return (await call<QuestionVector | undefined>('ask', question)) ?? null;
      });
      pauseMs = firstPauseMs;
      remember(question, answer);
      return answer;
    } catch (error) {
      const pausedMs = isOpened ? breakerMs : openingBreakerMs;
      if (endpoint !== null && isSent) brokenUntil = performance.now() + pausedMs;
      log.debug('a question could not be embedded', { error });
      return 'unavailable';
    } finally {
      isFirst = false;
    }
  }

  return {
    model: endpoint === null ? builtInModel : endpoint.model,
    start,
    /**
     * Returns the question's vector; null if it has none, because the model does not know its
     * script; or 'unavailable' if the model fails or takes too long.
     */
    async ask(projectId: number, question: string): Promise<Answer> {
      const known = answers.get(question);
      if (known === undefined) return askModel(projectId, question);
      remember(question, known);
      return known;
    },
    /**
     * Embeds a user's new memories, of which there are `missing`, a few at a time, so that projects
     * take turns. Resolves in any case, at most after a moment, or after a longer one if the search
     * has found nothing without them.
     */
    async embedNow(
      user: UserRef,
      { missing, foundNothing }: { missing: number; foundNothing: boolean },
    ): Promise<void> {
      if (performance.now() < brokenUntil) return;
      const { projectId } = user;
      const turns = Math.ceil(missing / memoriesNow);
      const foundMs = embedNowMs.first + (turns - 1) * embedNowMs.more;
      const endsAt = performance.now() + (foundNothing ? foundNothingMs : foundMs);
      const embed = () => call<boolean>('embedNow', user);
      for (let turn = 0; turn < turns; turn += 1) {
        const withinMs = endsAt - performance.now();
        if (withinMs <= 0) return;
        const goesOn = await inTurn(embedding, { projectId, withinMs }, embed).catch(() => false);
        if (!goesOn) return;
      }
    },
    /** Notifies the thread of changed memories. This is cheap enough to call after every write. */
    noteChange(projectId: number, memories: readonly { userId: string }[]): void {
      if (changed.size === 0) setImmediate(sendChanged);
      for (const { userId } of memories) {
        if (changed.size >= maxNoted) return;
        changed.set(`${projectId} ${userId}`, { projectId, userId });
      }
    },
    /** Notifies the thread of a user whose search has not found vectors of all memories. */
    noteSearch(searched: UserRef): void {
      thread?.post({ searched } satisfies Searched);
    },
    async stop(): Promise<void> {
      isStopping = true;
      await thread?.stop();
    },
  };
}

/** Projects with waiting calls take turns, so that one project's hardly delay those of another. */
function createTurns(atOnce: number): Admission {
  const running = { total: atOnce, project: atOnce };
  // A waiting call has no size, so any number may wait.
  const limits = { running, waiting: { total: 0, project: 0 }, maxWaitMs: firstAskMs };
  return createAdmission(limits, 'too many other calls were waiting');
}

/**
 * Runs the call in its project's turn. Rejects if wait and call take longer than `withinMs`. The
 * wait may take half of this time: while there are more calls than the model can answer, each would
 * otherwise begin too late. A call that nobody waits for keeps its turn for `withinMs` at most: the
 * row of its user may be locked, or an endpoint may hang while it is opened.
 */
function inTurn<T>(
  turns: Admission,
  { projectId, withinMs }: { projectId: number; withinMs: number },
  call: () => Promise<T>,
): Promise<T> {
  async function run(): Promise<T> {
    const signal = AbortSignal.timeout(withinMs / 2);
    const end = await turns.admit({ projectId, size: 1, waitingSize: 0, signal });
    return within(withinMs, call()).finally(end);
  }
  return within(withinMs, run());
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  using _timer = setTimeout(() => late.reject(new Error('no answer in time')), ms);
  return await Promise.race([work, late.promise]);
}
