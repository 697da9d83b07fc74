import type { DeskSessions } from './sessions.ts';
import { SignIn } from './sign-in.ts';

interface Dependencies {
  readonly sessions: DeskSessions;
}

/** The people at the fund's desk. */
export class Desk {
  readonly sessions: DeskSessions;

  constructor({ sessions }: Dependencies) {
    this.sessions = sessions;
  }

  signIn(by: Omit<ConstructorParameters<typeof SignIn>[0], 'sessions'>): SignIn {
    return new SignIn({ ...by, sessions: this.sessions });
  }
}
