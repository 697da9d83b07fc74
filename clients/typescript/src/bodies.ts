import { randomUUID } from 'node:crypto';

/**
 * The JSON of what is sent.
 * @throws TypeError for a number that JSON does not have: it would become null, and a value that was meant as one that was left out
 */
export const jsonOf = (data: object): string =>
  JSON.stringify(data, (name, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new TypeError(`${name} is ${value}, which is no number that can be sent`);
    }
    return value;
  });

/** A file to upload, under the name that its document has as `value`. */
export interface UploadedFile {
  readonly name: string;
  readonly content: Blob | Uint8Array | string;
}

const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

const typeOf = (name: string): string =>
  TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';

/** A form with the data as JSON in a part of its own, and each file in a part `files`. */
export const formOf = (part: string, data: object, files: readonly UploadedFile[]): FormData => {
  const form = new FormData();
  form.set(part, jsonOf(data));
  for (const { name, content } of files) {
    const blob = content instanceof Blob ? content : new Blob([content], { type: typeOf(name) });
    form.append('files', blob, name);
  }
  return form;
};

/** A request whose key may be left out. */
export type Keyed<Body, Key extends keyof Body> = Omit<Body, Key> & {
  [Name in Key]?: Body[Name] | undefined;
};

/** Fields by which the service knows a request again. */
type KeyField = 'idempotency_key' | 'decision_id';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What stands for the request: an installment is settled once and an operation leaves once, so their keys follow from what they are
 * about, and a program that is started again finds what it did. Two equal prepayments can both be meant: theirs is one of chance.
 * No operation has a slash in its code: where an installment has a hyphen in its own, a slash keeps `A-1` and `2` from `A` and `1-2`.
 */
const keyFor = ({ originator_proposal_code: code, installment_code, reason }: Fields): string => {
  const about = installment_code ?? reason;
  if (typeof code !== 'string' || typeof about !== 'string') return randomUUID();
  return about.includes('-') ? `${code}/${about}` : `${code}-${about}`;
};

/** The same body with a key, its own one if it has one. It is made once, before the first attempt. */
export const withKey = <Body extends object>(body: Body, field: KeyField): Body => {
  const given = (body as Fields)[field];
  if (given !== undefined && given !== null) return body;
  return { ...body, [field]: field === 'decision_id' ? randomUUID() : keyFor(body as Fields) };
};
