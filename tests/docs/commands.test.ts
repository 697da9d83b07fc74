import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import type { CommandDependencies } from '../../infrastructure/cli/command-line.ts';
import { createProgram, runProgram } from '../../infrastructure/cli/program.ts';
import { FUND } from '../support/application-parts.ts';
import { NOTHING } from '../support/command-line.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const OPENED = 'the command was understood';
const UNDERSTOOD = new RegExp(`${OPENED}|there is no such (?:file|folder)|the file holds no decision`);
const PROGRAM = /^\s*(?:receivables|npm run --silent receivables --) (.+)$/;

const dependencies = (write: (text: string) => void = () => undefined): CommandDependencies => {
  const refuse = (): never => {
    throw new Error(OPENED);
  };
  const open = async () => refuse();
  return {
    ...NOTHING,
    open,
    openMove: open,
    openConsole: open,
    backups: { write: open, restore: open },
    examine: open,
    write,
    writeError: write,
    input: async function* (file) {
      if (file === '-') yield Buffer.from('52998224725\n');
    },
  };
};

/** What a shell makes of the line: continued lines joined, comments and the rest of a pipe left out. */
const wordsOf = (line: string): readonly string[] =>
  (line.replace(/\s[#|<>].*$/, '').match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );

const commandsIn = (text: string): readonly string[] =>
  text
    .replace(/\\\n\s*/g, '')
    .replaceAll('"$FUND"', FUND)
    .split('\n')
    .map((line) => line.replace(/^.* \| (?=receivables )/, '').replace(/^\w+=\$\((.*)\)$/, '$1'))
    .flatMap((line) => PROGRAM.exec(line)?.slice(1) ?? []);

const codeBlocksOf = (page: string): string =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```\w*\n([\s\S]*?)^```/gm)]
    .map(([, code]) => code)
    .join('\n');

const pathsOf = (command: Command, path: readonly string[] = []): readonly (readonly string[])[] => [
  path,
  ...command.commands.flatMap((child) => pathsOf(child, [...path, child.name()])),
];

const helpOf = async (path: readonly string[]): Promise<string> => {
  let help = '';
  await runProgram(
    [...path, '--help'],
    dependencies((text) => (help += text)),
  );
  return help;
};

/** The line itself, or what is wrong with it; that the files of an example are not here is not. */
const outcomeOf = async (line: string): Promise<string> => {
  let said = '';
  const code = await runProgram(
    wordsOf(line),
    dependencies((text) => (said += text)),
  );
  return code === 0 || UNDERSTOOD.test(said) ? line : `${line}: ${said}`;
};

const paths = pathsOf(createProgram(dependencies())).filter((path) => path.at(-1) !== 'help');
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].filter(
  (page) => commandsIn(codeBlocksOf(page)).length > 0,
);

describe('commands that can be pasted', () => {
  test.each(paths.map((path) => [path.join(' '), path] as const))(
    'receivables %s --help has one that is understood',
    async (_, path) => {
      const examples = commandsIn((await helpOf(path)).split(/^Examples?:$/m)[1] ?? '');
      expect(examples).not.toEqual([]);
      for (const line of examples) expect(await outcomeOf(line)).toBe(line);
    },
  );

  test.each(pages)('%s holds only such', async (page) => {
    for (const line of commandsIn(codeBlocksOf(page))) expect(await outcomeOf(line)).toBe(line);
  });
});
