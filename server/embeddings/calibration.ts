import { type Distribution, type EmbeddingModel, ModelError } from './model.ts';
import { packVector } from './vector.ts';

/** Its vector tells whether a model of the same name is still the same. */
export const probe = 'The quick brown fox jumps over the lazy dog near the river bank.';
/** Below this cosine of two vectors of the probe, the models differ. */
const sameModel = 0.999;

/** Sentences about unrelated things. The cosines of their pairs are those of unrelated texts. */
const unrelated = [
  'The ferry to the island leaves at seven in the morning.',
  'Add two spoons of flour and stir until the sauce is thick.',
  'Our quarterly revenue grew by eleven percent.',
  'The cat slept on the warm radiator all afternoon.',
  'Reset the router and wait for the green light.',
  'She plays the cello in a small orchestra.',
  'The contract ends on the last day of March.',
  'Volcanic soil is rich in minerals.',
  'He broke his ankle while skiing.',
  'The function returns null when the list is empty.',
  'Tickets for the museum are sold out this weekend.',
  'My grandmother grew tomatoes behind the garage.',
  'The court dismissed the appeal without comment.',
  'Penguins can hold their breath for twenty minutes.',
  'Please send the invoice to the accounting department.',
  'The paint needs a day to dry.',
  'We camped beside a frozen lake.',
  'The new bus line stops in front of the hospital.',
  'Interest rates were left unchanged.',
  'I forgot the password of my old email account.',
  'The novel is set in a fishing village.',
  'Bring sunscreen and a hat.',
  'The goalkeeper saved two penalties.',
  'Encryption protects data at rest and in transit.',
  'The bakery closes early on Mondays.',
  'A comet will be visible before dawn.',
  'They repainted the nursery in pale yellow.',
  'The patient has a mild fever and a cough.',
  'Our flight was delayed because of fog.',
  'The guitar has a crack in its neck.',
  'Wind turbines were built along the coast.',
  'The meeting moved to the small conference room.',
  'Bees communicate by dancing.',
  'He owes his landlord two months of rent.',
  'The recipe calls for fresh basil.',
  'Install the package before running the tests.',
  'The bridge was closed for repairs.',
  'She finished the marathon in under four hours.',
  'The printer is out of toner.',
  'Ancient Rome imported grain from Egypt.',
  'The puppy chewed through the phone charger.',
  'You can pay in three instalments.',
  'The choir rehearses on Thursday evenings.',
  'A glacier carved this valley.',
  'The warranty does not cover water damage.',
  'He learned Portuguese from his neighbour.',
  'The satellite lost contact with the ground station.',
  'Coffee prices rose after the drought.',
  'The elevator is stuck between two floors.',
  'Her thesis is about medieval maps.',
  'The river floods every spring.',
  'We adopted a policy of working from home on Fridays.',
  'The chess match ended in a draw.',
  'A fuse blew and the kitchen went dark.',
  'The tailor shortened the sleeves.',
  'Vaccines for the trip must be booked in advance.',
  'The server returned an unexpected status code.',
  'Lemons keep longer in the refrigerator.',
  'The mayor opened the new library.',
  'His watch runs five minutes fast.',
  'The documentary follows a family of elephants.',
  'Turn left at the second roundabout.',
  'The theatre offers discounts for students.',
  'Dust collects behind the piano.',
];

/** Returns the vector of the probe, in base64. */
export async function probeOf(model: EmbeddingModel): Promise<string> {
  const [vector = null] = await model.embed([probe], 'background');
  return stored(known(vector));
}

/** Measures the cosines of all pairs of unrelated sentences, and the mean of their vectors. */
export async function measureUnrelated(
  model: EmbeddingModel,
): Promise<Distribution & { centre: string }> {
  const vectors = (await model.embed(unrelated, 'background')).map(known);
  const cosines = vectors.flatMap((one, at) =>
    vectors.slice(0, at).map((other) => dot(one, other)),
  );
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
  if (mean > sameModel) {
    throw new ModelError('the model returned about the same vector for different sentences');
  }
  const squares = cosines.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / cosines.length), centre: stored(meanOf(vectors)) };
}

/**
 * Returns the mean of the cosines that a question has with unrelated texts. It is lower for a
 * question in another language than that of the texts, and often also for a question than for a
 * statement.
 */
export function meanCosine(
  question: Float32Array,
  { mean, centre }: { mean: number; centre: string | null },
): number {
  return centre === null ? mean : dot(question, unpack(centre));
}

export function isSameProbe(one: string, other: string): boolean {
  return isSameVector(unpack(one), unpack(other));
}

/** Returns whether two vectors of the probe come from the same model. */
export function isSameVector(a: Float32Array, b: Float32Array): boolean {
  return a.length === b.length && dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)) >= sameModel;
}

function known(vector: Float32Array | null): Float32Array {
  if (vector === null) throw new ModelError('the model returned no vector for a test sentence');
  return vector;
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const dims = vectors[0]?.length ?? 0;
  const sums = Array.from({ length: dims }, (_, at) =>
    vectors.reduce((sum, vector) => sum + (vector[at] ?? 0), 0),
  );
  return Float32Array.from(sums, (sum) => sum / vectors.length);
}

function stored(vector: Float32Array): string {
  return Buffer.from(packVector(vector)).toString('base64');
}

function unpack(packed: string): Float32Array {
  const bytes = Buffer.from(packed, 'base64');
  const scale = bytes.readFloatLE(0);
  return Float32Array.from(new Int8Array(bytes.subarray(4)), (value) => value * scale);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
