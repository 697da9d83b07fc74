export interface Guide {
  /** Its place below /docs/guides/. */
  readonly name: string;
  readonly title: string;
  /** Below docs/. */
  readonly file: string;
  readonly about: string;
}

interface GuideGroup {
  readonly name: string;
  readonly guides: readonly Guide[];
}

/** @param file named like its place, or `README.md` of a folder that is */
const guide = (file: string, title: string, about: string): Guide => {
  const place = file.replace(/(?:\/README)?\.md$/, '');
  return { name: place.slice(place.lastIndexOf('/') + 1), title, file, about };
};

/** What an integrator needs, in the order of the list. What is for operators and the fund's desk stays with the source. */
export const GUIDE_GROUPS: readonly GuideGroup[] = [
  {
    name: 'Begin here',
    guides: [
      guide(
        'integrators-guide.md',
        'Guide for integrators',
        'The way through everything: tokens, idempotency, errors, webhooks, rate limits.',
      ),
      guide('sandbox.md', 'The sandbox', 'Time, decisions and failures at will.'),
      guide(
        'going-live.md',
        'Going live',
        'What production refuses and the sandbox takes, as a list to tick off.',
      ),
      guide('clients.md', 'Typed clients', 'A typed client in TypeScript or Python.'),
    ],
  },
  {
    name: 'Operations',
    guides: [
      guide(
        'lifecycle.md',
        'The life of an operation',
        'States, overdue installments, and how amounts are priced.',
      ),
      guide('renegotiation.md', 'Renegotiation', 'How operations are replaced by a new one.'),
      guide('terminal-states.md', 'Requests in each state', 'Which request works in which state.'),
    ],
  },
  {
    name: 'Webhooks',
    guides: [
      guide('events.md', 'Events', 'Every event with its full body.'),
      guide(
        'webhook-verifier/README.md',
        'Verifying webhooks',
        'Checking a signature: whole receivers and test vectors.',
      ),
      guide('local-receiver.md', 'A receiver on your machine', 'Webhooks to a receiver on your own machine.'),
    ],
  },
  {
    name: 'Jobs, one page each',
    guides: [
      guide('jobs/README.md', 'All jobs', 'All of them, and what their lines begin with.'),
      guide('jobs/assign-and-wait.md', 'Assign and wait', 'Assign an operation and wait for the money.'),
      guide('jobs/receive-webhooks.md', 'Receive webhooks', 'Receive webhooks.'),
      guide(
        'jobs/decide-what-waits.md',
        'Decide on what waits',
        "For the fund's desk: decide on what waits.",
      ),
      guide('jobs/month-end-reconciliation.md', 'Close a month', "For the fund's desk: close a month."),
      guide(
        'jobs/forget-a-borrower.md',
        'Forget a borrower',
        "For the fund's desk: a borrower asks to be forgotten.",
      ),
    ],
  },
  {
    name: 'To look up',
    guides: [
      guide('changelog.md', 'Changelog', 'What changed in the interface, by version.'),
      guide(
        'interface-decisions.md',
        'Decisions of the interface',
        'What the interface leaves open, and what this service does.',
      ),
      guide('glossary.md', 'Glossary', 'The words of the field, with the Portuguese ones.'),
    ],
  },
];

/** Files that guides link to, shown as they are; they stand in no list. */
const SOURCES: readonly Guide[] = ['verify.mjs', 'verify.d.mts', 'verify.py', 'test-vectors.json'].map(
  (name) => ({ name, title: name, file: `webhook-verifier/${name}`, about: '' }),
);

export const GUIDES: readonly Guide[] = [...GUIDE_GROUPS.flatMap(({ guides }) => guides), ...SOURCES];
