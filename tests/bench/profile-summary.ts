import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}
interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

const root = new URL('../../', import.meta.url).href;

type Frame = ProfileNode['callFrame'];

/** What V8 says of itself, such as `(garbage collector)`. */
const isOfV8 = ({ functionName }: Frame): boolean => functionName.startsWith('(');

/** A package, or a folder of ours; undefined for what belongs to Node.js, V8 and the measuring itself. */
const ownerIn = ({ url }: Frame): string | undefined => {
  const [, inPackage] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (inPackage !== undefined) return inPackage;
  return url.startsWith(root) ? url.slice(root.length).split('/').slice(0, 2).join('/') : undefined;
};

const NOT_COUNTED = new Set(['(idle)', 'node:inspector']);

/** Milliseconds by name, most first; without idling and what the measuring itself takes. */
const timesBy = (
  { nodes, samples, timeDeltas }: Profile,
  nameOf: (frames: readonly Frame[]) => string,
): readonly (readonly [name: string, ms: number])[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const framesOf = (id: number): readonly Frame[] => {
    const frames: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at))
      frames.push(byId.get(at)!.callFrame);
    return frames;
  };
  const names = new Map<number, string>();
  const times = new Map<string, number>();
  samples.forEach((id, i) => {
    const { functionName, url } = byId.get(id)!.callFrame;
    if (NOT_COUNTED.has(functionName) || NOT_COUNTED.has(url)) return;
    const name = names.get(id) ?? nameOf(framesOf(id));
    names.set(id, name);
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0) / 1_000);
  });
  return [...times].sort(([, a], [, b]) => b - a);
};

/** What Node.js and V8 do for a package or folder counts as its own; what none called is Node.js's: sockets, parsers, timers. */
const groupOf = ([own, ...callers]: readonly Frame[]): string => {
  if (own && isOfV8(own)) return own.functionName;
  for (const frame of [own!, ...callers]) {
    const owner = ownerIn(frame);
    if (owner !== undefined) return owner;
  }
  return 'Node.js';
};

const functionOf = ([own]: readonly Frame[]): string => {
  const { functionName, url, lineNumber } = own!;
  const place = url.replace(root, '').replace(/.*node_modules\//, '');
  return `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`;
};

/**
 * Where the time of a profile went: by package and folder with what they call of Node.js, then the functions that took most themselves.
 * `of`: how many things were done meanwhile, for the time that each took.
 */
export const summaryOf = (path: string, { groups = 20, functions = 12, of = 0 } = {}): string => {
  const profile = JSON.parse(readFileSync(path, 'utf8')) as Profile;
  const all = timesBy(profile, groupOf);
  const total = all.reduce((sum, [, ms]) => sum + ms, 0);
  const each = (ms: number): string =>
    of > 0 ? `${((ms * 1_000) / of).toFixed(2).padStart(6)} us each  ` : '';
  const line = ([name, ms]: readonly [string, number]): string =>
    `  ${((ms / total) * 100).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${each(ms)}${name}`;
  const byFunction = timesBy(profile, functionOf);
  return [
    ...all.slice(0, groups).map(line),
    '  -- functions',
    ...byFunction.slice(0, functions).map(line),
  ].join('\n');
};

/** For a process whose threads' profiles are to lie in `directory`. */
export const profiling = (directory: string): { readonly NODE_OPTIONS: string } => ({
  NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${directory}`,
});

/** Prints the profiles that lie in `directory`, the largest first. */
export const printProfiles = (directory: string, of: number): void => {
  const files = readdirSync(directory).map((name) => join(directory, name));
  for (const file of files.toSorted((a, b) => statSync(b).size - statSync(a).size))
    console.log(`\none thread\n${summaryOf(file, { functions: 24, of })}`);
};
