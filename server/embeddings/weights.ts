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
  const entries = Object.entries(tensors).map(
    ([
      name,
      {
        dtype,
        shape,
        data_offsets: [from, to],
      },
    ]): [string, Tensor] => [name, { dtype, shape, offset: data + from, bytes: to - from }],
  );
  const end = Math.max(...entries.map(([, { offset, bytes }]) => offset + bytes));
  if (end !== file.byteLength) throw new Error('the model file is truncated');
  return new Map(entries);
}

/** Writes a safetensors file. The data begins at a multiple of 64 bytes. */
export function writeTensors(
  tensors: readonly { name: string; dtype: string; shape: number[]; data: Uint8Array }[],
  metadata: Record<string, string>,
): Uint8Array<ArrayBuffer> {
  let end = 0;
  const entries = tensors.map(({ name, dtype, shape, data }) => {
    const from = end;
    end += data.byteLength;
    return [name, { dtype, shape, data_offsets: [from, end] }];
  });
  const text = JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) });
  const start = Math.ceil((8 + text.length) / 64) * 64;
  const file = new Uint8Array(start + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(start - 8), true);
  file.set(new TextEncoder().encode(text.padEnd(start - 8)), 8);
  let at = start;
  for (const { data } of tensors) {
    file.set(data, at);
    at += data.byteLength;
  }
  return file;
}
