import { smallPdf } from '../../support/api-client.ts';
import type { Random } from '../../support/random.ts';
import { Samples } from './samples.ts';
import { brokenText, hostileValue, mutated } from './values.ts';

type Json = ReturnType<typeof JSON.parse>;

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

/** What exists in the service, so that not every request ends at the first 404. */
export interface Known {
  readonly token: string;
  readonly fund: string;
  readonly codes: string[];
  readonly webhooks: string[];
  readonly events: string[];
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly definition: Json;
}

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
const ODD_PATHS = [
  '/',
  '//',
  '/loan//',
  '/loan/%zz',
  '/loan/%00',
  '/webhook/%2F',
  '/nothing',
  '/docs/..%2f',
  '/%',
];
const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['accept', 'text/html'],
  ['accept', ';;;'],
  ['accept', 'application/json;q=0'],
  ['content-type', 'text/plain'],
  ['content-type', 'application/json; charset=utf-16'],
  ['content-type', 'multipart/form-data'],
  ['content-type', '/'],
  ['content-encoding', 'gzip'],
  ['authorization', 'Bearer'],
  ['authorization', 'Basic eDp5'],
  ['authorization', 'Bearer a.b.c'],
  ['x-forwarded-for', '1.2.3.4, ::1'],
  ['if-none-match', '*'],
  ['range', 'bytes=0-1'],
  ['expect', '100-continue'],
  ['x-http-method-override', 'DELETE'],
  ['accept-encoding', 'gzip;q=x'],
];

export class RequestMaker {
  readonly #random: Random;
  readonly #known: Known;
  readonly #samples: Samples;
  readonly #operations: readonly Operation[];
  #counter = 0;

