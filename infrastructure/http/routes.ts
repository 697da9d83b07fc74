import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { HttpProblem } from './errors/http-problem.ts';
import type { Operation } from './operation.ts';

type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** A fixed path wins over a path with parameters. */
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
  throw new HttpProblem('not_found', 'nothing is served at this path');
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
