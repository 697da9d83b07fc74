import { DomainError } from '../../domain/shared/domain-error.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { KeyedQueue } from '../command-handling/keyed-queue.ts';
import { ENDPOINTS } from '../command-handling/endpoints.ts';
import { loanStream } from '../command-handling/operation.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { BusinessClock } from '../ports/clock.ts';
import { carryingOut, commandOf, fingerprintOf } from './decisions.ts';
import type {
  DecisionDeadLetters,
  AnsweredDecision,
  CarryOut,
  SecondDecision,
  SubmittedDecision,
} from './decisions.ts';
import type { EventStore, KeyClaim } from '../ports/event-store.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { claimOfDecision, idConflict } from '../two-people/decided-stream.ts';
import type { Who } from '../two-people/decided-stream.ts';
import { FirstDecisions } from '../two-people/first-decisions.ts';
import { FundRules } from '../two-people/fund-rules.ts';
import { refused, foundSince } from './answers.ts';
import type { DecisionAnswer, FoundLoan } from './answers.ts';
import { actorNamed } from '../command-handling/actors.ts';
import { Confirmations, answeredAt } from './confirmations.ts';
import { guarded, requirePast } from './decision-guards.ts';
import { readDecision } from './read-decision.ts';
import type { DecisionReading } from './read-decision.ts';
import type { Following } from '../processors/acting.ts';
import { ReceivedDecisions } from './received-decisions.ts';
import { SandboxAdministrator } from './sandbox-administrator.ts';
import { Worklists } from './worklists.ts';

interface Dependencies {
  readonly commands: CommandHandler;
  readonly formats: Pick<StoredFormats, 'forEarlierRelease' | 'forReleaseWithoutDesk'>;
  readonly events: Pick<EventStore, 'findClaim' | 'read' | 'head' | 'append'>;
  readonly pause: (ms: number) => Promise<void>;
  readonly readModel: SqlDatabase;
  readonly clock: BusinessClock;
  /** How far a disbursed value may be from the acquisition value without being said twice, in basis points. */
  readonly disbursementTolerance: number;
  readonly deadLetterFile: (path: string | undefined) => DeadLetterFile;
  readonly onPutAside?: ((reason: string) => void) | undefined;
  readonly sandbox?: (() => Following & { readonly step: number }) | undefined;
}

interface DeadLetterFile extends DecisionDeadLetters {
  readonly path: string;
}

/** Each decision is answered. What may succeed later (a store that is away, a renegotiation under way) is thrown. */
export class Administrator {
  readonly worklists: Worklists;
  readonly disbursementTolerance: number;
  readonly deadLetterFile: Dependencies['deadLetterFile'];
  readonly rules: FundRules;
  readonly confirmations: Confirmations;
  readonly process: ReceivedDecisions['process'];
  readonly #deps: Dependencies;
  readonly #carryOut: CarryOut;
  #sandbox: SandboxAdministrator | undefined;

  constructor(dependencies: Dependencies) {
    const { commands, formats, readModel, disbursementTolerance, deadLetterFile } = dependencies;
    this.worklists = new Worklists(readModel);
    this.disbursementTolerance = disbursementTolerance;
    this.deadLetterFile = deadLetterFile;
    this.#deps = dependencies;
    this.#carryOut = carryingOut(commands, formats);
    this.rules = new FundRules(dependencies);
    this.confirmations = new Confirmations({
      ...dependencies,
      rules: this.rules,
      firstDecisions: new FirstDecisions({ ...dependencies, rules: this.rules }),
      carryOut: this.#carryOut,
      worklists: this.worklists,
    });
    const decide = (texts: readonly string[], who: Who) => this.#ended(texts, who);
    const received = new ReceivedDecisions({ ...dependencies, decide });
    this.process = (...given) => received.process(...given);
  }

