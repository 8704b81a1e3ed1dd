/** A Uint32Array that grows. Hot loops read `values` directly. */
export class Uint32List {
  values = new Uint32Array(16);
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

  #grow(): void {
    this.values = new Uint32Array(this.values.buffer.transfer(this.values.byteLength * 2));
  }
}
