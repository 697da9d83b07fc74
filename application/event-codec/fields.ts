import type { DomainEvent } from '../../domain/domain-event.ts';
import { LARGEST_AMOUNT } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { PrivateName, PrivateText, SealedName } from '../../domain/shared/private-text.ts';

/** A stored payload: plain JSON, snake_case, amounts as integer cents, dates and instants as ISO text. */
export type Payload = { readonly [field: string]: PayloadValue };
type PayloadValue = string | number | boolean | null | Payload | readonly PayloadValue[] | undefined;

/** What is stored is not what its type promises, or what it speaks of is not there: damaged, or written by a newer version. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError';
}

const refuse = (field: string, wanted: string, value: unknown): never => {
  throw new UnreadableEventError(`field ${field} should be ${wanted}, found ${typeof value}`);
};

interface Field<Value> {
  readonly name: string;
  encode(this: void, value: Value): PayloadValue;
  /** @throws UnreadableEventError naming the field */
  decode(this: void, value: PayloadValue): Value;
  readonly isOptional?: boolean;
}

interface OptionalField<Value> extends Field<Value> {
  readonly isOptional: true;
}

/** Fields by the names of the domain, in the order in which they are stored. */
type Fields<Value> = {
  readonly [Key in keyof Value]-?: object extends Pick<Value, Key>
    ? OptionalField<Exclude<Value[Key], undefined>>
    : Field<Value[Key]>;
};

export interface Shape<Value> {
  encode(this: void, value: Value): Payload;
  decode(this: void, payload: Payload): Value;
}

const asItIs = (value: unknown): PayloadValue => value as PayloadValue;

export const text = <T extends string>(name: string): Field<T> => ({
  name,
  encode: asItIs,
  decode: (value) => (typeof value === 'string' ? (value as T) : refuse(name, 'text', value)),
});

export const integer = <T extends number>(name: string): Field<T> => ({
  name,
  encode: asItIs,
  decode: (value) => (Number.isSafeInteger(value) ? (value as T) : refuse(name, 'an integer', value)),
});

/** Cents that a request can state. What is more was never stored by this service, and sums of it would be beyond what can be counted with. */
export const amount = (name: string): Field<Cents> => ({
  ...integer<Cents>(name),
  decode: (value) =>
    Number.isSafeInteger(value) && Math.abs(value as number) <= LARGEST_AMOUNT
      ? (value as Cents)
      : refuse(name, 'an amount', value),
});

export const flag = (name: string): Field<boolean> => ({
  name,
  encode: asItIs,
  decode: (value) => (typeof value === 'boolean' ? value : refuse(name, 'true or false', value)),
});

export const texts = <T extends string>(name: string): Field<readonly T[]> => ({
  name,
  encode: asItIs,
  decode: (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string')
      ? (value as readonly unknown[] as readonly T[])
      : refuse(name, 'a list of texts', value),
});

const payloadOf = (name: string, value: PayloadValue): Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Payload)
    : refuse(name, 'an object', value);

export const object = <T>(name: string, shape: Shape<T>): Field<T> => ({
  name,
  encode: shape.encode,
  decode: (value) => shape.decode(payloadOf(name, value)),
});

export const list = <T>(name: string, shape: Shape<T>): Field<readonly T[]> => ({
  name,
  encode: (items) => items.map(shape.encode),
  decode: (value) =>
    Array.isArray(value) ? value.map((item) => shape.decode(item as Payload)) : refuse(name, 'a list', value),
});

const sealed = text<SealedName['sealed']>('sealed');
const digest = text<SealedName['digest']>('digest');
const encodePrivate = (value: PrivateName | PrivateText): PayloadValue =>
  typeof value === 'string' ? value : { ...value };

/** Plain text, as it was stored once, or an object with the sealed one. */
export const privateText = (name: string): Field<PrivateText> => ({
  name,
  encode: encodePrivate,
  decode: (value) =>
    typeof value === 'string' ? value : { sealed: sealed.decode(payloadOf(name, value)['sealed']) },
});

export const privateName = (name: string): Field<PrivateName> => ({
  name,
  encode: encodePrivate,
  decode: (value) => {
    if (typeof value === 'string') return value;
    const payload = payloadOf(name, value);
    return { sealed: sealed.decode(payload['sealed']), digest: digest.decode(payload['digest']) };
  },
});

export const optional = <T>({ name, encode, decode }: Field<T>): OptionalField<T> => ({
  name,
  encode,
  decode,
  isOptional: true,
});

/** Fields as lists side by side: the loops over them run for every event that is written or read. */
interface Columns {
  readonly keys: readonly string[];
  readonly fields: readonly Field<unknown>[];
}

const columnsOf = (fields: object): Columns => ({
  keys: Object.keys(fields),
  fields: Object.values(fields) as readonly Field<unknown>[],
});

const encodeFields = ({ keys, fields }: Columns, value: Readonly<Record<string, unknown>>): Payload => {
  const payload: Record<string, PayloadValue> = {};
  for (let i = 0; i < keys.length; i += 1) {
    const part = value[keys[i]!];
    if (part !== undefined) payload[fields[i]!.name] = fields[i]!.encode(part);
  }
  return payload;
};

const decodeFields = ({ keys, fields }: Columns, payload: Payload, start: Record<string, unknown>) => {
  for (let i = 0; i < keys.length; i += 1) {
    const field = fields[i]!;
    const stored = payload[field.name];
    if (stored !== undefined || !field.isOptional) start[keys[i]!] = field.decode(stored);
  }
  return start;
};

export const shape = <T extends object>(fields: Fields<T>): Shape<T> => {
  const columns = columnsOf(fields);
  return {
    encode: (value) => encodeFields(columns, value as Readonly<Record<string, unknown>>),
    decode: (payload) => decodeFields(columns, payload, {}) as T,
  };
};

type EventOf<Type extends DomainEvent['type']> = Extract<DomainEvent, { type: Type }>;

/** How one domain event is stored. The stored type is the storage format's name: it never changes and is never reused. */
export interface EventEntry<Type extends DomainEvent['type']> extends Shape<EventOf<Type>> {
  readonly storedType: string;
}

/** One for each type: an event that lacks its entry does not compile. */
export type EntriesOf<Event extends DomainEvent> = { readonly [Type in Event['type']]: EventEntry<Type> };

export const entry = <Type extends DomainEvent['type']>(
  type: Type,
  storedType: string,
  fields: Fields<Omit<EventOf<Type>, 'type'>>,
): EventEntry<Type> => {
  const columns = columnsOf(fields);
  return {
    storedType,
    encode: (event) => encodeFields(columns, event as unknown as Readonly<Record<string, unknown>>),
    decode: (payload) => decodeFields(columns, payload, { type }) as unknown as EventOf<Type>,
  };
};
