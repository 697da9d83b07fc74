import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { repetitions } from './request-rules.ts';

const FILES = 'files';

const isFirst = (files: readonly ReceivedFile[], index: number): boolean =>
  files.findIndex(({ name }) => name === files[index]!.name) === index;

/**
 * Files and documents name each other, one to one, but for files that may be left out. All mismatches are listed; the first kind found gives the error its code.
 * @throws HttpProblem `duplicate_file_name`, `missing_file`, `unreferenced_file`
 */
export const requireMatchingFiles = (
  names: readonly string[],
  files: readonly ReceivedFile[],
  mayLack = false,
): void => {
  const referenced = new Set(names);
  const uploaded = new Set(files.map(({ name }) => name));
  const repeated = repetitions(files.map(({ name }) => name));
  const missing = mayLack ? [] : names.filter((name) => !uploaded.has(name));
  const unreferenced = files.filter(({ name }, i) => !referenced.has(name) && isFirst(files, i));
  const details = [
    ...repeated.map(({ index, text }) => ({
      field: files[index]!.field,
      code: 'duplicate_file_name' as const,
      message: `${text} was uploaded more than once; send each name once`,
    })),
    ...missing.map((name) => ({
      field: FILES,
      code: 'missing_file' as const,
      message: `${name} was not uploaded; send it in a part named files under exactly this name`,
    })),
    ...unreferenced.map(({ name, field }) => ({
      field,
      code: 'unreferenced_file' as const,
      message: `${name} is named by no document; leave it out or add a document`,
    })),
  ];
  const [first] = details;
  if (first) throw new HttpProblem(first.code, details.map(({ message }) => message).join('; '), details);
};
