import type { IHeaders, KafkaMessage } from 'kafkajs';

/** A message as it was found on a topic. */
export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Thrown by the handler of a consumer for a record that can never be handled; it goes to the dead letters. */
export class RefusedRecordError extends Error {
  override readonly name = 'RefusedRecordError';
  readonly offset: number;
  constructor(offset: number, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.offset = offset;
  }
}

/** A header that occurs several times counts with its last value. */
const headersOf = (headers: IHeaders = {}): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return [name, last?.toString()];
    }),
  );

export const recordOf = (topic: string, partition: number, message: KafkaMessage): KafkaRecord => ({
  topic,
  partition,
  offset: Number(message.offset),
  key: message.key,
  value: message.value,
  headers: headersOf(message.headers),
});

const strictText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws RefusedRecordError when the value is missing or no UTF-8 */
export const textOf = ({ value, offset }: KafkaRecord): string => {
  if (value === null) throw new RefusedRecordError(offset, 'the message has no value');
  try {
    return strictText.decode(value);
  } catch (error) {
    throw new RefusedRecordError(offset, 'the value is not UTF-8', { cause: error });
  }
};
