import type { IncomingMessage } from 'node:http';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { HttpProblem } from './errors/http-problem.ts';
import type { Operation, Serving, BodyKind, JsonKind } from './operation.ts';
import { REQUEST_BYTES } from './bodies/form-stream.ts';
import { limitOf } from './openapi/operation.ts';
import type { BodyContent, Environment, OpenApiDocument, OperationSpec } from './openapi/operation.ts';
import { operationsIn } from './resources/endpoints.ts';
import { headerReader, queryReader } from './requests/parameters.ts';
import { DocumentValidators } from '../../application/schemas/document-validators.ts';
import { recogniser } from '../../application/schemas/recogniser.ts';
import type { Component } from '../../application/schemas/schema.ts';
import { MIB } from '../../application/support/sized-cache.ts';

/** A host with its port and without user information (RFC 3986, section 3.2). */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d{0,5})?$/i;
/** A fragment stays with the client. */
const ORIGIN = /^\/[^#]*$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)((?:[/?][^#]*)?)$/i;

/** Fields that a request has once: programs in front of this one and behind may each take another of two (RFC 9110, section 5.3). */
const SINGLE: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type', 'content-length']);
const LENGTHS: ReadonlySet<number> = new Set([...SINGLE].map((name) => name.length));

const isAuthority = (text: string): boolean => AUTHORITY.test(text) && URL.canParse(`http://${text}`);

const invalid = (message: string): HttpProblem => new HttpProblem('invalid_request', message);

const repeatedField = ({ rawHeaders }: IncomingMessage): string | undefined => {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!LENGTHS.has(name.length)) continue;
    const known = name.toLowerCase();
    if (seen.has(known)) return name;
    if (SINGLE.has(known)) seen.add(known);
  }
  return undefined;
};

const hostRefusal = ({ headers: { host }, httpVersionMinor }: IncomingMessage): HttpProblem | undefined => {
  if (host === undefined) return httpVersionMinor === 0 ? undefined : invalid('the header Host is missing');
  return isAuthority(host) ? undefined : invalid('the header Host names no host');
};

