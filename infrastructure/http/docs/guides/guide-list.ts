/** A file of docs/ as a page. */
export interface Guide {
  /** Its place below /docs/guides/. */
  readonly name: string;
  /** In lists. */
  readonly title: string;
  /** Below docs/. */
  readonly file: string;
  /** What it is for, in the list of all. */
  readonly about: string;
}

interface GuideGroup {
  readonly name: string;
  readonly guides: readonly Guide[];
}

/** What an integrator needs, in the order of the list. What is for operators and the fund's desk stays with the source. */
export const GUIDE_GROUPS: readonly GuideGroup[] = [
  {
    name: 'Begin here',
    guides: [
      {
        name: 'integrators-guide',
        title: 'Guide for integrators',
        file: 'integrators-guide.md',
        about: 'The way through everything: tokens, idempotency, errors, webhooks, rate limits.',
      },
      {
        name: 'sandbox',
        title: 'The sandbox',
        file: 'sandbox.md',
        about: 'Time, decisions and failures at will.',
      },
      {
        name: 'going-live',
        title: 'Going live',
        file: 'going-live.md',
        about: 'What production refuses and the sandbox takes, as a list to tick off.',
      },
      {
        name: 'clients',
        title: 'Typed clients',
        file: 'clients.md',
        about: 'A typed client in TypeScript or Python.',
      },
    ],
  },
  {
    name: 'Operations',
    guides: [
      {
        name: 'lifecycle',
        title: 'The life of an operation',
        file: 'lifecycle.md',
        about: 'States, overdue installments, and how amounts are priced.',
      },
      {
        name: 'renegotiation',
        title: 'Renegotiation',
        file: 'renegotiation.md',
        about: 'How operations are replaced by a new one.',
      },
      {
        name: 'terminal-states',
        title: 'Requests in each state',
        file: 'terminal-states.md',
        about: 'Which request works in which state.',
      },
    ],
  },
  {
    name: 'Webhooks',
    guides: [
      { name: 'events', title: 'Events', file: 'events.md', about: 'Every event with its full body.' },
      {
        name: 'webhook-verifier',
        title: 'Verifying webhooks',
        file: 'webhook-verifier/README.md',
        about: 'Checking a signature: whole receivers and test vectors.',
      },
      {
        name: 'local-receiver',
        title: 'A receiver on your machine',
        file: 'local-receiver.md',
        about: 'Webhooks to a receiver on your own machine.',
      },
    ],
  },
  {
    name: 'Jobs, one page each',
    guides: [
      {
        name: 'jobs',
        title: 'All jobs',
        file: 'jobs/README.md',
        about: 'All of them, and what their lines begin with.',
      },
      {
        name: 'assign-and-wait',
        title: 'Assign and wait',
        file: 'jobs/assign-and-wait.md',
        about: 'Assign an operation and wait for the money.',
      },
      {
        name: 'receive-webhooks',
        title: 'Receive webhooks',
        file: 'jobs/receive-webhooks.md',
        about: 'Receive webhooks.',
      },
      {
        name: 'decide-what-waits',
        title: 'Decide on what waits',
        file: 'jobs/decide-what-waits.md',
        about: "For the fund's desk: decide on what waits.",
      },
      {
        name: 'month-end-reconciliation',
        title: 'Close a month',
        file: 'jobs/month-end-reconciliation.md',
        about: "For the fund's desk: close a month.",
      },
      {
        name: 'forget-a-borrower',
        title: 'Forget a borrower',
        file: 'jobs/forget-a-borrower.md',
        about: "For the fund's desk: a borrower asks to be forgotten.",
      },
    ],
  },
  {
    name: 'To look up',
    guides: [
      {
        name: 'changelog',
        title: 'Changelog',
        file: 'changelog.md',
        about: 'What changed in the interface, by version.',
      },
      {
        name: 'interface-decisions',
        title: 'Decisions of the interface',
        file: 'interface-decisions.md',
        about: 'What the interface leaves open, and what this service does.',
      },
      {
        name: 'glossary',
        title: 'Glossary',
        file: 'glossary.md',
        about: 'The words of the field, with the Portuguese ones.',
      },
    ],
  },
];

/** Files that guides link to, shown as they are; they stand in no list. */
const SOURCES: readonly Guide[] = ['verify.mjs', 'verify.d.mts', 'verify.py', 'test-vectors.json'].map(
  (name) => ({ name, title: name, file: `webhook-verifier/${name}`, about: '' }),
);

export const GUIDES: readonly Guide[] = [...GUIDE_GROUPS.flatMap(({ guides }) => guides), ...SOURCES];
