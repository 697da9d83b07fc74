import express from 'express';
import type { ErrorRequestHandler, Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { HttpProblem } from '../errors/http-problem.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Operation } from '../operation.ts';

type Methods = ReadonlyMap<string, Operation>;

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

const byPath = (operations: readonly Operation[]): ReadonlyMap<string, Methods> => {
  const paths = new Map<string, Map<string, Operation>>();
  for (const operation of operations) {
    const methods = paths.get(operation.path) ?? new Map<string, Operation>();
    methods.set(operation.method, operation);
    if (operation.method === 'GET') methods.set('HEAD', operation);
    paths.set(operation.path, methods);
  }
  return paths;
};

/** A fixed path wins over a path with parameters. */
const fixedFirst = (a: string, b: string): number => Number(a.includes('{')) - Number(b.includes('{'));

/** Methods of paths with parameters that this fixed path is an instance of: `/loan/files` is also an operation's address. */
const methodsBehind = (path: string, paths: ReadonlyMap<string, Methods>): ReadonlySet<string> => {
  if (path.includes('{')) return new Set();
  const behind = [...paths].filter(
    ([other]) => other !== path && new RegExp(`^${other.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return new Set(behind.flatMap(([, methods]) => [...methods.keys()]));
};

const answer = (
  methods: Methods,
  behind: ReadonlySet<string>,
  dispatcher: Dispatcher,
): ((req: Request, res: Response, next: NextFunction) => Promise<void> | void) => {
  const allow = [...new Set([...methods.keys(), ...behind, 'OPTIONS'])].sort().join(', ');
  return (req, res, next) => {
    const operation = methods.get(req.method);
    if (operation !== undefined) return dispatcher.dispatch(operation, req, res);
    if (behind.has(req.method)) return next();
    if (req.method === 'OPTIONS') return dispatcher.allow(req, res, allow);
    const message = `this path has no ${req.method}; it has ${allow}`;
    return dispatcher.refuse(req, res, new HttpProblem('method_not_allowed', message, [], ['Allow', allow]));
  };
};

/** Where tokens and the keys that sign them are, below the address of authentication. */
const BELOW_AUTH_URL = ['/token', '/.well-known/jwks.json'];

/** Serves them below a path, too: a proxy in front may or may not have taken it off. */
const withoutPrefix = (authPath: string): RequestHandler => {
  const plain = new Map(BELOW_AUTH_URL.map((path) => [authPath + path, path]));
  return (req, _res, next) => {
    const [path = '', ...query] = req.url.split('?');
    const found = plain.get(path);
    if (found !== undefined) req.url = [found, ...query].join('?');
    next();
  };
};

/** The Express application: one route a path, each of which knows its methods. */
export const routed = (operations: readonly Operation[], dispatcher: Dispatcher, authPath = ''): Express => {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  if (authPath !== '') app.use(withoutPrefix(authPath));
  const paths = byPath(operations);
  for (const path of [...paths.keys()].sort(fixedFirst)) {
    const methods = paths.get(path) ?? new Map<string, Operation>();
    app.route(expressPath(path)).all(answer(methods, methodsBehind(path, paths), dispatcher));
  }
  app.use((req: Request, res: Response) =>
    dispatcher.refuse(req, res, new HttpProblem('not_found', 'nothing is served at this path')),
  );
  const onError: ErrorRequestHandler = (error: unknown, req, res, _next) =>
    dispatcher.refuse(req, res, error);
  app.use(onError);
  return app;
};
