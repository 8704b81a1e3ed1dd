export type NewKey = {
  id: string;
  project: string;
  name: string;
  /** SHA-256 of the key, in hex. The key itself is never stored. */
  hash: string;
  prefix: string;
  lastFour: string;
  /** The user that the key is bound to, or null for the whole project. */
  userId: string | null;
  readOnly: boolean;
  /** Whether the key can only read /metrics. */
  metricsOnly: boolean;
  createdAt: number;
  expiresAt: number | null;
};

export type StoredKey = Omit<NewKey, 'hash'> & {
  projectId: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
};
