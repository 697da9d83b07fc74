import { DomainError } from '../../domain/shared/domain-error.ts';

const SEPARATORS_AND_C0 = '/\\\\\\u0000-\\u001f\\u007f';
/** C1 controls and marks of direction, which make a name look like another one. */
const MISLEADING = '\\u0080-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';

export const FILE_NAME = `^[^${SEPARATORS_AND_C0}${MISLEADING}]{1,255}$`;
/** Versions before 2026.11.3 took these. */
export const EARLIER_FILE_NAME = new RegExp(`^[^${SEPARATORS_AND_C0}]{1,255}$`, 'u');

export const FILE_NAME_REFUSED = {
  code: 'invalid_file_name',
  message:
    'must be a file name of 1 to 255 characters without slash, backslash, control characters and marks of direction',
} as const;

const misleading = new RegExp(`[${MISLEADING}]`, 'u');

/** Asked where documents are new: others keep their names. @param field undefined: a name that is there already */
export const refusedNames = (
  names: readonly (string | undefined)[],
  field: string,
): DomainError | undefined => {
  const details = names.flatMap((name, i) =>
    name !== undefined && misleading.test(name)
      ? [{ field: `${field}[${i}].value`, ...FILE_NAME_REFUSED }]
      : [],
  );
  const [first] = details;
  return first && new DomainError('validation_error', `${first.field} ${first.message}`, details);
};

/** What is wrong with the request itself is told before what it meets. */
export const preferring =
  (refusal: DomainError | undefined) =>
  (error: unknown): never => {
    throw refusal && error instanceof DomainError ? refusal : error;
  };
