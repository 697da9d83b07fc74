/** A file as it came in, already on disk in a place of its own, hashed while it was written. */
export interface ReceivedFile {
  readonly name: string;
  readonly size: number;
  /** Hexadecimal SHA-256 of the content. */
  readonly sha256: string;
  /** Readable until the request ends. */
  readonly path: string;
}

/** Contents of documents, addressed by operation and SHA-256, sealed with the operation's key. Storing one twice is storing it once. */
export interface DocumentStore {
  /** Durable when it resolves. */
  put(stream: string, file: ReceivedFile): Promise<void>;
  get(stream: string, sha256: string): Promise<Uint8Array | undefined>;
}

export type FileKind = 'pdf' | 'docx';

/** Decides by content, never by the declared type. Bounded in time and memory, off the main thread where it parses. */
export interface DocumentInspector {
  /** What the file really is. @throws DomainError `invalid_file` naming the file and what is wrong with it */
  inspect(file: ReceivedFile): Promise<FileKind>;
}
