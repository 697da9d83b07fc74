import { comment, componentOf, referredTo, typeOf } from './types.ts';
import type { Schema, Schemas } from './types.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** As much of an operation object as a method follows from. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
  readonly 'x-idempotent'?: boolean;
}

export interface Description {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface Route {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** What a method takes as its body: the type, how it is sent, and by which field the service knows it again. */
interface Body {
  readonly type: string;
  /** Of the request that is handed to the transport. */
  readonly sent: string;
  readonly files: boolean;
  readonly quoted: boolean;
  readonly keyed: boolean;
}

const KEYS = ['idempotency_key', 'decision_id'];
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Writes the methods of the client. */
export class Methods {
  readonly #description: Description;
  readonly #queries: string[] = [];

  constructor(description: Description) {
    this.#description = description;
  }

  /** The types of queries, which the methods that were written before ask for. */
  get queries(): string {
    return this.#queries.join('\n');
  }

  of({ path, method, operation }: Route): string {
    const parameters = (operation.parameters ?? []).map(
      ({ $ref }) => this.#description.components.parameters[componentOf($ref)]!,
    );
    const own = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
    const query = this.#queryOf(
      operation,
      parameters.filter((one) => one.in === 'query'),
    );
    const bodies = this.#bodiesOf(operation);
    const methods = (bodies.length === 0 ? [undefined] : bodies).map((body, index) => {
      const name = index === 0 ? operation.operationId : `${operation.operationId}WithFiles`;
      return this.#method(name, { path, method, operation }, { own, query, body });
    });
    return [...methods, ...this.#iterators(operation, own, query)].join('\n');
  }

  #schema(reference: string | undefined): Schema {
    return this.#description.components.schemas[componentOf(reference ?? '')] ?? {};
  }

  #queryOf({ operationId }: Operation, parameters: readonly Parameter[]): string | undefined {
    if (parameters.length === 0) return undefined;
    const name = `${capital(operationId)}Query`;
    const members = parameters.map(
      (one) =>
        `${comment(one.description, '  ')}  readonly ${one.name}?: ${this.#queryType(one.schema)} | null | undefined;\n`,
    );
    this.#queries.push(`export interface ${name} {\n${members.join('')}}\n`);
    return name;
  }

