/** A part of a content, in bytes: from `start`, to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ReceivedFile {
  readonly name: string;
  /** Its place in the request as refusals name it, such as `files[2]`. */
  readonly field: string;
  readonly size: number;
  readonly sha256: string;
  /** The content, or a part of it. It can be read until the request ends; what still reads then fails. */
  read(range?: ByteRange): AsyncIterable<Uint8Array>;
}

/** A stored content does not have the digest of its name: it was damaged or changed where it lies, or while it was copied. */
export class DamagedDocumentError extends Error {
  override readonly name = 'DamagedDocumentError';
}

export interface StoredContent {
  readonly size: number;
  /** To be read once. The last piece comes only after all were found to be what was stored. @throws DamagedDocumentError */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Nothing was stored: the operation has no key that could seal it. One is made with its borrower alone, and deleted when that is forgotten. */
export class NoOperationKeyError extends Error {
  override readonly name = 'NoOperationKeyError';
}

/** Contents of documents, addressed by operation and SHA-256, sealed with the operation's key. Storing one twice is storing it once. */
export interface DocumentStore {
  /** Durable when it resolves. @throws NoOperationKeyError */
  put(stream: string, file: ReceivedFile): Promise<void>;
  get(stream: string, sha256: string): Promise<Uint8Array | undefined>;
  /** Without holding a whole one. The caller reads it, or ends the iteration: until then it may hold an open file. */
  open(stream: string, sha256: string): Promise<StoredContent | undefined>;
  /** To another operation, which seals with a key of its own. Durable when it resolves. False when there is no such content, or it cannot be opened any more. @throws NoOperationKeyError */
  copy(from: string, to: string, sha256: string): Promise<boolean>;
  /** Removes the sealed content for good, whether or not its key still exists; one that is not there is fine. Durable when it resolves. */
  remove(stream: string, sha256: string): Promise<void>;
}

export type FileKind = 'pdf' | 'docx';

/** On whose behalf a file is looked at; `signal` is aborted when the caller does not wait for the answer any more. */
export interface Inspection {
  readonly applicationId: string;
  /** Whether a PDF has to be one that can be read; otherwise it need only begin like one. */
  readonly strict?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Decides by content, never by the declared type. Bounded in time and memory, off the main thread where it parses. */
export interface DocumentInspector {
  /** @throws DomainError `invalid_file` @throws OverShareError @throws InspectorAwayError no file can be looked at now */
  inspect(file: ReceivedFile, accepted: readonly FileKind[], inspection: Inspection): Promise<FileKind>;
}
