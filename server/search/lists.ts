import { bytesOf, type Column } from './columns.ts';

const minLength = 16;

/** A Uint32Array that grows. Hot loops read `values` directly. */
export class Uint32List implements Column {
  values: Uint32Array = new Uint32Array(minLength);
  length = 0;

  get bytes(): number {
    return this.values.byteLength;
  }

  at(index: number): number {
    return this.values[index] ?? 0;
  }

  push(value: number): void {
    if (this.length === this.values.length) this.#grow();
    this.values[this.length++] = value;
  }

  insert(index: number, value: number): void {
    this.push(value);
    this.values.copyWithin(index + 1, index, this.length - 1);
    this.values[index] = value;
  }

  delete(index: number): void {
    this.values.copyWithin(index, index + 1, this.length);
    this.length -= 1;
  }

  toBytes(): Uint8Array {
    return bytesOf(this.values.subarray(0, this.length));
  }

  fill({ buffer, byteOffset, byteLength }: Uint8Array): void {
    this.length = byteLength / Uint32Array.BYTES_PER_ELEMENT;
    this.values = new Uint32Array(buffer, byteOffset, this.length);
  }

  #grow(): void {
    const values = new Uint32Array(Math.max(minLength, this.length * 2));
    values.set(this.values);
    this.values = values;
  }
}