  #queryType(schema: Schema): string {
    const type = typeOf(schema);
    return schema.type === 'array' ? `readonly ${type}` : type;
  }

  #bodiesOf({ requestBody }: Operation): readonly Body[] {
    const json = requestBody?.content[JSON_TYPE]?.schema.$ref;
    const form = requestBody?.content[FORM_TYPE]?.schema;
    return [...(json === undefined ? [] : [this.#jsonBody(json)]), ...(form ? [this.#formBody(form)] : [])];
  }

  /** The part that is asked for carries the data. */
  #formBody({ required = [], properties = {} }: Schema): Body {
    const part = required[0]!;
    const data = properties[part]!.$ref!;
    return {
      ...{ type: referredTo(data), sent: `form: { part: '${part}', data: body, files }` },
      ...{ files: true, keyed: false, quoted: 'dry_run' in (this.#schema(data).properties ?? {}) },
    };
  }

  #jsonBody(reference: string): Body {
    const { properties = {} } = this.#schema(reference);
    const plain = { type: referredTo(reference), files: false, quoted: 'dry_run' in properties };
    const key = KEYS.find((one) => one in properties);
    if (key !== undefined) {
      const type = `Keyed<${plain.type}, '${key}'>`;
      return { ...plain, type, sent: `json: withKey(body, '${key}')`, keyed: true };
    }
    for (const [list, { items }] of Object.entries(properties)) {
      const lineKey = KEYS.find((one) => one in (this.#schema(items?.$ref).properties ?? {}));
      if (items?.$ref === undefined || lineKey === undefined) continue;
      const line = `Keyed<${referredTo(items.$ref)}, '${lineKey}'>`;
      const type = `Omit<${plain.type}, '${list}'> & { ${list}: readonly ${line}[] }`;
      const sent = `json: { ...body, ${list}: body.${list}.map((one) => withKey(one, '${lineKey}')) }`;
      return { ...plain, type, sent, keyed: true };
    }
    return { ...plain, sent: 'json: body', keyed: false };
  }

  /** The types of an answer: with what a `dry_run` answers beside it, where there is that. */
  #answersOf({ responses }: Operation): {
    readonly real: string;
    readonly quote: string;
    readonly bytes: boolean;
  } {
    const contents = Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([, { content = {} }]) => Object.entries(content));
    if (contents.some(([type]) => type !== JSON_TYPE)) return { real: 'Uint8Array', quote: '', bytes: true };
    const references = contents.flatMap(([, { schema }]) => {
      const several = this.#schema(schema.$ref).oneOf;
      return (several ?? [schema]).map(({ $ref }) => $ref ?? '');
    });
    const isQuote = (reference: string): boolean => 'dry_run' in (this.#schema(reference).properties ?? {});
    const named = (list: readonly string[]): string => list.map(referredTo).join(' | ') || 'void';
    return {
      real: named(references.filter((one) => !isQuote(one))),
      quote: named(references.filter(isQuote)),
      bytes: false,
    };
  }

  #method(
    name: string,
    { path, method, operation }: Route,
    { own, query, body }: { own: readonly string[]; query: string | undefined; body: Body | undefined },
  ): string {
    const { real, quote, bytes } = this.#answersOf(operation);
    const takes = (type: string | undefined, files: string): string =>
      [
        ...own.map((one) => `${one}: string`),
        ...(type === undefined ? [] : [`body: ${type}`]),
        ...(body?.files ? [files] : []),
        ...(query === undefined ? [] : [`query: ${query} = {}`]),
        'options?: CallOptions',
      ].join(', ');
    const documented = comment(`${operation.summary}. ${operation.description}`, '  ');
    const FILES = 'files: readonly UploadedFile[]';
    const asks = comment(`${operation.summary}: what would happen. Nothing is done.`, '  ');
    const overloads = body?.quoted
      ? `${documented}  ${name}(${takes(`Meant<${body.type}>`, FILES)}): Promise<${real}>;\n` +
        `${asks}  ${name}(${takes(`Asked<${body.type}>`, 'files?: readonly UploadedFile[]')}): Promise<${quote}>;\n` +
        `  ${name}(${takes(body.type, FILES)}): Promise<${real} | ${quote}>;\n`
      : documented;
    const answer = body?.quoted ? `${real} | ${quote}` : real;
    const filled = own.length === 0 ? `'${path}'` : `pathOf('${path}', { ${own.join(', ')} })`;
    const request = [
      `operation: '${operation.operationId}'`,
      `method: '${method.toUpperCase()}'`,
      `path: ${filled}`,
      `idempotent: ${operation['x-idempotent'] === true || body?.keyed === true}`,
      ...(query === undefined ? [] : ['query: { ...query }']),
      ...(body ? [body.sent] : []),
      ...(bytes ? ['bytes: true'] : []),
    ].join(', ');
    return (
      `${overloads}  async ${name}(${takes(body?.type, `${FILES} = []`)}): Promise<${answer}> {\n` +
      `    return (await this.#transport.call({ ${request} }, options)) as ${answer};\n  }\n`
    );
  }

  /** What walks through the pages of a list: `allLoans` of `listLoans`; of the feed, `followEvents` as well. */
  #iterators(operation: Operation, own: readonly string[], query: string | undefined): readonly string[] {
    const { operationId, summary } = operation;
    const page = this.#schema(operation.responses['200']?.content?.[JSON_TYPE]?.schema.$ref).properties ?? {};
    const entry = page['data']?.items;
    if (!operationId.startsWith('list') || query === undefined || !entry) return [];
    const plural = operationId.slice('list'.length);
    const values = own.map((one) => `${one}, `).join('');
    const takes = [...own.map((one) => `${one}: string`), `query: ${query} = {}`].join(', ');
    const returns = `AsyncGenerator<${typeOf(entry)}, void, undefined>`;
    const read = (name: string): string =>
      `(${name}) => this.${operationId}(${values}{ ...query, ${name} }, options)`;
    if ('next_cursor' in page) {
      return [
        `${comment(`${summary}: every one, page after page.`, '  ')}  all${plural}(${takes}, options?: CallOptions): ${returns} {\n` +
          `    return throughPages(${read('cursor')}, query.cursor);\n  }\n`,
      ];
    }
    if (!('next_after' in page)) return [];
    return [
      `${comment(`${summary}: all up to now, page after page. Remember the \`event_id\` of the last one that you have handled; \`after\` goes on behind it.`, '  ')}` +
        `  all${plural}(${takes}, options?: CallOptions): ${returns} {\n    return throughFeed(${read('after')}, query.after);\n  }\n`,
      `${comment(`${summary}: all up to now, and then each as it comes, until \`signal\` ends it.`, '  ')}` +
        `  follow${plural}(${takes}, options: CallOptions & FollowOptions = {}): ${returns} {\n    return throughFeed(${read('after')}, query.after, options);\n  }\n`,
    ];
  }
}
