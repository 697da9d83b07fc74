import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Whatever JSON holds. */
type Json = ReturnType<typeof JSON.parse>;
type Node = Record<string, Json>;

interface ObservedResponse {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const DOCUMENT = 'served';

/** What clients act upon; the others belong to transport and browsers. */
const OF_THE_INTERFACE =
  /^(x-svc-|x-ratelimit-|x-request-id|idempotent-|retry-after|www-authenticate|allow$)/;

/** By the document's text: most worlds serve the same one, and its validators are dear to compile. */
const known = new Map<string, ServedDescription>();

/** Checks responses against the description that the service serves, with a validator that shares nothing with the service's own. */
export class ServedDescription {
  readonly document: Node;
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<string, ValidateFunction>();
  /** Fixed paths before those with parameters. */
  readonly #templates: readonly (readonly [template: string, matcher: RegExp])[];

  static of(text: string): ServedDescription {
    const description = known.get(text) ?? new ServedDescription(JSON.parse(text) as Node);
    known.set(text, description);
    return description;
  }

  constructor(document: Node) {
    this.document = document;
    this.#templates = Object.keys(document['paths'])
      .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
      .map((template) => [
        template,
        new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      ]);
    // The linter holds the schemas themselves right; to compile the schema of schemas would cost every suite more than its answers.
    this.#ajv = new Ajv2020({ strict: false, multipleOfPrecision: 4, validateSchema: false });
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addSchema(document, DOCUMENT, undefined, false);
  }

  /** The published operation of a request; undefined when there is none. */
  operation(
    method: string,
    path: string,
  ): { readonly template: string; readonly definition: Node } | undefined {
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
    // A fixed path without the method leaves the request to a path with parameters that has it.
    const [template] =
      this.#templates.find(
        ([candidate, matcher]) => this.document['paths'][candidate][wanted] && matcher.test(path),
      ) ?? [];
    return template === undefined
      ? undefined
      : { template, definition: this.document['paths'][template][wanted] };
  }

  /** Everything that the response has and the description has not, or the other way round. */
  discrepancies(response: ObservedResponse): readonly string[] {
    const pointer = this.#responsePointer(response);
    if (pointer === undefined)
      return [`status ${response.status} of ${response.method} ${response.path} is not described`];
    const described = this.#at(pointer);
    return [
      ...this.#headerDiscrepancies(response, described),
      ...this.#bodyDiscrepancies(response, described, pointer),
    ];
  }

  #responsePointer({ method, path, status }: ObservedResponse): readonly string[] | undefined {
    const operation = this.operation(method, path);
    if (status === 405) return ['components', 'responses', 'MethodNotAllowed'];
    if (operation === undefined) return status === 404 ? ['components', 'responses', 'NotFound'] : undefined;
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
    const response = operation.definition['responses'][String(status)];
    if (response === undefined) return undefined;
    if (response.$ref) return response.$ref.slice(2).split('/');
    return ['paths', operation.template, wanted, 'responses', String(status)];
  }

  #at(pointer: readonly string[]): Node {
    return pointer.reduce<Node>((node, segment) => node[segment], this.document);
  }

  #headerDiscrepancies({ headers }: ObservedResponse, described: Node): readonly string[] {
    const known = Object.keys(described['headers'] ?? {}).map((name) => name.toLowerCase());
    const unknown = [...headers.keys()].filter(
      (name) => OF_THE_INTERFACE.test(name) && !known.includes(name),
    );
    const wrong = Object.entries<Node>(described['headers'] ?? {}).flatMap(([name, header]) => {
      const definition = header['$ref'] ? this.#at(header['$ref'].slice(2).split('/')) : header;
      const value = headers.get(name);
      if (value === null) return definition['required'] ? [`header ${name} is missing`] : [];
      const typed = definition['schema'].type === 'integer' ? Number(value) : value;
      return this.#ajv.validate(definition['schema'], typed)
        ? []
        : [`header ${name}: ${value} ${this.#ajv.errorsText()}`];
    });
    return [...unknown.map((name) => `header ${name} is not described`), ...wrong];
  }

  #bodyDiscrepancies(
    { method, headers, text }: ObservedResponse,
    described: Node,
    pointer: readonly string[],
  ) {
    const content: Node | undefined = described['content'];
    if (content === undefined)
      return text === '' ? [] : [`a body that is not described: ${text.slice(0, 100)}`];
    const mediaType = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (!(mediaType in content)) return [`content type ${mediaType} is not described`];
    if (method === 'HEAD') return text === '' ? [] : ['HEAD has a body'];
    const validate = this.#validator([...pointer, 'content', mediaType, 'schema']);
    const value: unknown = mediaType === 'application/json' ? JSON.parse(text) : text;
    return validate(value) ? [] : [`body: ${this.#ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`];
  }

  #validator(pointer: readonly string[]): ValidateFunction {
    const fragment = pointer
      .map((segment) => encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const known = this.#compiled.get(fragment);
    if (known) return known;
    const validate = this.#ajv.compile({ $ref: `${DOCUMENT}#/${fragment}` });
    this.#compiled.set(fragment, validate);
    return validate;
  }

  /** Validates a value against a schema inside of the description. */
  schemaErrors(pointer: readonly string[], value: unknown): string | undefined {
    const validate = this.#validator(pointer);
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors);
  }
}