  constructor(document: Json, known: Known, random: Random) {
    this.#random = random;
    this.#known = known;
    this.#samples = new Samples(document, random);
    this.#operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.entries<Json>(item).map(([method, definition]) => ({
        method: method.toUpperCase(),
        path,
        definition,
      })),
    );
  }

  next(): FuzzRequest {
    const random = this.#random;
    const operation = random.pick(this.#operations);
    const { headers, body } = this.#body(operation.definition);
    if (operation.path !== '/token') headers['authorization'] = `Bearer ${this.#known.token}`;
    if (random.chance(0.08)) {
      const [name, value] = random.pick(ODD_HEADERS);
      headers[name] = value;
    }
    if (random.chance(0.03)) delete headers['authorization'];
    const path = random.chance(0.02) ? random.pick(ODD_PATHS) : this.#path(operation);
    const method = random.chance(0.03) ? random.pick(METHODS) : operation.method;
    return { method, path, headers, body };
  }

  #path({ path, definition }: Operation): string {
    const segment = (name: string): string => {
      if (this.#random.chance(0.2))
        return encodeURIComponent(textOf(hostileValue(this.#random)).toWellFormed()) || 'x';
      return encodeURIComponent(this.#valueFor(name));
    };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name));
    return filled + this.#query(definition);
  }

  #valueFor(name: string): string {
    const { codes, webhooks, events } = this.#known;
    if (name === 'originator_proposal_code') return this.#random.pick(codes);
    if (name === 'webhook_id') return this.#random.pick(webhooks);
    if (name === 'event_id') return this.#random.pick(events);
    return 'start.js';
  }

  #query(definition: Json): string {
    const random = this.#random;
    const query = new URLSearchParams();
    for (const parameter of (definition.parameters ?? []).map((one: Json) => this.#samples.resolve(one))) {
      if (parameter.in !== 'query' || random.chance(0.5)) continue;
      const value = random.chance(0.6) ? this.#samples.of(parameter.schema) : textOf(hostileValue(random));
      query.append(parameter.name, String(value));
      if (random.chance(0.05)) query.append(parameter.name, 'twice');
    }
    if (random.chance(0.05)) query.append(random.pick(['extra', '', '__proto__', 'limit[]']), 'x');
    return query.size === 0 ? '' : `?${query.toString()}`;
  }

  #body(definition: Json): { headers: Record<string, string>; body: Buffer | undefined } {
    const random = this.#random;
    const contents = Object.entries<Json>(definition.requestBody?.content ?? {});
    if (contents.length === 0)
      return { headers: {}, body: random.chance(0.05) ? Buffer.from('{}') : undefined };
    const [mediaType, content] = random.pick(contents);
    if (mediaType === 'application/x-www-form-urlencoded') {
      const fields = Object.entries(Object(this.#changed(content.example)) as object);
      const form = new URLSearchParams(
        fields.map(([name, value]): [string, string] => [name, textOf(value)]),
      );
      return { headers: { 'content-type': mediaType }, body: Buffer.from(form.toString()) };
    }
    if (mediaType === 'application/json') {
      const value = this.#changed(this.#valid(content.example, content.schema));
      return { headers: { 'content-type': mediaType }, body: this.#text(value) };
    }
    return this.#multipart(content);
  }

  /** A body that may well be accepted, about operations that exist. */
  #valid(example: Json, schema: Json): Json {
    const random = this.#random;
    const value = random.chance(0.2) ? this.#samples.of(schema) : structuredClone(example);
    if (typeof value !== 'object' || value === null) return value;
    this.#counter += 1;
    const { fund, codes } = this.#known;
    const unused = `FUZZ-${this.#counter}`;
    const replace = (name: string, by: () => Json): void => {
      if (value[name] !== undefined) value[name] = by();
    };
    replace('originator_proposal_code', () =>
      value.fund_id && random.chance(0.8) ? unused : random.pick(codes),
    );
    replace('fund_id', () => fund);
    replace('original_proposal_code', () => random.pick(codes));
    replace('original_proposal_codes', () => [random.pick(codes)]);
    replace('new_proposal', () => ({ ...value.new_proposal, originator_proposal_code: unused }));
    replace('new_loan', () => ({ ...value.new_loan, originator_proposal_code: unused }));
    if (random.chance(0.8)) replace('idempotency_key', () => `key-${this.#counter}`);
    return value;
  }

  #changed(value: Json): Json {
    let changed = value;
    for (let i = this.#random.below(4); i > 0; i -= 1) changed = mutated(changed, this.#random);
    return changed;
  }

  #text(value: Json): Buffer {
    const text = JSON.stringify(value) ?? '';
    if (this.#random.chance(0.03)) return Buffer.from(`${text}\xff\xfe`, 'latin1');
    return Buffer.from(this.#random.chance(0.08) ? brokenText(text, this.#random) : text);
  }

  #multipart(content: Json): { headers: Record<string, string>; body: Buffer } {
    const random = this.#random;
    const part = Object.keys(content.example).find((name) => name !== 'files') ?? 'data';
    const schema = this.#samples.resolve(content.schema).properties[part];
    const data = this.#changed(this.#valid(content.example[part], schema));
    const files = this.#fileNames(data);
    const boundary = random.chance(0.02) ? 'other' : 'fuzz';
    const chunks: Buffer[] = random.chance(0.03)
      ? []
      : [head(random.chance(0.97) ? part : 'other'), this.#text(data)];
    for (const name of files) {
      const text = random.chance(0.9)
        ? smallPdf()
        : Buffer.from(random.pick(['', 'not a pdf', '%PDF-', 'PK\u0003\u0004']));
      chunks.push(head(random.chance(0.98) ? 'files' : 'file', name), Buffer.from(text));
    }
    if (random.chance(0.98)) chunks.push(Buffer.from('\r\n--fuzz--\r\n'));
    const body = Buffer.concat(chunks);
    return {
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: random.chance(0.03) ? body.subarray(0, random.below(body.length + 1)) : body,
    };
  }

  /** Those that the data names, sometimes one less or one more. */
  #fileNames(data: Json): string[] {
    const random = this.#random;
    const documents: Json = [
      data?.backing_documents,
      data?.documents,
      data?.new_loan?.backing_documents,
    ].find(Array.isArray);
    const names = (documents ?? []).slice(0, 25).map((one: Json) => textOf(one?.value));
    const files = names.filter(() => random.chance(0.95));
    if (random.chance(0.05)) files.push(random.pick(['extra.pdf', '../x.pdf', '', 'a"b.pdf', 'é.pdf']));
    return files;
  }
}

const textOf = (value: Json): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 2_000);

const head = (name: string, file?: string): Buffer => {
  const safe = file?.replaceAll(/["\r\n]/g, (character) => encodeURIComponent(character));
  const fileName = safe === undefined ? '' : `; filename="${safe}"`;
  const type = file === undefined ? '' : '\r\nContent-Type: application/pdf';
  return Buffer.from(
    `\r\n--fuzz\r\nContent-Disposition: form-data; name="${name}"${fileName}${type}\r\n\r\n`,
  );
};
