import { exampleOf, schemaOf, shown } from '../../schemas/shown-fields.ts';
import { EXAMPLE } from '../../schemas/example-values.ts';
import { object, ref, text } from '../../schemas/schema.ts';
import type { Schema } from '../../schemas/schema.ts';
import { EXAMPLE_OPERATION, PUBLICATIONS, PING } from '../catalogue.ts';
import type { Publication, EventName } from '../catalogue.ts';

type Described = Pick<Publication<never, EventName>, 'name' | 'example' | 'data' | 'flat'>;

const MESSAGE = shown<never, Schema>(
  text({ description: 'A greeting.' }),
  () => undefined,
  'This webhook is registered and reachable.',
);

const DESCRIBED: readonly Described[] = [
  ...PUBLICATIONS,
  { name: PING, example: [EXAMPLE.received, 0], data: { message: MESSAGE } },
];

const envelope: Schema = {
  ...object({
    event: { type: 'string', description: 'Name of the event.' },
    event_id: {
      type: 'string',
      format: 'uuid',
      description: 'The same however often the event arrives: remember it to drop repetitions.',
    },
    originator_proposal_code: {
      type: ['string', 'null'],
      description: 'The operation; null where the event is about none.',
    },
    fund_id: { type: ['string', 'null'], description: 'Its fund; null where there is no operation.' },
    timestamp: { ...ref('Timestamp'), description: 'When it happened; put events in order by it.' },
    sequence: { type: 'integer', minimum: 0, description: 'Grows within an operation, with gaps.' },
    api_version: { type: 'string', description: 'Version of this description that the body follows.' },
    data: { type: 'object', description: 'What depends on the kind of event.' },
  }),
  description: 'What the bodies of all events have in common. None carries personal data of the borrower.',
};

const operationFields: Schema = {
  originator_proposal_code: ref('ProposalCode'),
  fund_id: { type: 'string', format: 'uuid', description: 'Fund of the operation.' },
};
const noOperationFields: Schema = {
  originator_proposal_code: { type: 'null', description: 'It is about no operation.' },
  fund_id: { type: 'null', description: 'It is about no fund.' },
};

export const eventSchemaName = (event: string): string =>
  `${event
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Event`;

const eventSchema = ({ name, data, flat = [] }: Described): Schema => ({
  type: 'object',
  allOf: [ref('EventEnvelope')],
  ...(flat.length > 0 && { required: flat }),
  properties: {
    event: { type: 'string', const: name, description: 'Name of the event.' },
    ...(name === PING ? noOperationFields : operationFields),
    ...Object.fromEntries(flat.map((field) => [field, data[field]!.schema])),
    data: { ...schemaOf(data), description: 'What happened.' },
  },
  description: `Body of \`${name}\`.`,
});

export const eventSchemas: Readonly<Record<string, Schema>> = {
  EventEnvelope: envelope,
  ...Object.fromEntries(DESCRIBED.map((event) => [eventSchemaName(event.name), eventSchema(event)])),
};

export const eventExample = (event: EventName, apiVersion: string) => {
  const { data, flat = [], example } = DESCRIBED.find(({ name }) => name === event)!;
  const [timestamp, sequence] = example;
  const says = exampleOf(data);
  return {
    event,
    event_id: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
    originator_proposal_code: event === PING ? null : EXAMPLE_OPERATION.code,
    fund_id: event === PING ? null : EXAMPLE.fundId,
    timestamp,
    sequence,
    api_version: apiVersion,
    ...Object.fromEntries(flat.map((field) => [field, says[field]])),
    data: says,
  };
};
