import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import { DECIMALS, VIOLATIONS } from './schema.ts';
import type { Schema } from './schema.ts';
import { FORMATS } from './formats.ts';
import { violationsOf } from './violations.ts';

/** Everything wrong with a value; empty when nothing is. */
export type Validator = (value: unknown) => readonly FieldViolation[];

const NONE: readonly FieldViolation[] = [];
const DOCUMENT = 'description';

/** Whether the number is the one nearest to a decimal of so few places; finer texts are caught when they are read. */
const hasAtMost = (decimals: number, value: number): boolean => {
  const unit = 10 ** decimals;
  return Math.round(value * unit) / unit === value;
};

/** Checks made from the schemas of the published description, so that the two cannot disagree. */
export class DocumentValidators {
  readonly #ajv: Ajv2020;

  constructor(document: Schema) {
    this.#ajv = new Ajv2020({
      allErrors: true,
      verbose: true,
      strictTypes: false,
      strictRequired: false,
      formats: { ...FORMATS },
      // The sections of the description, so that strict mode still finds misspelt keywords in its schemas.
      keywords: [VIOLATIONS, ...Object.keys(document)],
    });
    this.#ajv.addKeyword({
      keyword: DECIMALS,
      type: 'number',
      schemaType: 'number',
      errors: false,
      validate: hasAtMost,
    });
    this.#ajv.addSchema(document, DOCUMENT, undefined, false);
  }

  /** Compiled when it is used first: a start need not wait for it. `pointer` leads to a schema inside of the document; `root` is how messages call the whole value. */
  at(pointer: readonly string[], root: string): Validator {
    const fragment = pointer.map((segment) =>
      encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    let validate: ValidateFunction | undefined;
    return (value) => {
      validate ??= this.#ajv.compile({ $ref: `${DOCUMENT}#/${fragment.join('/')}` });
      return validate(value) ? NONE : violationsOf(validate.errors ?? [], root);
    };
  }

  component(name: string, root: string): Validator {
    return this.at(['components', 'schemas', name], root);
  }
}
