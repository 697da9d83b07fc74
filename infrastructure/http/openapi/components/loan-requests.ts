import { object, ref, refused, requestObject } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';
import { freeText, STATES_OF_BRAZIL } from '../../../../application/schemas/values.ts';

const FILE_NAME = '^[^/\\\\\\u0000-\\u001f\\u007f]{1,255}$';

const digits = (count: number, code: string, description: string, example: string): Schema => ({
  type: 'string',
  pattern: `^[0-9]{${count}}$`,
  description,
  examples: [example],
  ...refused(code, `must be ${count} digits without punctuation, such as ${example}`),
});

const address = requestObject(
  {
    zip_code: digits(8, 'invalid_zip_code', 'Postal code (CEP).', '01310100'),
    street: freeText('Street.', 255, 'Avenida Paulista'),
    number: freeText('House number, or S/N.', 50, '1000'),
    neighborhood: {
      type: 'string',
      maxLength: 255,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      description: 'District.',
      examples: ['Bela Vista'],
      ...refused('invalid_format', 'must be text of at most 255 characters without control characters'),
    },
    city: freeText('City.', 255, 'Sao Paulo'),
    state: {
      type: 'string',
      enum: STATES_OF_BRAZIL,
      description: 'Federative unit.',
      examples: ['SP'],
      ...refused('invalid_state', 'must be the two capital letters of a Brazilian state, such as SP'),
    },
  },
  ['neighborhood'],
);

const whenDocumentTypeIs = (type: string, then: Schema): Schema => ({
  if: { properties: { document_type: { const: type } }, required: ['document_type'] },
  then,
});

const borrower: Schema = {
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
      birth_date: { ...ref('CalendarDate'), description: 'Required for a CPF.' },
      email: {
        type: 'string',
        maxLength: 254,
        pattern: '^[^@\\s]+@[^@\\s]+$',
        description: 'E-mail address.',
        examples: ['maria@example.com'],
        ...refused('invalid_email', 'must be an address with exactly one @ and at most 254 characters'),
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
      address: ref('Address'),
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
};

/** What a creation request is made of. */
export const loanRequestSchemas: Readonly<Record<string, Schema>> = {
  Address: { ...address, description: 'Where the borrower lives or is registered.' },
  Borrower: borrower,
  NewInstallment: {
    ...object({ code: ref('InstallmentCode'), due_date: ref('CalendarDate'), face_value: ref('Amount') }),
    description: 'One scheduled payment. It falls due after the issue date; a due date in the past is fine.',
  },
  NewInstallments: {
    type: 'array',
    minItems: 1,
    maxItems: 480,
    items: ref('NewInstallment'),
    description: 'The whole schedule; no code twice.',
    ...refused('invalid_count', 'must be a list of 1 to 480 installments'),
  },
  NumberOfInstallments: {
    type: 'integer',
    minimum: 1,
    maximum: 480,
    description: 'How many installments the list holds.',
    examples: [12],
    ...refused('invalid_count', 'must be a whole number from 1 to 480'),
  },
  BackingDocument: {
    ...object({
      type: ref('DocumentKind'),
      value: {
        type: 'string',
        pattern: FILE_NAME,
        description: 'Name of the uploaded file, exactly as it is sent with the file.',
        examples: ['ccb.pdf'],
        ...refused(
          'invalid_file_name',
          'must be a file name of 1 to 255 characters without slash, backslash and control characters',
        ),
      },
    }),
    description: 'Ties an uploaded file to its purpose.',
  },
  BackingDocuments: {
    type: 'array',
    minItems: 1,
    maxItems: 20,
    items: ref('BackingDocument'),
    description: 'No file name twice; each entry has its file and each file its entry.',
    ...refused('invalid_count', 'must be a list of 1 to 20 documents'),
  },
  LoanData: {
    ...object({
      fund_id: ref('FundId'),
      originator_proposal_code: ref('ProposalCode'),
      product_type: ref('ProductType'),
      acquisition_value: { ...ref('Amount'), description: 'What the fund pays for the operation.' },
      number_of_installments: ref('NumberOfInstallments'),
      date_issued: { ...ref('CalendarDate'), description: 'Issue date of the credit.' },
      borrower: ref('Borrower'),
      installments: ref('NewInstallments'),
      backing_documents: ref('BackingDocuments'),
    }),
    description: 'An operation offered to a fund. Fields that are not listed here are ignored.',
  },
};
