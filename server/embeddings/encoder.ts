import { Kernel } from './kernel.ts';
import { readTensors, type Tensor } from './weights.ts';
import { maxTokens } from './wordpiece.ts';

/** The shape of all-MiniLM-L6-v2. */
export const dims = 384;
const inner = 1_536;
const heads = 12;
const layerCount = 6;

/** Offsets of a linear layer's weights, their scales and its bias. */
type Linear = { weight: number; scales: number; bias: number; depth: number; columns: number };
type Norm = { weight: number; bias: number };
type Layer = {
  query: Linear;
  key: Linear;
  value: Linear;
  output: Linear;
  attended: Norm;
  widen: Linear;
  narrow: Linear;
  finished: Norm;
};

/** The sizes of the space that one text needs while it is encoded. */
const spaceBytes = {
  x: maxTokens * dims * 4,
  y: maxTokens * dims * 4,
  query: maxTokens * dims * 4,
  key: maxTokens * dims * 4,
  value: maxTokens * dims * 4,
  mixed: maxTokens * dims * 4,
  wide: maxTokens * inner * 4,
  quantized: maxTokens * inner * 2,
  scales: maxTokens * 4,
  row: maxTokens * 4,
};
/** The offsets of this space. */
type Space = typeof spaceBytes;

/** The forward pass of all-MiniLM-L6-v2 with int8 weights: token ids to a unit vector. */
export class Encoder {
  readonly #kernel: Kernel;
  readonly #tensors: Map<string, Tensor>;
  readonly #file: number;
  readonly #layers: Layer[];
  readonly #space: Space;
  /** Space for the text that is encoded in steps. */
  readonly #stepSpace: Space;

  /** `file` is the content of the int8 safetensors file, `module` of kernel.wasm. */
  constructor(file: Uint8Array, module: Uint8Array<ArrayBuffer>) {
    this.#tensors = readTensors(file);
    const space = Object.values(spaceBytes).reduce((sum, bytes) => sum + bytes, 0);
    this.#kernel = new Kernel(module, file.byteLength + 16 + 2 * space);
    // The whole file lies in the kernel's memory, so that a tensor's offset is its pointer.
    this.#file = this.#kernel.reserve(file.byteLength);
    this.#kernel.bytes(this.#file, file.byteLength).set(file);
    this.#layers = Array.from({ length: layerCount }, (_, index) => this.#layer(index));
    this.#space = this.#newSpace();
    this.#stepSpace = this.#newSpace();
  }

  /**
   * Returns the mean of the tokens' last states, scaled to length 1: 384 numbers. `weightOf` says
   * how much the state of a token counts.
   */
  encode(ids: readonly number[], weightOf?: (id: number) => number): Float32Array<ArrayBuffer> {
    const steps = this.#steps(ids, this.#space, weightOf);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /**
   * Like `encode`, but yields after each layer, so that the thread can encode a question in
   * between. Only one text can be encoded in this way at a time.
   */
  encodeInSteps(ids: readonly number[]): Generator<undefined, Float32Array<ArrayBuffer>> {
    return this.#steps(ids, this.#stepSpace);
  }

  *#steps(
    ids: readonly number[],
    space: Space,
    weightOf: (id: number) => number = () => 1,
  ): Generator<undefined, Float32Array<ArrayBuffer>> {
    this.#embed(ids, space);
    for (const layer of this.#layers) {
      this.#attend(layer, space, ids.length);
      this.#feedForward(layer, space, ids.length);
      yield;
    }
    return unitMean(this.#kernel.floats(space.x, ids.length * dims), ids.map(weightOf));
  }

  #embed(ids: readonly number[], { x, y }: Space): void {
    const kernel = this.#kernel;
    const words = kernel.int8s(...this.#view('embeddings.word_embeddings.weight', 1));
    const scales = kernel.floats(...this.#view('embeddings.word_embeddings.scales', 4));
    const positions = kernel.floats(...this.#view('embeddings.position_embeddings.weight', 4));
    const states = kernel.floats(x, ids.length * dims);
    ids.forEach((id, position) => {
      const scale = scales[id] ?? 0;
      for (let at = 0; at < dims; at += 1) {
        const word = (words[id * dims + at] ?? 0) * scale;
        states[position * dims + at] = word + (positions[position * dims + at] ?? 0);
      }
    });
    kernel.floats(y, ids.length * dims).fill(0);
    this.#addNorm({ x, y }, this.#norm('embeddings.LayerNorm'), ids.length);
  }

  #attend(layer: Layer, space: Space, rows: number): void {
    const { x, y, query, key, value, mixed, row, quantized, scales } = space;
    const { run } = this.#kernel;
    run.quantize(x, quantized, scales, rows, dims);
    this.#multiply(layer.query, space, query, rows);
    this.#multiply(layer.key, space, key, rows);
    this.#multiply(layer.value, space, value, rows);
    run.attend(query, key, value, mixed, row, rows, heads, dims / heads);
    run.quantize(mixed, quantized, scales, rows, dims);
    this.#multiply(layer.output, space, y, rows);
    this.#addNorm(space, layer.attended, rows);
  }

  #feedForward(layer: Layer, space: Space, rows: number): void {
    const { x, y, wide, quantized, scales } = space;
    const { run } = this.#kernel;
    run.quantize(x, quantized, scales, rows, dims);
    this.#multiply(layer.widen, space, wide, rows);
    run.gelu(wide, rows * inner);
    run.quantize(wide, quantized, scales, rows, inner);
    this.#multiply(layer.narrow, space, y, rows);
    this.#addNorm(space, layer.finished, rows);
  }

  #multiply(linear: Linear, { quantized, scales }: Space, out: number, rows: number): void {
    const { weight, bias, depth, columns } = linear;
    const { run } = this.#kernel;
    run.multiply(quantized, scales, weight, linear.scales, bias, out, rows, depth, columns);
  }

