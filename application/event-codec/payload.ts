import type { PrivateName, PrivateText } from '../../domain/shared/private-text.ts';

/** A stored payload: plain JSON, snake_case, amounts as integer cents, dates and instants as ISO text. */
export type Payload = { readonly [field: string]: PayloadValue };
export type PayloadValue = string | number | boolean | null | Payload | readonly PayloadValue[] | undefined;

/** The stored text is not what its type promises: damaged, or written by a newer version. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError';
}

const refuse = (field: string, wanted: string, value: unknown): never => {
  throw new UnreadableEventError(`field ${field} should be ${wanted}, found ${typeof value}`);
};

/** Typed reads from a payload; each names the field that it could not find. */
export const text = <T extends string = string>(payload: Payload, field: string): T => {
  const value = payload[field];
  return typeof value === 'string' ? (value as T) : refuse(field, 'text', value);
};
export const integer = <T extends number = number>(payload: Payload, field: string): T => {
  const value = payload[field];
  return Number.isSafeInteger(value) ? (value as T) : refuse(field, 'an integer', value);
};
export const flag = (payload: Payload, field: string): boolean => {
  const value = payload[field];
  return typeof value === 'boolean' ? value : refuse(field, 'true or false', value);
};
export const list = <T>(payload: Payload, field: string, read: (item: Payload) => T): readonly T[] => {
  const value = payload[field];
  if (!Array.isArray(value)) return refuse(field, 'a list', value);
  return value.map((item) => read(item as Payload));
};
export const texts = <T extends string = string>(payload: Payload, field: string): readonly T[] => {
  const value = payload[field];
  if (!Array.isArray(value) || value.some((v) => typeof v !== 'string'))
    return refuse(field, 'a list of texts', value);
  return value as T[];
};
export const object = (payload: Payload, field: string): Payload => {
  const value = payload[field];
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Payload)
    : refuse(field, 'an object', value);
};
/** Plain text, as it was stored once, or an object with the sealed one. */
export const privateText = (payload: Payload, field: string): PrivateText =>
  typeof payload[field] === 'string' ? payload[field] : { sealed: text(object(payload, field), 'sealed') };
export const privateName = (payload: Payload, field: string): PrivateName => {
  if (typeof payload[field] === 'string') return payload[field];
  const p = object(payload, field);
  return { sealed: text(p, 'sealed'), digest: text(p, 'digest') };
};
export const encodePrivate = (value: PrivateName | PrivateText): PayloadValue =>
  typeof value === 'string' ? value : { ...value };

/** The field's reading when it is there, for spreading into an event. */
export const optional = <K extends string, T>(
  payload: Payload,
  field: string,
  name: K,
  read: (payload: Payload, field: string) => T,
): { readonly [P in K]?: T } =>
  payload[field] === undefined ? {} : ({ [name]: read(payload, field) } as { readonly [P in K]: T });
