import { randomUUID } from 'node:crypto';
import { accessSync, constants, lstatSync, realpathSync, statSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Rows } from '../presenting/columns.ts';
import { hasCode, naming } from '../support/durable-files.ts';
import { WrongUseError } from './command-line.ts';

type Reasons = Readonly<Record<string, string>>;

const BELOW_A_FILE: Reasons = { ENOTDIR: 'what should be its folder is a file' };
const UNUSABLE: Reasons = {
  ...BELOW_A_FILE,
  ENOENT: 'it is a link that leads nowhere',
  EACCES: 'this user may not look there',
};
const UNREADABLE: Reasons = {
  ...BELOW_A_FILE,
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
};
const UNWRITABLE: Reasons = {
  ...BELOW_A_FILE,
  ENOENT: 'there is no such folder',
  EACCES: 'this user may not write there',
  EROFS: 'the file system is read-only',
};

const explaining = <Result>(what: string, reasons: Reasons, look: () => Result): Result => {
  try {
    return look();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new WrongUseError(`${what}: ${reasons[code] ?? message}`, { cause: error });
  }
};

const named = (option: string, path: string, kind: string): void => {
  if (path === '') throw new WrongUseError(`${option} needs the name of a ${kind}`);
};

/** For a file, or a pipe, that is read; it is not opened yet. */
export const fileToRead =
  (option: string) =>
  (path: string): string => {
    named(option, path, 'file');
    const what = `${option} ${path} cannot be read`;
    const found = explaining(what, UNREADABLE, () => {
      accessSync(path, constants.R_OK);
      return statSync(path);
    });
    if (found.isDirectory()) throw new WrongUseError(`${what}: it is a directory, name a file in it`);
    return path;
  };

const toWrite = (option: string, path: string, isReplaced: boolean): string => {
  named(option, path, 'file');
  const what = `${option} ${path} cannot be written`;
  const there = explaining(what, UNWRITABLE, () => {
    const found = statSync(path, { throwIfNoEntry: false });
    // What only grows needs nothing of its folder once it is there.
    accessSync(found && !isReplaced ? path : `${dirname(`${path}x`)}/.`, constants.W_OK);
    return found;
  });
  // A device, or a socket that somebody listens on, would give way to a file.
  if (isReplaced ? there?.isFile() === false : there?.isDirectory())
    throw new WrongUseError(`${what}: it is there and ${isReplaced ? 'no file' : 'a directory'}`);
  return path;
};

/** For a file that is made, or replaced as a whole: nobody waits for what cannot be kept in the end. */
export const fileToWrite =
  (option: string) =>
  (path: string): string =>
    toWrite(option, path, true);

export const fileToGrow =
  (option: string) =>
  (path: string): string =>
    toWrite(option, path, false);

export const directory =
  (option: string) =>
  (path: string): string => {
    named(option, path, 'directory');
    const what = `${option} ${path} cannot be used`;
    const isDirectory = explaining(what, UNUSABLE, () => {
      try {
        return statSync(path).isDirectory();
      } catch (error) {
        // It may be made yet, but nothing can in place of a link.
        if (hasCode(error, 'ENOENT') && !lstatSync(path, { throwIfNoEntry: false })) return true;
        throw error;
      }
    });
    if (!isDirectory) throw new WrongUseError(`${what}: it is no directory`);
    return path;
  };

const placeOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
};

/** By option. @throws WrongUseError where two of them name one file, which would be lost, or read while it is written */
export const requireApart = (files: Readonly<Record<string, string | undefined>>): void => {
  const options = new Map<string, string>();
  for (const [option, path] of Object.entries(files)) {
    if (path === undefined) continue;
    const place = placeOf(path);
    const other = options.get(place);
    if (other !== undefined)
      throw new WrongUseError(`${other} and ${option} name the same file: give each a file of its own`);
    options.set(place, option);
  }
};

const READABLE = 0o666;
const INTERRUPTIONS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** An interruption removes it and goes on to end the process, unless a command ends in order by itself. Answers how to let go of it. */
const removedWhenInterrupted = (path: string): (() => void) => {
  const left = INTERRUPTIONS.filter((signal) => process.listenerCount(signal) === 0);
  const letGo = (): void => left.forEach((signal) => void process.off(signal, end));
  const end = (signal: NodeJS.Signals): void => {
    letGo();
    rmSync(path, { force: true });
    process.kill(process.pid, signal);
  };
  for (const signal of left) process.on(signal, end);
  return letGo;
};

/**
 * A file that is there as a whole or not at all; until then it has a name of its own, for another command may write the same.
 * @param mode default: what the process gives its files
 */
export const writeWhole = async (output: string, chunks: Rows<string>, mode = READABLE): Promise<void> => {
  const unfinished = `${output}.${randomUUID()}.unfinished`;
  const letGo = removedWhenInterrupted(unfinished);
  try {
    {
      await using file = await open(unfinished, 'wx', mode);
      // Unlike `write`, all of it or an error.
      for await (const chunk of chunks) await naming(output, file.writeFile(chunk));
      await naming(output, file.sync());
    }
    await rename(unfinished, output);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    letGo();
  }
};