  #addNorm({ x, y }: Pick<Space, 'x' | 'y'>, { weight, bias }: Norm, rows: number): void {
    this.#kernel.run.addNorm(x, y, weight, bias, rows, dims);
  }

  #layer(index: number): Layer {
    const name = `encoder.layer.${index}`;
    return {
      query: this.#linear(`${name}.attention.self.query`),
      key: this.#linear(`${name}.attention.self.key`),
      value: this.#linear(`${name}.attention.self.value`),
      output: this.#linear(`${name}.attention.output.dense`),
      attended: this.#norm(`${name}.attention.output.LayerNorm`),
      widen: this.#linear(`${name}.intermediate.dense`),
      narrow: this.#linear(`${name}.output.dense`),
      finished: this.#norm(`${name}.output.LayerNorm`),
    };
  }

  #linear(name: string): Linear {
    const { offset, shape } = this.#tensor(`${name}.weight`);
    const [columns = 0, depth = 0] = shape;
    const scales = this.#pointer(`${name}.scales`);
    return {
      weight: this.#file + offset,
      scales,
      bias: this.#pointer(`${name}.bias`),
      depth,
      columns,
    };
  }

  #norm(name: string): Norm {
    return { weight: this.#pointer(`${name}.weight`), bias: this.#pointer(`${name}.bias`) };
  }

  #newSpace(): Space {
    const entries = Object.entries(spaceBytes);
    // The keys are those of spaceBytes.
    return Object.fromEntries(
      entries.map(([name, bytes]) => [name, this.#kernel.reserve(bytes)]),
    ) as Space;
  }

  #view(name: string, elementBytes: number): [offset: number, count: number] {
    return [this.#pointer(name), this.#tensor(name).bytes / elementBytes];
  }

  #pointer(name: string): number {
    return this.#file + this.#tensor(name).offset;
  }

  #tensor(name: string): Tensor {
    const tensor = this.#tensors.get(name);
    if (tensor === undefined) throw new Error(`the model file lacks ${name}`);
    return tensor;
  }
}

function unitMean(states: Float32Array, weights: readonly number[]): Float32Array<ArrayBuffer> {
  const sum = new Float32Array(dims);
  for (const [token, weight] of weights.entries()) {
    for (let at = 0; at < dims; at += 1) {
      sum[at] = (sum[at] ?? 0) + weight * (states[token * dims + at] ?? 0);
    }
  }
  // Math.hypot is not the same to the last bit in every engine.
  const length = Math.sqrt(sum.reduce((total, value) => total + value * value, 0));
  return sum.map((value) => value / length);
}
