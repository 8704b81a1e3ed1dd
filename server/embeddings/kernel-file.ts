import { readFileSync } from 'node:fs';
import path from './kernel.wasm' with { type: 'file' };
import { createVectorScan, type VectorScan } from './vector.ts';

export function readKernel(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(path));
}

let scan: { dims: number; opened: VectorScan } | null = null;

/** Returns this thread's means to compare vectors. */
export function openScan(dims: number): VectorScan {
  if (scan?.dims !== dims) scan = { dims, opened: createVectorScan(readKernel(), dims) };
  return scan.opened;
}