/** Path and query of the target; undefined when it is not one (RFC 9112, section 3.2). */
const originFormOf = ({ url = '', method }: IncomingMessage): string | undefined => {
  if (ORIGIN.test(url) || (url === '*' && method === 'OPTIONS')) return url;
  const [, authority = '', rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (!isAuthority(authority)) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
};

/**
 * Looks at what a request addresses before anything else does, and leaves path and query in `url`, in whichever form they came.
 * @returns the refusal of a request whose address is not well formed
 */
export const readTarget = (req: IncomingMessage): HttpProblem | undefined => {
  if (req.httpVersionMajor !== 1) return invalid('send the request in HTTP/1.1 or HTTP/1.0');
  const repeated = repeatedField(req);
  if (repeated !== undefined) return invalid(`the header ${repeated} came more than once`);
  const refusal = hostRefusal(req);
  if (refusal) return refusal;
  const target = originFormOf(req);
  if (target === undefined) return invalid('the target of the request is neither a path nor an address');
  req.url = target;
  return undefined;
};

type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

const fixedFirst = (a: string, b: string): number => Number(a.includes('{')) - Number(b.includes('{'));

const methodsOf = (operations: readonly Operation[]): readonly string[] =>
  operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/** Methods of paths with parameters that this fixed path is an instance of: `/loan/files` is also an operation's address. */
const methodsBehind = (path: string, operations: readonly Operation[]): ReadonlySet<string> => {
  if (path.includes('{')) return new Set();
  const isInstanceOf = (other: string): boolean =>
    other !== path && new RegExp(`^${other.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return new Set(methodsOf(operations.filter((operation) => isInstanceOf(operation.path))));
};

/** Registers one route a path, with the steps of each of its methods; `answerOptions` gets the methods that the path allows. */
export const registerRoutes = (
  app: Express,
  operations: readonly Operation[],
  steps: (operation: Operation) => RequestHandler[],
  answerOptions: (res: Response, allow: string) => Promise<void>,
): void => {
  const everywhere = [...new Set([...methodsOf(operations), 'OPTIONS'])].sort().join(', ');
  app.use((req, res, next) => (req.url === '*' ? answerOptions(res, everywhere) : next()));
  const paths = new Set(operations.map(({ path }) => path));
  for (const path of [...paths].sort(fixedFirst)) {
    const own = operations.filter((operation) => operation.path === path);
    const behind = methodsBehind(path, operations);
    const allow = [...new Set([...methodsOf(own), ...behind, 'OPTIONS'])].sort().join(', ');
    const route = app.route(expressPath(path));
    for (const operation of own) route[operation.method.toLowerCase() as Verb](...steps(operation));
    route.all((req: Request, res: Response, next: NextFunction) => {
      if (behind.has(req.method)) next();
      else if (req.method === 'OPTIONS') return answerOptions(res, allow);
      else {
        const message = `this path has no ${req.method}; it has ${allow}`;
        throw new HttpProblem('method_not_allowed', message, [], ['Allow', allow]);
      }
    });
  }
};

export const notFound: RequestHandler = () => {
  throw new HttpProblem('not_found', 'nothing is served at this path; GET /docs shows what there is');
};

/** Where tokens and the keys that sign them are, below the address of authentication. */
const BELOW_AUTH_URL = ['/token', '/.well-known/jwks.json'];

/** Serves them below a path, too: a proxy in front may or may not have taken it off. */
export const withoutPrefix = (prefix: string): RequestHandler => {
  const plain = new Map(BELOW_AUTH_URL.map((path) => [prefix + path, path]));
  return (req, _res, next) => {
    const [path = '', ...query] = req.url.split('?');
    const found = plain.get(path);
    if (found !== undefined) req.url = [found, ...query].join('?');
    next();
  };
};

const BODY = 'body';

const FILE_BYTES = { sandbox: 2 * MIB - 1, production: 10 * MIB } as const;

const jsonKind = (
  schema: Component,
  name: string,
  document: OpenApiDocument,
  validators: DocumentValidators,
): JsonKind => ({
  name,
  recognise: recogniser(document, schema.name),
  validate: validators.component(schema.name, name),
});

const bodyKind = (
  content: BodyContent,
  document: OpenApiDocument,
  validators: DocumentValidators,
  fileBytes: number,
): BodyKind => {
  const { mediaType, dataPart, schema } = content;
  const common = { mediaType, ...jsonKind(schema, dataPart ?? BODY, document, validators) };
  const dataBytes = limitOf(content);
  if (dataPart === undefined) return { ...common, limit: dataBytes };
  return { ...common, limit: REQUEST_BYTES, form: { fileBytes, dataBytes } };
};

const producedBy = (spec: OperationSpec): readonly string[] => {
  const described = spec.success.find(({ mediaType }) => mediaType !== undefined);
  return [described?.mediaType ?? 'application/json', ...(described?.otherMediaTypes ?? [])];
};

export const operationTable = (
  document: OpenApiDocument,
  serving: Serving,
  environment: Environment,
): readonly Operation[] => {
  const parameters = document.components['parameters'] ?? {};
  const validators = new DocumentValidators(document);
  return operationsIn(environment).map((spec): Operation => {
    const method = spec.method.toUpperCase();
    return {
      ...spec,
      method,
      endpoint: `${method} ${spec.path}`,
      bodies: (spec.body ?? []).map((content) =>
        bodyKind(content, document, validators, FILE_BYTES[environment]),
      ),
      lines: spec.lines && {
        ...spec.lines,
        kind: jsonKind(spec.lines.schema, BODY, document, validators),
      },
      readQuery: queryReader(spec, parameters, validators),
      readHeaders: headerReader(spec, parameters, validators),
      produces: producedBy(spec),
      run: spec.handler(serving),
    };
  });
};
