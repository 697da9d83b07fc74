import { isNativeError } from 'node:util/types';
import { LRUCache } from 'lru-cache';
import { pino } from 'pino';
import type { DestinationStream } from 'pino';
import type { Logger } from '../../application/ports/logger.ts';

const REDACTED = '[redacted]';

/** Names of fields whose values stay out of the log, however they are spelled: letters only, lower case. */
const HIDDEN = new Set([
  ...['authorization', 'proxyauthorization', 'cookie', 'setcookie', 'password'],
  ...['secret', 'clientsecret', 'signingsecret', 'secrethash', 'masterkey', 'privatekey'],
  ...['token', 'accesstoken', 'borrower', 'documentnumber', 'email', 'phone', 'birthdate'],
]);
const DEEPEST = 6;

const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/** Lines that cannot be written are lost: a full disk behind the log must neither end what it reports about nor keep it from ending. */
export const standardOutput = () => {
  const output = pino.destination({ fd: 1, sync: false, maxLength: MOST_WAITING_BYTES });
  const flush = output.flushSync.bind(output);
  let failing = false;
  output.on('error', () => (failing = true)).on('write', () => (failing = false));
  // When the process exits, it would try for ever what cannot be written.
  output.flushSync = () => {
    if (!failing) flush();
  };
  return output;
};

/** JSON lines on standard output, or on `destination`. Fields that name a secret or personal data are redacted at any depth. */
export const createLogger = (level: keyof Logger, destination?: DestinationStream): Logger => {
  const options = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    // `redact` has made an object of the error already; pino's own serializer would do it again.
    serializers: { err: (value: unknown) => value },
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => redact(fields, DEEPEST) as Record<string, unknown>,
    },
  };
  const lines = pino(options, destination ?? standardOutput());
  return {
    error: (fields, message) => lines.error(fields, message),
    warn: (fields, message) => lines.warn(fields, message),
    info: (fields, message) => lines.info(fields, message),
    debug: (fields, message) => lines.debug(fields, message),
  };
};

/** Names of fields are few and come again in every line; names that come from outside must not fill the memory. */
const judged = new LRUCache<string, boolean>({ max: 1_000 });

const isHidden = (name: string): boolean => {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const hidden = HIDDEN.has(name.toLowerCase().replace(/[^a-z]/g, ''));
  judged.set(name, hidden);
  return hidden;
};

const redact = (value: unknown, depth: number): unknown => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[deeper]';
  if (isNativeError(value)) return redactError(value, depth);
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return '[binary]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth - 1));
  return redactFields(Object.entries(value), depth);
};

/** The fields as plain data, without what must not be logged: they can be handed to another thread. */
export const plainFields = (fields: object): object => redact(fields, DEEPEST) as object;

const redactFields = (entries: readonly [string, unknown][], depth: number): Record<string, unknown> =>
  Object.fromEntries(
    entries.map(([name, value]) => [name, isHidden(name) ? REDACTED : redact(value, depth - 1)]),
  );

const redactError = (error: Error, depth: number): Record<string, unknown> => ({
  type: error.name,
  message: error.message,
  stack: error.stack,
  ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth - 1) }),
  // Of each address that was tried, where a name has several: the error over them says nothing itself.
  ...(error instanceof AggregateError ? { errors: redact(error.errors, depth - 1) } : {}),
  ...redactFields(Object.entries(error), depth),
});
