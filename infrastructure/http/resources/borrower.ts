import { component, oneOf, ref, refused, requestObject, text } from '../../../application/schemas/schema.ts';
import type { Schema, SchemaOf, TypeOf } from '../../../application/schemas/schema.ts';
import { CalendarDate, freeText, optionalText } from '../../../application/schemas/values.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { asDraft, notAfter, textIn } from '../requests/request-rules.ts';
import type { RequestRules } from '../requests/request-rules.ts';

const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/** Modulo 11 over the characters' distance from `0`, so that letters of a CNPJ count too (A is 17). */
const checkDigit = (characters: string, weights: readonly number[]): number => {
  const aligned = weights.slice(weights.length - characters.length);
  const sum = aligned.reduce((total, weight, i) => total + weight * (characters.charCodeAt(i) - 48), 0);
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
};

const endsWithCheckDigits = (number: string, weights: readonly number[]): boolean => {
  const base = number.slice(0, -2);
  const first = checkDigit(base, weights);
  const second = checkDigit(`${base}${first}`, weights);
  return number.endsWith(`${first}${second}`);
};

/** One digit repeated satisfies the arithmetic but was never issued. */
const isOneCharacterRepeated = (number: string): boolean => number === number.charAt(0).repeat(number.length);

/** `number` is 11 digits. */
const isValidCpf = (number: string): boolean =>
  !isOneCharacterRepeated(number) && endsWithCheckDigits(number, CPF_WEIGHTS);

/** `number` is 12 digits or capital letters followed by 2 digits. */
const isValidCnpj = (number: string): boolean =>
  !isOneCharacterRepeated(number) && endsWithCheckDigits(number, CNPJ_WEIGHTS);

const STATES_OF_BRAZIL = [
  ...['AC', 'AL', 'AM', 'AP', 'BA', 'CE', 'DF', 'ES', 'GO', 'MA', 'MG', 'MS', 'MT', 'PA'],
  ...['PB', 'PE', 'PI', 'PR', 'RJ', 'RN', 'RO', 'RR', 'RS', 'SC', 'SE', 'SP', 'TO'],
];

const digits = (count: number, code: string, description: string, example: string): SchemaOf<string> =>
  text({
    pattern: `^[0-9]{${count}}$`,
    description,
    examples: [example],
    ...refused(code, `must be ${count} digits without punctuation, such as ${example}`),
  });

const Address = component('Address', {
  ...requestObject(
    {
      zip_code: digits(8, 'invalid_zip_code', 'Postal code (CEP).', '01310100'),
      street: freeText('Street.', 255, 'Avenida Paulista'),
      number: freeText('House number, or S/N.', 50, '1000'),
      neighborhood: optionalText('District.', 255, 'Bela Vista'),
      city: freeText('City.', 255, 'Sao Paulo'),
      state: oneOf(STATES_OF_BRAZIL, {
        description: 'Federative unit.',
        examples: ['SP'],
        ...refused('invalid_state', 'must be the two capital letters of a Brazilian state, such as SP'),
      }),
    },
    ['neighborhood'],
  ),
  description: 'Where the borrower lives or is registered.',
});

const whenDocumentTypeIs = (type: string, then: Schema): Schema => ({
  if: { properties: { document_type: { const: type } }, required: ['document_type'] },
  then,
});

export const Borrower = component('Borrower', {
  ...requestObject(
    {
      document_number: {
        type: 'string',
        description: 'CPF or CNPJ without punctuation.',
        examples: ['52998224725'],
      },
      document_type: {
        type: 'string',
        enum: ['CPF', 'CNPJ'],
        description: 'Which of the two numbers it is.',
        examples: ['CPF'],
        ...refused('invalid_value', 'must be CPF or CNPJ'),
      },
      name: freeText('Full name, or company name.', 255, 'Maria da Silva'),
      birth_date: { ...ref(CalendarDate), description: 'Required for a CPF.' },
      email: {
        type: 'string',
        maxLength: 254,
        pattern: '^[^@\\s\\u0000-\\u001f\\u007f]+@[^@\\s\\u0000-\\u001f\\u007f]+$',
        description: 'E-mail address.',
        examples: ['maria@example.com'],
        ...refused(
          'invalid_email',
          'must be an address with exactly one @, at most 254 characters, and no blanks or control characters',
        ),
      },
      phone: {
        type: 'string',
        pattern: '^\\+?[1-9][0-9]{6,14}$',
        description: 'With country code (E.164).',
        examples: ['+5511999990000'],
        ...refused(
          'invalid_phone',
          'must be 7 to 15 digits starting with the country code, such as +5511999990000',
        ),
      },
      address: ref(Address),
    },
    ['birth_date', 'email', 'phone'],
  ),
  description: 'The person or company that owes the installments.',
  allOf: [
    whenDocumentTypeIs('CPF', {
      required: ['birth_date'],
      properties: {
        birth_date: {},
        document_number: {
          pattern: '^[0-9]{11}$',
          ...refused('invalid_document_number', 'must be the 11 digits of a CPF without punctuation'),
        },
      },
    }),
    whenDocumentTypeIs('CNPJ', {
      properties: {
        document_number: {
          pattern: '^[0-9A-Z]{12}[0-9]{2}$',
          ...refused(
            'invalid_document_number',
            'must be a CNPJ: 12 digits or capital letters, then 2 digits',
          ),
        },
      },
    }),
  ],
});
type Borrower = TypeOf<typeof Borrower>;

const checkDocumentNumber = (borrower: unknown): readonly FieldViolation[] => {
  const number = textIn(borrower, 'document_number');
  const type = textIn(borrower, 'document_type');
  if (number === undefined) return [];
  const wrongCpf = type === 'CPF' && /^\d{11}$/.test(number) && !isValidCpf(number);
  const wrongCnpj = type === 'CNPJ' && /^[0-9A-Z]{12}\d{2}$/.test(number) && !isValidCnpj(number);
  if (!wrongCpf && !wrongCnpj) return [];
  const message = `must be a ${type} whose last two digits are its check digits`;
  return [{ field: 'borrower.document_number', code: 'invalid_document_number', message }];
};

export const checkBorrower = (borrower: unknown, rules: RequestRules): readonly FieldViolation[] => [
  ...notAfter(
    'borrower.birth_date',
    asDraft(borrower)?.['birth_date'],
    rules.today(),
    'it lies in the future',
  ),
  ...(rules.strict ? checkDocumentNumber(borrower) : []),
];
