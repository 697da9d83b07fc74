import { DocumentValidators } from '../../application/schemas/document-validators.ts';
import { publishedTopics } from '../support/published-topics.ts';

type Json = ReturnType<typeof JSON.parse>;

const document: Json = publishedTopics();
const validators = new DocumentValidators(document);
const schemas = new Map<string, string>(
  Object.values<Json>(document.components.messages).map(({ name, payload }) => [
    name,
    String(payload.$ref).split('/').pop()!,
  ]),
);

/** Bodies that the published description of the events does not allow, with the reasons. */
export const undescribed = (bodies: readonly Json[]): readonly string[] =>
  bodies.flatMap((body) => {
    const schema = schemas.get(body.event);
    if (schema === undefined) return [`no message is described for ${body.event}`];
    const problems = validators.component(schema, 'event')(body);
    return problems.map((problem) => `${body.event} ${body.event_id}: ${JSON.stringify(problem)}`);
  });
