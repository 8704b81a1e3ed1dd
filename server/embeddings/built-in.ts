import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { freeBytes } from '../threads/garbage.ts';
import { dims, Encoder } from './encoder.ts';
import { readKernel } from './kernel-file.ts';
import weightsPath from './minilm/all-MiniLM-L6-v2.int8.safetensors' with { type: 'file' };
import vocabularyPath from './minilm/vocab.txt' with { type: 'file' };
import { builtInModel, type EmbeddingModel, ModelError, type Priority } from './model.ts';
import { isLatin } from './texts.ts';
import { type Tokens, WordPiece } from './wordpiece.ts';

/** Of all-MiniLM-L6-v2.int8.safetensors; see minilm/README.md. */
const digest = 'bd1a5170ee9c17bd24e83c8635b50036c933df28db6ab91232116075c1291952';
/** Measured by calibration.ts. Otherwise, the first search would wait for 64 sentences. */
const unrelated = { mean: 0.05505, deviation: 0.08134 };
/** A text with a larger share of unknown tokens is in a script that the model does not know. */
const maxUnknownShare = 0.3;
/**
 * These words of a question stand for the person whom most of the memories are about. Their own
 * states count negatively, because the states of the other tokens contain them, too: otherwise,
 * "what does she do?" would be near every memory that begins with "Her".
 */
const personWords = ['she', 'he', 'her', 'his', 'him', 'hers', 'user'];
const personWeight = -0.5;
const accented = /\p{L}*\p{M}[\p{L}\p{M}]*/gu;

/** Loads the built-in model, all-MiniLM-L6-v2. It takes some 50 MB of memory. */
export async function openBuiltInModel(): Promise<EmbeddingModel> {
  const weights = await readFile(weightsPath);
  const found = Bun.CryptoHasher.hash('sha256', weights, 'hex');
  if (found !== digest) throw new ModelError('the file of the built-in model is damaged');
  const encoder = new Encoder(weights, readKernel());
  freeBytes(weights);
  const tokenizer = new WordPiece(await readFile(vocabularyPath, 'utf8'));
  const personIds = new Set(personWords.map((word) => tokenizer.idOf(word)));
  const isPerson = (id: number) => personIds.has(id);
  /** A question of hardly any other words keeps them. */
  const mayWeigh = (ids: readonly number[]) => 2 * ids.filter(isPerson).length < ids.length - 1;
  const weightOf = (id: number) => (isPerson(id) ? personWeight : 1);
  /** Only one text at a time can be encoded in steps. */
  let inBackground: Promise<unknown> = Promise.resolve();
  /** The calls that a search waits for. */
  let urgent = 0;

  async function encodeInSteps(ids: readonly number[]): Promise<Float32Array> {
    const steps = encoder.encodeInSteps(ids);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      // Questions that have arrived in the meantime run now.
      do await nextTurn();
      while (urgent > 0);
    }
  }

  async function embedOne(text: string, priority: Priority): Promise<Float32Array | null> {
    if (!isLatin(text)) return null;
    const tokens = tokenizer.encode(text);
    if (isUnknown(tokens)) return null;
    if (priority !== 'background') {
      // Other questions may have arrived while several texts were encoded.
      await nextTurn();
      const isWeighed = priority === 'question' && mayWeigh(tokens.ids);
      return encoder.encode(tokens.ids, isWeighed ? weightOf : undefined);
    }
    const encoded = inBackground.then(() => encodeInSteps(tokens.ids));
    inBackground = encoded.catch(() => {});
    return encoded;
  }

  return {
    name: builtInModel,
    digest,
    dims,
    textsAtOnce: 1,
    unrelated,
    fluency: (question) => fluencyOf(question, tokenizer),
    async embed(texts, priority) {
      const isUrgent = priority !== 'background';
      if (isUrgent) urgent += 1;
      try {
        // One text after the other.
        return await Array.fromAsync(texts, (text) => embedOne(text, priority));
      } finally {
        if (isUrgent) urgent -= 1;
      }
    },
  };
}

/**
 * The share of words that the model knows as a whole, squared. The tokenizer drops accents, but a
 * word that has any is not English. One is added to both numbers, so that a rare English word,
 * which is several tokens, counts, too.
 */
function fluencyOf(question: string, tokenizer: WordPiece): number {
  const text = question.normalize('NFD');
  const foreign = text.match(accented)?.length ?? 0;
  const { words, known } = tokenizer.encode(text.replace(accented, ''));
  return ((known + 1) / (words + foreign + 1)) ** 2;
}

function isUnknown({ ids, unknown }: Tokens): boolean {
  const words = ids.length - 2;
  return words === 0 || unknown / words > maxUnknownShare;
}
