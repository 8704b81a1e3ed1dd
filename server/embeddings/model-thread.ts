import { connectStorage } from '../storage/open.ts';
import type { StorageConnection } from '../storage/types/memories.ts';
import type { UserRef } from '../storage/types/project.ts';
import type { PresentModel, QuestionVector } from '../storage/types/vectors.ts';
import { answerCalls, parent, startData, watched, yieldPriority } from '../threads/serve.ts';
import { startBacklog } from './backlog.ts';
import { openBuiltInModel } from './built-in.ts';
import { isSameProbe, meanCosine, measureUnrelated, probeOf } from './calibration.ts';
import { type Endpoint, openEndpoint } from './endpoint.ts';
import type { OpenModel } from './memory-vectors.ts';
import { builtInModel, type EmbeddingModel, ModelError } from './model.ts';
import { textFormat } from './texts.ts';

/**
 * The model thread turns questions into vectors, and embeds memories in the background with a
 * separate connection to the storage. The model is loaded when it is first needed.
 */
export type ModelStart = {
  connection: StorageConnection['data'];
  /** Null for the built-in model. */
  endpoint: Endpoint | null;
  /** The id of the stored model that the server found when it started, or has used since. */
  usedModel: number | null;
};

/** The id of the model that was opened, or that another server has changed the model. */
export type ModelNotice = { opened: number } | 'refused';

/** Messages from the HTTP thread: users with new memories, and one whose search missed vectors. */
export type Changed = { changed: UserRef[] };
export type Searched = { searched: UserRef };

type Present = OpenModel & { present: PresentModel };

const { connection, endpoint, usedModel, log } = await startData<ModelStart>();
const storage = await connectStorage(connection);
let opening: Promise<Present> | null = null;
/** The built-in model. Unlike that of an endpoint, it stays the same. */
let builtIn: EmbeddingModel | null = null;
let used = usedModel;
/** Shorter than the pause of the backlog after a fault. */
const reopenAfterMs = 4_000;
const refusedPauseMs = 60_000;

/** Loads the model once. After a failure, calls fail for a moment, and then try again. */
function openModel(): Promise<Present> {
  if (opening !== null) return opening;
  const opened = load();
  opening = opened;
  opened.catch(() => setTimeout(() => forget(opened), reopenAfterMs));
  return opened;
}

/**
 * Returns the model while its vectors are those that are stored. Opens it again if another server
 * has changed the present model, which may now be served at the same endpoint.
 */
async function openPresent(): Promise<Present> {
  const opened = openModel();
  const { modelId } = await opened;
  const present = await storage.presentModel();
  if (present?.modelId === modelId) return opened;
  forget(opened);
  return openModel();
}

/** Notices that another server has changed the model, without loading one. */
async function checkPresent(): Promise<void> {
  if (opening !== null) await openPresent();
  else refuseOther(await storage.presentModel());
}

function forget(opened: Promise<Present>): void {
  if (opening === opened) opening = null;
}

async function load(): Promise<Present> {
  const stored = await storage.presentModel();
  refuseOther(stored);
  const model = await loadModel();
  const present = await knownModel(model, stored);
  used = present.modelId;
  parent.postMessage({ opened: used } satisfies ModelNotice);
  // A sweep before this has not found the memories without vectors of a new model.
  backlog.notify([]);
  return { model: watchedModel(model), modelId: present.modelId, present };
}

async function loadModel(): Promise<EmbeddingModel> {
  if (endpoint !== null) return openEndpoint(endpoint);
  builtIn ??= await openBuiltInModel();
  return builtIn;
}

/** Refuses a stored model of another name, unless this server may replace it. */
function refuseOther(stored: PresentModel | null): void {
  if (stored?.name !== (endpoint?.model ?? builtInModel)) refuseForeign(stored);
}

/**
 * Vectors of different models must not be mixed. So that servers with different models do not
 * replace them in turn, a server replaces only the model that it found when it started, or has used
 * since.
 */
function refuseForeign(stored: PresentModel | null): void {
  if (stored === null || stored.modelId === used) return;
  parent.postMessage('refused' satisfies ModelNotice);
  const what = `another server has changed the model to ${stored.name}`;
  throw new ModelError(`${what}; searches use words until this server is restarted with it`, {
    retryAfterMs: refusedPauseMs,
  });
}

/** Returns what the storage knows of the model, and makes it the present one. */
async function knownModel(
  model: EmbeddingModel,
  present: PresentModel | null,
): Promise<PresentModel> {
  const probe = await probeOf(model);
  const format = `${textFormat} `;
  const isSame = present?.name === model.name && present.digest.startsWith(format);
  if (isSame && isSameProbe(present.probe, probe)) return present;
  refuseForeign(present);
  // Another model may have had the same name and address.
  const weights = present === null ? model.digest : `${model.digest} ${Bun.hash(probe)}`;
  const unrelated = model.unrelated ?? (await measureUnrelated(model));
  const { name, dims } = model;
  const digest = format + weights;
  return storage.ensureModel({ name, digest, dims, probe, centre: null, ...unrelated });
}

/** An endpoint may begin to serve another model, which must be opened like a new one. */
function watchedModel(model: EmbeddingModel): EmbeddingModel {
  const opened = opening;
  return {
    ...model,
    embed: (texts, priority) =>
      model.embed(texts, priority).catch((error) => {
        if (error instanceof ModelError && error.isOtherModel && opening === opened) opening = null;
        throw error;
      }),
  };
}

const backlog = startBacklog({ storage, open: openPresent, check: checkPresent, log });

async function ask(text: string): Promise<QuestionVector | null> {
  const { model, modelId, present } = await openModel();
  const [vector = null] = await model.embed([text], 'question');
  if (vector === null) return null;
  const { buffer, byteOffset, byteLength } = vector;
  const base64 = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  const mean = meanCosine(vector, present);
  const { dims } = model;
  const { deviation } = present;
  return { modelId, dims, vector: base64, mean, deviation, fluency: model.fluency(text) };
}

yieldPriority();
answerCalls(parent, (operation, argument) => {
  if (operation === 'ask') return ask(argument as string);
  return backlog.embedNow(argument as UserRef);
});
parent.listen((message) => {
  const { changed, searched }: Partial<Changed & Searched> = Object(message);
  if (changed !== undefined) backlog.notify(changed);
  if (searched !== undefined) backlog.prefer(searched);
});
// The first question would otherwise wait for several requests to the endpoint.
if (endpoint !== null) openModel().catch(() => {});
watched(async () => {
  backlog.stop();
  await storage.close();
});
