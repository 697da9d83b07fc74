import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { liveAll } from '../lives/live.ts';
import { livesFrom } from '../lives/smallest.ts';
import { livesAtDesks } from '../lives/steps.ts';
import { World } from '../lives/world.ts';
import { documentedCode } from '../support/documented-receiver.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const folder = temporaryDirectory();
const [PROGRAM, EXPORT, ANCHOR, CHANGED] = [
  'verify-export.mjs',
  'export.jsonl',
  'anchor.jsonl',
  'changed.jsonl',
];
const inFolder = (file: string): string => join(folder, file);

interface Line {
  readonly stream?: string;
  readonly revision: number;
  readonly [member: string]: unknown;
}
let world: World;
let [exported, anchor, key]: [readonly string[], readonly string[], string] = [[], [], ''];

const linesIn = async (file: string): Promise<readonly string[]> =>
  (await readFile(inFolder(file), 'utf8')).trimEnd().split('\n');
const parsed = (line: string): Line => JSON.parse(line);

const verify = (files: readonly [string, string], trusted = key) =>
  new Promise<{ readonly code: number; readonly said: string }>((resolve) => {
    const args = [PROGRAM, ...files, trusted];
    execFile(process.execPath, args, { cwd: folder }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), said: out + err }),
    );
  });

beforeAll(async () => {
  world = await World.start();
  await liveAll(world, livesFrom(7, 4, livesAtDesks));
  for (const args of [
    ['verify', '--write-anchor', inFolder(ANCHOR)],
    ['export', '--output', inFolder(EXPORT)],
  ])
    expect(await world.auditCommand(...args)).toMatchObject({ code: 0, err: '' });
  [exported, anchor] = [await linesIn(EXPORT), await linesIn(ANCHOR)];
  key = String(parsed(anchor.at(-1)!)['public_key']);
  await writeFile(inFolder(PROGRAM), documentedCode('audit.md', PROGRAM));
}, 120_000);
afterAll(() => world?.stop());

/** Of a stream of several events: where those stand in the export. */
const longest = (): readonly number[] => {
  const places = Map.groupBy(
    exported.map((_, at) => at).filter((at) => parsed(exported[at]!).stream !== undefined),
    (at) => parsed(exported[at]!).stream,
  );
  return [...places.values()].reduce((most, one) => (one.length > most.length ? one : most));
};

test('the program of the documentation finds what the service exports whole, wherever it stands', async () => {
  const { code, said } = await verify([EXPORT, ANCHOR]);
  expect([code, said]).toEqual([
    0,
    expect.stringMatching(/^\d+ events in \d+ streams, \d+ of them anchored: as/),
  ]);
  expect(said).toContain(`${exported.length - 2} events in ${anchor.length - 2} streams`);
  expect((await stat(inFolder(EXPORT))).mode & 0o777).toBe(0o600);
  const { out } = await world.auditCommand('export');
  expect(out.split('\n').slice(1)).toEqual([...exported.slice(1), '']);
});

type Tampering = (lines: string[], places: readonly number[]) => void;
const recounted: Tampering = (lines) => {
  lines[lines.length - 1] = JSON.stringify({ events: lines.length - 2 });
};

const TAMPERINGS: Readonly<Record<string, readonly [RegExp, Tampering]>> = {
  'an event that is gone': [
    /is revision 2 of .* after 0/,
    (lines, [, second]) => [lines.splice(second!, 1), recounted(lines, [])],
  ],
  'a last event that is gone': [
    /has no event \d+, which was anchored/,
    (lines, places) => [lines.splice(places.at(-1)!, 1), recounted(lines, [])],
  ],
  'a stream that is gone': [
    /has no event \d+, which was anchored/,
    (lines, places) => [places.toReversed().forEach((at) => lines.splice(at, 1)), recounted(lines, [])],
  ],
  'a file that was cut off': [/not as many as its end says/, (lines) => lines.pop()],
  'a line that is gone': [/not as many as its end says|anchored|after/, (lines) => lines.splice(-2, 1)],
  'two events that changed places': [
    /is revision 2 of .* after 0/,
    (lines, [, b, c]) => ([lines[b!], lines[c!]] = [lines[c!]!, lines[b!]!]),
  ],
  'two that changed places and revisions': [
    /has another hash/,
    (lines, [, b, c]) => {
      const [second, third] = [parsed(lines[b!]!), parsed(lines[c!]!)];
      lines[b!] = JSON.stringify({ ...third, revision: 1 });
      lines[c!] = JSON.stringify({ ...second, revision: 2 });
    },
  ],
  'an event of another stream': [
    /has another hash/,
    (lines, places) => {
      const { stream } = parsed(lines[places[0]!]!);
      const other = lines.findIndex((line) => ![undefined, stream].includes(parsed(line).stream));
      const event = { ...parsed(lines[other]!), stream, revision: places.length };
      lines.splice(-1, 0, JSON.stringify(event));
      recounted(lines, []);
    },
  ],
  'a member that no event has': [
    /has other members/,
    (lines, [first]) => (lines[first!] = JSON.stringify({ ...parsed(lines[first!]!), note: 'x' })),
  ],
};

test.each(Object.entries(TAMPERINGS))('it refuses %s', async (_, [why, tampering]) => {
  const lines = [...exported];
  void tampering(lines, longest());
  await writeFile(inFolder(CHANGED), `${lines.join('\n')}\n`);
  expect(await verify([CHANGED, ANCHOR])).toEqual({ code: 1, said: expect.stringMatching(why) });
});

test('it refuses another character at any place of an event', async () => {
  const at = longest()[1]!;
  const line = exported[at]!;
  for (let i = 0; i < 8; i += 1) {
    const place = Math.floor((line.length * (i + 0.5)) / 8);
    const other = line[place] === '1' ? '2' : '1';
    const changed = exported.with(at, line.slice(0, place) + other + line.slice(place + 1));
    await writeFile(inFolder(CHANGED), `${changed.join('\n')}\n`);
    expect([place, await verify([CHANGED, ANCHOR])]).toEqual([
      place,
      { code: 1, said: expect.stringMatching(/^refused: changed\.jsonl:/) },
    ]);
  }
});

test('it refuses an anchor that was changed, cut off, or signed by another', async () => {
  const head = anchor[1]!;
  const other = JSON.stringify({ ...parsed(head), hash: '0'.repeat(64) });
  for (const [lines, why] of [
    [anchor.with(1, other), /was changed, or cut off/],
    [anchor.toSpliced(1, 1), /was changed, or cut off/],
    [anchor.slice(0, -1), /was changed, or cut off/],
    [
      anchor.with(
        -1,
        anchor
          .at(-1)!
          .replace(/"signature":"(.)/, (all, first) => `${all.slice(0, -1)}${first === 'A' ? 'B' : 'A'}`),
      ),
      /has another signature/,
    ],
  ] as const) {
    await writeFile(inFolder(CHANGED), `${lines.join('\n')}\n`);
    expect(await verify([EXPORT, CHANGED])).toEqual({ code: 1, said: expect.stringMatching(why) });
  }
  await world.auditCommand('anchor', '--output', inFolder(CHANGED));
  expect(await verify([EXPORT, CHANGED])).toMatchObject({
    code: 1,
    said: expect.stringContaining('no stream'),
  });
  const { code, said } = await verify([EXPORT, ANCHOR], `${key.slice(0, -1)}_`);
  expect([code, said]).toEqual([1, expect.stringContaining('is signed with another key')]);
});
