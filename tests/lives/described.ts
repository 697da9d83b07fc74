import { DocumentValidators } from '../../application/schemas/document-validators.ts';
import { publishedTopics } from '../support/published-topics.ts';

type Json = ReturnType<typeof JSON.parse>;

const document: Json = publishedTopics();
const validators = new DocumentValidators(document);
const checks = new Map(
  Object.values<Json>(document.components.messages).map(({ name, payload }) => [
    name as string,
    validators.component(String(payload.$ref).split('/').pop()!, 'event'),
  ]),
);

/** Bodies that the published description of the events does not allow, with the reasons. */
export const undescribed = (bodies: readonly Json[]): readonly string[] =>
  bodies.flatMap((body) => {
    const check = checks.get(body.event);
    if (check === undefined) return [`no message is described for ${body.event}`];
    return check(body).map((problem) => `${body.event} ${body.event_id}: ${JSON.stringify(problem)}`);
  });
