/** Sizes and counts of the wire contract. "Characters" are Unicode code points. */
export const limits = {
  contentCharacters: 65_536,
  /** The maximum length of `userId`, `source` and `externalId`. */
  nameCharacters: 256,
  /** The maximum length of the `author` or `role` of a timeline entry. */
  labelCharacters: 100,
  timelineEntries: 1_000,
  batchItems: 1_000,
  metadataBytes: 16_384,
  metadataLevels: 8,
  pageItems: 100,
  pageItemsDefault: 20,
  queryCharacters: 1_000,
  searchItemsDefault: 10,
  exportItems: 1_000,
  /** The maximum version of an imported memory. Updates and restores still increase the version. */
  importedVersion: 1_000_000_000_000,
  idempotencyKeyCharacters: 255,
  idempotencyKeptMs: 72 * 60 * 60 * 1_000,
  pendingRecords: 100_000,
  bodyBytesDefault: 5 * 1024 * 1024,
  /** The maximum size of the body of a save or an update. */
  saveBodyBytes: 1024 * 1024,
  /** The maximum nesting depth of arrays and objects in a body, including the outermost. */
  jsonLevels: 32,
  /** The maximum number of values of any type in a body, including the outermost. */
  jsonValues: 200_000,
  /** The maximum number of object members in a body, or in one item of a batch. */
  recordFields: 20_000,
} as const;
