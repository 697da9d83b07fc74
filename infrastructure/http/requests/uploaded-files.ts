import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { repetitions } from './request-rules.ts';

const FILES = 'files';

const violation = (code: string, message: string): FieldViolation => ({ field: FILES, code, message });

/**
 * Files and documents name each other, one to one. All mismatches are listed; the first kind found gives the error its code.
 * @throws HttpProblem `duplicate_file_name`, `missing_file`, `unreferenced_file`
 */
export const requireMatchingFiles = (names: readonly string[], files: readonly ReceivedFile[]): void => {
  const referenced = new Set(names);
  const uploaded = new Set(files.map(({ name }) => name));
  const duplicate = new Set(repetitions(files.map(({ name }) => name)).map(({ text }) => text));
  const missing = names.filter((name) => !uploaded.has(name));
  const unreferenced = [...uploaded].filter((name) => !referenced.has(name));
  const details = [
    ...[...duplicate].map((name) =>
      violation('duplicate_file_name', `${name} was uploaded more than once; send each name once`),
    ),
    ...missing.map((name) =>
      violation(
        'missing_file',
        `${name} was not uploaded; send it in a part named files under exactly this name`,
      ),
    ),
    ...unreferenced.map((name) =>
      violation('unreferenced_file', `${name} is named by no document; leave it out or add a document`),
    ),
  ];
  if (details.length === 0) return;
  const code =
    duplicate.size > 0 ? 'duplicate_file_name' : missing.length > 0 ? 'missing_file' : 'unreferenced_file';
  throw new HttpProblem(code, details.map(({ message }) => message).join('; '), details);
};
