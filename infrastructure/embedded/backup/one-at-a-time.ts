import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../../application/support/failures.ts';
import { hasCode } from '../../support/durable-files.ts';
import { lockFile } from '../directory-lock.ts';
import { BackupFailedError } from './manifest.ts';

/**
 * Works on a draft that nobody else works on meanwhile; one whose process was killed is free.
 * @param path of the lock, which is there as long as the work goes on
 * @throws BackupFailedError with `busy` when another process has it, and where the disk is full
 */
export const oneAtATime = async <Result>(
  path: string,
  busy: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const lock = lockFile(path, 'alone');
  if (!lock) throw new BackupFailedError(busy);
  try {
    return await work();
  } catch (error) {
    if (!hasCode(error, 'ENOSPC') && !hasCode(error, 'EDQUOT')) throw error;
    throw new BackupFailedError(
      `${dirname(path)} has no room left: make room there, and give the same command again (${messageOf(error)})`,
      { cause: error },
    );
  } finally {
    await rm(path, { force: true });
    await lock.close();
  }
};
