/** Names that Node gives to what the machine lacks or has broken (errno(3)): room, a working disk, a folder that is there and may be used, open files, memory. */
const CODES: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO', 'ESTALE'],
  ...['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'],
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS'],
]);
const DEEPEST_CAUSE = 5;

/** The name of what the machine lacks, where that is why this failed: the same work may succeed once there is room again. */
export const machineTrouble = (error: unknown): string | undefined => {
  let cause = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && cause instanceof Error; depth++) {
    const { code } = cause as NodeJS.ErrnoException;
    if (CODES.has(code)) return code;
    ({ cause } = cause);
  }
  return undefined;
};
