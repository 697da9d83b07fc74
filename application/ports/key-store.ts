/** Keys wrapped by the master key, in the SQL store. Durable when a call resolves. */
export interface KeyStore {
  /** Stores unless one exists; answers the one that counts. */
  putIfAbsent(name: string, wrapped: string): Promise<string>;
  get(name: string): Promise<string | undefined>;
  delete(name: string): Promise<void>;
  list(
    prefix: string,
  ): Promise<readonly { readonly name: string; readonly wrapped: string; readonly createdAt: string }[]>;
}