  /** Whether what a request wants to be disbursed surely is: the sandbox's administrator of an earlier release would not see it. */
  async disbursesAsAsked(): Promise<boolean> {
    return !(await this.#deps.formats.forReleaseWithoutDesk());
  }

  get sandbox(): SandboxAdministrator | undefined {
    const { sandbox, events, clock } = this.#deps;
    if (!sandbox) return undefined;
    return (this.#sandbox ??= new SandboxAdministrator({
      ...sandbox(),
      carryOut: this.#carryOut,
      events,
      clock,
    }));
  }

  /** As its events leave it, whatever the read models hold, with its changes since it was in this status; undefined when there is none, or it cannot be read. */
  async found(applicationId: string, code: string, since: string): Promise<FoundLoan | undefined> {
    try {
      const { events } = await this.#deps.events.read(loanStream(applicationId, code));
      const { state, changes } = foundSince(since, events);
      return 'schedule' in state ? { loan: state, changes } : undefined;
    } catch (error) {
      if (error instanceof UnreadableEventError) return undefined;
      throw error;
    }
  }

  /** Answers in the order of the texts; where nobody is signed in and a text names nobody, `who.name` decides (default: the administrator). Those on one operation are carried out one after another, others side by side. */
  async submitAll(texts: readonly string[], who: Who = {}): Promise<readonly DecisionAnswer[]> {
    return Promise.all(await this.#ended(texts, who));
  }

  /** All of them have ended before a failure is thrown: nothing goes on while the caller tries again. */
  async #ended(texts: readonly string[], who: Who): Promise<readonly Promise<DecisionAnswer>[]> {
    const inTurn = turnsOfPlaces();
    const readings = texts.map(readDecision);
    const places = await this.#placesOf(readings);
    const answers = readings.map((reading) => {
      if (reading.kind === 'malformed') return Promise.resolve(refused(reading.reason, reading));
      if (reading.kind === 'second') {
        const { second } = reading;
        const place = places.get(second.firstDecisionId) ?? second.firstDecisionId;
        return inTurn(place, () => this.#settleAwaiting(second, whoIn(second, who)));
      }
      const { decision } = reading;
      return inTurn(streamOf(decision), () => this.#submit(decision, whoIn(decision, who)));
    });
    await Promise.allSettled(answers);
    return answers;
  }

  /** Where the first decisions are, so that what is said of one takes its turn among those on its operation: it may come together with it. */
  async #placesOf(readings: readonly DecisionReading[]): Promise<ReadonlyMap<string, string>> {
    const places = new Map<string, string>();
    for (const reading of readings)
      if (reading.kind === 'read') places.set(reading.decision.decisionId, streamOf(reading.decision));
    const lookUp = async (second: SecondDecision): Promise<void> => {
      const place = await this.confirmations.placeOf(second);
      if (place !== undefined) places.set(second.firstDecisionId, place);
    };
    const seconds = readings.flatMap((reading) => (reading.kind === 'second' ? [reading.second] : []));
    await Promise.all(seconds.filter(({ firstDecisionId }) => !places.has(firstDecisionId)).map(lookUp));
    return places;
  }

  #submit(decision: SubmittedDecision, who: Who): Promise<DecisionAnswer> {
    return this.#answering(decision, async () => {
      try {
        return await this.#carriedOut(decision, who);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        // It may be a first decision, given again: what became of it counts, whatever the operation allows by now.
        const answer = await this.confirmations.sentBefore(decision);
        if (answer) return answer;
        throw error;
      }
    });
  }

  async #settleAwaiting(second: SecondDecision, who: Who): Promise<DecisionAnswer> {
    const place = await this.confirmations.placeOf(second);
    const answered = answeredAt(second, place);
    return this.#answering(answered, async () => {
      const isOfRule = place !== undefined && answered.code === null;
      const named = {
        ...answered,
        ...(isOfRule && { fundId: await this.confirmations.fundOf(second, place) }),
      };
      return this.#answering(named, () => this.confirmations.settle(second, { place, named }, who));
    });
  }

  async #carriedOut(decision: SubmittedDecision, who: Who): Promise<DecisionAnswer> {
    requirePast(decision, this.#deps.clock.now());
    const { handled, first } = await this.#decide(decision, who);
    if (first && who.program)
      throw new DomainError(
        'evidence_missing',
        'the fund asks two people for this decision: they decide at the desk',
      );
    if (first) return this.confirmations.decideFirst(decision, first, who);
    const done = handled.events.length === 0;
    if (!handled.replayed && done) await this.#requireUnusedId(decision, who);
    const outcome = done ? 'already_applied' : 'applied';
    return { outcome, decision, status: handled.state.status, ...(handled.replayed && { repeated: true }) };
  }

  async #answering(decision: AnsweredDecision, work: () => Promise<DecisionAnswer>): Promise<DecisionAnswer> {
    const { decisionId } = decision;
    try {
      return await work();
    } catch (error) {
      if (error instanceof DomainError && error.code !== 'concurrent_modification')
        return refused(error, { decisionId, decision });
      // Damaged or newer than this version: no decision on this operation can succeed, those on others can.
      if (error instanceof UnreadableEventError) {
        const reason = { code: 'operation_unreadable', message: error.message, details: [] };
        return refused(reason, { decisionId, decision });
      }
      throw error;
    }
  }

  /** `first`: it needs two people, so that nothing was carried out. */
  async #decide(decision: SubmittedDecision, who: Who) {
    const { applicationId, code, decisionId } = decision;
    const claim = claimOf(decision, who);
    let first: Awaited<ReturnType<Confirmations['neededFor']>>;
    const handled = await this.#carryOut({
      stream: loanStream(applicationId, code),
      applicationId,
      decisionId,
      actor: actorNamed(who.name),
      idempotency: {
        ...{ endpoint: claim.endpoint, key: claim.key, fingerprint: fingerprintOf(decision) },
        claimedIn: claim.applicationId,
      },
      command: () => commandOf(decision, this.#deps.clock.now()),
      check: async (state, decide, revision) => {
        first = undefined;
        const events = await guarded(this.#deps, decision, state, decide);
        if (events.length === 0) return events;
        first = await this.confirmations.neededFor(decision, state, revision);
        return first ? [] : events;
      },
    });
    return { handled, first };
  }

  /** A decision without an effect used nothing up, so its id may belong to another one. */
  async #requireUnusedId(decision: SubmittedDecision, who: Who): Promise<void> {
    const claim = claimOf(decision, who);
    if ((await this.#deps.events.findClaim(claim)) !== undefined) throw idConflict(decision.decisionId);
  }
}

/** One after another at a place, and none behind one that has to be tried again: it would be decided before that. */
const turnsOfPlaces = () => {
  const queue = new KeyedQueue();
  const failures = new Map<string, unknown>();
  return (place: string, decide: () => Promise<DecisionAnswer>): Promise<DecisionAnswer> =>
    queue.run(place, async () => {
      if (failures.has(place)) throw failures.get(place);
      try {
        return await decide();
      } catch (error) {
        failures.set(place, error);
        throw error;
      }
    });
};

const streamOf = ({ applicationId, code }: SubmittedDecision): string => loanStream(applicationId, code);

/** What an application decides for itself in a sandbox has ids of its own: it neither meets nor uses up those of others. */
const claimOf = ({ applicationId, decisionId }: SubmittedDecision, { program }: Who): KeyClaim =>
  program
    ? { applicationId, endpoint: ENDPOINTS.decideInSandbox, key: decisionId }
    : claimOfDecision(decisionId);

/** Who is signed in, whatever the text says; otherwise whom it names. */
const whoIn = ({ operator }: { readonly operator?: string }, { person, name, ...who }: Who): Who =>
  person ? { ...who, person, name: person.name } : { ...who, name: operator ?? name };
