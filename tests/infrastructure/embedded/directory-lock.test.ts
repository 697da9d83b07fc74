import { expect, jest, test } from '@jest/globals';
import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { lockForService } from '../../../infrastructure/embedded/directory-lock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

test('a lock whose holder cannot be written for lack of room names the file, and is free again', async () => {
  const path = temporaryDirectory();
  const holder = join(path, 'service.pid');
  await symlink('/dev/full', holder);
  await expect(lockForService(path)).rejects.toMatchObject({
    ...{ code: 'ENOSPC', path: holder },
    message: `ENOSPC: no space left on device, write '${holder}': make room on its disk`,
  });
  await rm(holder);
  await (await lockForService(path)).close();
});

test('a second service in one directory is refused with the process of the first, until that has left', async () => {
  const path = temporaryDirectory();
  const first = await lockForService(path);
  await expect(lockForService(path)).rejects.toThrow(
    `DATA_DIR ${path} is in use by another service: process ${process.pid} on `,
  );
  await first.close();
  await (await lockForService(path)).close();
});

test('a directory that is moved away ends the process of its service, which would go on to acknowledge', async () => {
  const path = temporaryDirectory();
  jest.useFakeTimers();
  try {
    const lock = await lockForService(path);
    jest.advanceTimersByTime(60_000);
    await rename(path, `${path}-away`);
    expect(() => jest.advanceTimersByTime(1_000)).toThrow(`DATA_DIR ${path} was removed or moved away`);
    await lock.close();
    jest.advanceTimersByTime(60_000);
    await rename(`${path}-away`, path);
  } finally {
    jest.useRealTimers();
  }
});
