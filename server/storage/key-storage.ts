export interface KeyStorage {
  /** Stores an API key by its hash. Creates the project if it does not exist. */
  createKey(key: NewKey): Promise<StoredKey>;

  /** Returns all keys, oldest first, including revoked and expired keys. */
  listKeys(): Promise<StoredKey[]>;

  /** Returns the key with this hash, or null. The key may be revoked or expired. */
  findKey(hash: string): Promise<StoredKey | null>;

  /** Returns false if the key does not exist or was already revoked. */
  revokeKey(id: string, at: number): Promise<boolean>;

  /** Records when keys were last used. */
  touchKeys(used: { id: string; at: number }[]): Promise<void>;
}

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
