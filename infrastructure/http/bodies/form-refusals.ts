import { MulterError } from 'multer';
import { HttpProblem } from '../errors/http-problem.ts';
import { tooLarge, tooMuch } from './read-body.ts';

/** The name of the parts that are files. */
export const FILES = 'files';

const quoted = (name: string): string => JSON.stringify(name.slice(0, 255));
const tooManyParts = (): HttpProblem => tooMuch('body', 'the form has too many parts');

/** What is said of a form that is not as it has to be. */
export class FormRefusals {
  readonly #dataPart: string;
  readonly #dataBytes: number;

  constructor(dataPart: string, dataBytes: number) {
    this.#dataPart = dataPart;
    this.#dataBytes = dataBytes;
  }

  malformed(): HttpProblem {
    return new HttpProblem('invalid_request', 'the body is not a complete multipart/form-data form');
  }

  unknownPart(name: string | undefined): HttpProblem {
    return this.#otherParts(name === undefined ? 'a part has no name' : `it has none named ${quoted(name)}`);
  }

  unreadPart(): HttpProblem {
    return this.#otherParts(
      'a part lacks a readable header Content-Disposition: form-data, or stands behind the end of the form',
    );
  }

  textPart(name: string): HttpProblem {
    if (name !== FILES) return this.unknownPart(name);
    return new HttpProblem('invalid_request', `a part named ${FILES} has no file name`);
  }

  notOneDataPart(found: string): HttpProblem {
    const message = `the form needs exactly one part named ${this.#dataPart} with JSON text; ${found}`;
    return new HttpProblem('invalid_request', message);
  }

  dataTooLarge(): HttpProblem {
    return tooLarge(this.#dataPart, `the part ${quoted(this.#dataPart)}`, this.#dataBytes);
  }

  /** For what the parser refuses. */
  of(error: unknown): HttpProblem {
    return (error instanceof MulterError && this.#ofLimit(error)) || this.malformed();
  }

  #ofLimit({ code, field }: { readonly code: string; readonly field?: string | undefined }) {
    switch (code) {
      case 'LIMIT_PART_COUNT':
      case 'LIMIT_FILE_COUNT':
        return tooManyParts();
      case 'LIMIT_FIELD_VALUE':
        return field === this.#dataPart ? this.dataTooLarge() : this.textPart(field ?? '');
      case 'LIMIT_FIELD_COUNT':
        return this.#otherParts('it has a further part with text');
      case 'LIMIT_FIELD_NESTING':
      case 'MISSING_FIELD_NAME':
        return this.unknownPart(field);
      default:
        return undefined;
    }
  }

  #otherParts(found: string): HttpProblem {
    const message = `the form has one part named ${this.#dataPart} and parts named ${FILES}; ${found}`;
    return new HttpProblem('invalid_request', message);
  }
}
