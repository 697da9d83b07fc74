import { Argument } from 'commander';
import type { Command } from 'commander';
import type { CliCommand } from './cli-command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface Node {
  readonly path: string;
  readonly description: string;
  readonly words: readonly { readonly word: string; readonly description: string }[];
}

const INSTALL: Readonly<Record<Shell, string>> = {
  bash: 'source <(receivables completion bash)',
  zsh: 'source <(receivables completion zsh)',
  fish: 'receivables completion fish | source',
};

/** `completion`: the words of every command, written down once, so that completing starts no process. */
export const addCompletionCommand = (program: CliCommand): void => {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'whose').choices(SHELLS))
    .told(
      'For the start file of the shell, with `receivables` as an alias of npm run --silent receivables --:\n' +
        `${SHELLS.map((shell) => `  ${INSTALL[shell]}`).join('\n')}`,
      'completion bash',
    )
    .action(async (shell: Shell) => {
      await program.dependencies.write(SCRIPTS[shell](nodesOf(program)));
    });
};

const nodesOf = (command: Command, path: readonly string[] = []): readonly Node[] => {
  const help = command.createHelp();
  const children = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  const options = help.visibleOptions(command).map((option) => ({
    word: option.long ?? option.short ?? '',
    description: option.description,
  }));
  const commands = children.map((child) => ({ word: child.name(), description: child.description() }));
  const own = { path: path.join(' '), description: command.description(), words: [...commands, ...options] };
  return [own, ...children.flatMap((child) => nodesOf(child, [...path, child.name()]))];
};

const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`;
const wordsOf = ({ words }: Node): string => words.map(({ word }) => word).join(' ');

/** Words of the line that are commands lead to the list of what may follow. zsh runs it too, so no variable is called `path` there. */
const bash = (nodes: readonly Node[]): string => `_receivables() {
  local at="" word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$word" in -*) ;; *) case "\${at:+$at }$word" in
${nodes.flatMap(({ path }) => (path === '' ? [] : [`      ${quoted(path)}) at=${quoted(path)} ;;`])).join('\n')}
    esac ;; esac
  done
  case "$at" in
${nodes.map((node) => `    ${quoted(node.path)}) COMPREPLY=($(compgen -W ${quoted(wordsOf(node))} -- "\${COMP_WORDS[COMP_CWORD]}")) ;;`).join('\n')}
  esac
}
complete -o default -F _receivables receivables
`;

const zsh = (nodes: readonly Node[]): string => `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bash(nodes)}`;

const fish = (nodes: readonly Node[]): string => {
  const lines = nodes.flatMap(({ path, words }) =>
    words.map(({ word, description }) => {
      const flag = word.startsWith('--')
        ? `-l ${word.slice(2)}`
        : word.startsWith('-')
          ? `-s ${word.slice(1)}`
          : `-a ${quoted(word)}`;
      return `complete -c receivables -n ${quoted(`__receivables_at "${path}"`)} ${flag} -d ${quoted(description)}`;
    }),
  );
  return `function __receivables_at
  set -l words (string match -v -- '-*' (commandline -opc)[2..])
  set -l at ""
  for word in $words
    set -l next (string trim "$at $word")
    contains -- "$next" ${nodes.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' ')}; and set at "$next"
  end
  test "$at" = "$argv[1]"
end
complete -c receivables -f
${lines.join('\n')}
`;
};

const SCRIPTS: Readonly<Record<Shell, (nodes: readonly Node[]) => string>> = { bash, zsh, fish };
