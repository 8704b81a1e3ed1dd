/** The functions of kernel.as, which describes their parameters. Pointers are byte offsets. */
type Functions = Record<
  'multiply' | 'quantize' | 'addNorm' | 'gelu' | 'attend',
  (...parameters: number[]) => void
>;

const pageBytes = 65_536;
/** The first page holds the module's own constants. */
const firstFreeByte = pageBytes;

/** The WebAssembly module with its memory, which is allocated once and never grows. */
export class Kernel {
  readonly run: Functions;
  readonly #memory: WebAssembly.Memory;
  #reserved = firstFreeByte;

  /** `bytes` is the sum of all later reservations, each rounded up to 16 bytes. */
  constructor(module: Uint8Array<ArrayBuffer>, bytes: number) {
    const pages = Math.ceil((firstFreeByte + bytes) / pageBytes);
    this.#memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const env = { memory: this.#memory };
    const instance = new WebAssembly.Instance(new WebAssembly.Module(module), { env });
    // tests/embeddings/kernel.test.ts checks every function of this type.
    this.run = instance.exports as unknown as Functions;
  }

  /** Reserves bytes and returns their offset, a multiple of 16. The bytes are zero. */
  reserve(bytes: number): number {
    const offset = this.#reserved;
    this.#reserved += Math.ceil(bytes / 16) * 16;
    if (this.#reserved > this.#memory.buffer.byteLength) throw new Error('kernel memory is full');
    return offset;
  }

  bytes(offset: number, count: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory.buffer, offset, count);
  }

  int8s(offset: number, count: number): Int8Array<ArrayBuffer> {
    return new Int8Array(this.#memory.buffer, offset, count);
  }

  floats(offset: number, count: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#memory.buffer, offset, count);
  }
}
