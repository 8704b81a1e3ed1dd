/** A tensor of a safetensors file; `offset` counts from the beginning of the file. */
export type Tensor = { dtype: string; shape: number[]; offset: number; bytes: number };

type Header = Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;

/** Reads the header of a safetensors file: https://github.com/huggingface/safetensors#format */
export function readTensors(file: Uint8Array): Map<string, Tensor> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headerBytes = Number(view.getBigUint64(0, true));
  if (headerBytes > file.byteLength - 8) throw new Error('the model file is truncated');
  const header: Header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + headerBytes)));
  const { __metadata__: _, ...tensors } = header;
  const data = 8 + headerBytes;
  const found = new Map<string, Tensor>();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(tensors)) {
    const [from, to] = data_offsets;
    found.set(name, { dtype, shape, offset: data + from, bytes: to - from });
  }
  const end = Math.max(...[...found.values()].map(({ offset, bytes }) => offset + bytes));
  if (end !== file.byteLength) throw new Error('the model file is truncated');
  return found;
}
