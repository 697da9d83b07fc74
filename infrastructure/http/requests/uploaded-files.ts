import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { repetitions } from './request-rules.ts';

const FILES = 'files';

const violation = (field: string, code: string, message: string): FieldViolation => ({
  field,
  code,
  message,
});

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
    ...repeated.map(({ index, text }) =>
      violation(
        files[index]!.field,
        'duplicate_file_name',
        `${text} was uploaded more than once; send each name once`,
      ),
    ),
    ...missing.map((name) =>
      violation(
        FILES,
        'missing_file',
        `${name} was not uploaded; send it in a part named files under exactly this name`,
      ),
    ),
    ...unreferenced.map(({ name, field }) =>
      violation(
        field,
        'unreferenced_file',
        `${name} is named by no document; leave it out or add a document`,
      ),
    ),
  ];
  if (details.length === 0) return;
  const code =
    repeated.length > 0 ? 'duplicate_file_name' : missing.length > 0 ? 'missing_file' : 'unreferenced_file';
  throw new HttpProblem(code, details.map(({ message }) => message).join('; '), details);
};
