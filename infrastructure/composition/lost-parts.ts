import { withoutKey } from '../../application/coordination/key-store.ts';
import { documentsOfOperations, newestWithBorrower } from '../../application/loans/operation-states.ts';
import { notForgotten } from '../../application/privacy/missing-keys.ts';
import { pause } from '../support/time.ts';
import type { Parts } from './parts.ts';

type Stores = Pick<Parts, 'readModelDatabase' | 'serviceDatabase' | 'eventStore' | 'documents'>;

interface Looked {
  /** Streams, the newest operation first. */
  readonly among: readonly string[];
  readonly lost: readonly string[];
}

/** A key is stored before the event that needs it, and deleted after the event that says so. */
export const lostKeys = async (
  { readModelDatabase, serviceDatabase, eventStore }: Omit<Stores, 'documents'>,
  newest: number,
): Promise<Looked> => {
  const among = await newestWithBorrower(readModelDatabase, newest);
  return { among, lost: await notForgotten(await withoutKey(serviceDatabase, among), eventStore) };
};

const isThere = async ({ documents }: Stores, stream: string, sha256: string): Promise<boolean> => {
  const content = await documents.store.open(stream, sha256);
  await content?.pieces[Symbol.asyncIterator]().return?.();
  return content !== undefined;
};

/** The same of documents, of operations that have their keys. */
export const lostDocuments = async (stores: Stores, { among, lost }: Looked): Promise<Looked> => {
  const kept = among.filter((stream) => !lost.includes(stream));
  const gone = new Set<string>();
  for (const { stream, sha256 } of await documentsOfOperations(stores.readModelDatabase, kept))
    if (!gone.has(stream) && !(await isThere(stores, stream, sha256))) gone.add(stream);
  return { among: kept, lost: await notForgotten([...gone], stores.eventStore) };
};

/** What an older state of a store lacks first belongs to the newest operations. */
export const NEWEST_LOOKED_AT = 10;

const KEYS_LOST =
  'keys of the newest operations are not in the service database, which is older than the event log or has lost its last commits: stop the service and put the newer one back; docs/operations.md, KeysMissing, says how to go on without them';
const DOCUMENTS_LOST =
  'documents of the newest operations are not where they were stored: stop the service, look whether DATA_DIR/documents is mounted or S3_URL names the right bucket, and put them back; `receivables audit verify --documents` names each that is missing';

const LOOK_AGAIN_MS = 60_000;

/**
 * What stands beside the log may be older than it, or not there at all, and nobody would know before it is needed. Read models that are
 * older, too, take in the newest operations first: it is looked at twice. Documents are read by the interface alone.
 */
export const tellLostParts = async (
  parts: Parts,
  later = (): Promise<void> => pause(LOOK_AGAIN_MS),
): Promise<void> => {
  if (await looked(parts)) return;
  await later();
  await looked(parts);
};

/** Whether it told of something. */
const looked = async (parts: Parts): Promise<boolean> => {
  const { logger, configuration } = parts;
  const tell = (event: string, { among, lost }: Looked, text: string): boolean => {
    if (lost.length === 0) return false;
    logger.error({ event, lost: lost.length, of_newest: among.length, stream: lost[0] }, text);
    return true;
  };
  const keys = await lostKeys(parts, NEWEST_LOOKED_AT);
  const lostSome = tell('keys_lost', keys, KEYS_LOST);
  if (!configuration.roles.includes('api')) return lostSome;
  return tell('documents_lost', await lostDocuments(parts, keys), DOCUMENTS_LOST) || lostSome;
};
