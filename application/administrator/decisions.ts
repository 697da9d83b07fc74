import type { LoanCommand } from '../../domain/loan/commands.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import type { StoredFormats } from '../ports/stored-formats.ts';
import type { CommandHandler, CommandRequest, Handled } from '../command-handling/command-handler.ts';

/** A decision of the fund's administrator on one operation. */
export interface Decision {
  readonly stream: string;
  readonly applicationId: string;
  /** Names the decision in the events' metadata. */
  readonly decisionId: string;
  /** What it answers to: the event that asked for it, where there is one. */
  readonly causationId?: string;
  /** Present for decisions from outside, whose ids are used up like the keys of requests. */
  readonly idempotency?: NonNullable<CommandRequest['idempotency']>;
  /** Undefined where the state of the operation leaves nothing to decide. */
  readonly command: (state: LoanState) => LoanCommand | undefined;
}

/** Carries out decisions. One that is already carried out changes nothing. */
export class AdministratorDecisions {
  readonly #commands: CommandHandler;
  readonly #formats: Pick<StoredFormats, 'forEarlierRelease'>;

  constructor(commands: CommandHandler, formats: Pick<StoredFormats, 'forEarlierRelease'>) {
    this.#commands = commands;
    this.#formats = formats;
  }

  /** @throws DomainError when the operation's state does not allow it, or its id was used for something else */
  async carryOut(decision: Decision): Promise<Handled> {
    const { causationId, idempotency } = decision;
    const earlier = await this.#formats.forEarlierRelease();
    return this.#commands.handle({
      stream: decision.stream,
      applicationId: decision.applicationId,
      actor: 'administrator',
      correlationId: decision.decisionId,
      ...(causationId !== undefined && { causationId }),
      ...(idempotency && { idempotency }),
      decide: (state) => {
        const command = decision.command(state);
        return command ? loanDecider.decide(earlier ? asBefore(command) : command, state) : [];
      },
    });
  }
}

/** By the rules of release 2026.11.1, whose processes would go on by them with what is decided here. */
const asBefore = (command: LoanCommand): LoanCommand => {
  if (command.type === 'DisburseLoan') return { ...command, exitBasis: 'acquisition_value' };
  if (command.type === 'RejectLoan') return { ...command, onlyBeforeApproval: true };
  return command;
};
