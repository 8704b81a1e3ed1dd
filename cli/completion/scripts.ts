/*
 * The completion scripts for the shells. They call the installed program for completions, so they
 * support its current commands and options.
 */

/** The word that triggers completion, and the command that computes it. */
type Called = { word: 'memory' | 'npx'; program: string };

/** With npx, only `npx memory …` is completed, and --no keeps Tab from installing a package. */
const calledBy = {
  memory: { word: 'memory', program: 'memory' },
  'npx memory': { word: 'npx', program: 'npx --no -- memory' },
} satisfies Record<string, Called>;

export type Shell = 'bash' | 'zsh' | 'fish' | 'powershell';
export const shells: Shell[] = ['bash', 'zsh', 'fish', 'powershell'];

export function scriptFor(shell: Shell, name: keyof typeof calledBy): string {
  return scripts[shell](calledBy[name]);
}

const scripts: Record<Shell, (called: Called) => string> = {
  bash: ({ word, program }) => `_${word}_of_memory() {
  local answer value line=\${COMP_LINE:0:COMP_POINT}
  COMPREPLY=()
  ${word === 'npx' ? "[[ $line == *'npx memory '* ]] || return\n  " : ''}\
answer=$(${program} completion --line "$line" 2>/dev/null </dev/null)
  if [[ $answer == :files ]]; then
    compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
    return
  fi
  while IFS=$'\\t' read -r value _; do
    # Bash treats the text before = as a separate word.
    [[ $COMP_WORDBREAKS == *=* ]] && value=\${value#--*=}
    [[ -n $value ]] && COMPREPLY+=("$value")
  done <<<"$answer"
}
complete ${word === 'npx' ? '-o default ' : ''}-F _${word}_of_memory ${word}`,

  zsh: ({ word, program }) => `#compdef ${word}
_${word}_of_memory() {
  ${word === 'npx' ? '[[ $words[2] == memory ]] || { _default; return }\n  ' : ''}\
local one
  local -a answer found
  answer=("\${(@f)$(${program} completion --line \\
    "\${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null </dev/null)}")
  if [[ $answer[1] == :files ]]; then
    compset -P '--*='
    _files
    return
  fi
  for one in \${answer:#}; do
    found+=("\${\${one//:/\\\\:}/$'\\t'/:}")
  done
  (( $#found )) && _describe memory found
}
if [[ $funcstack[1] == _${word} ]]; then
  # Autoloaded from $fpath, where this file is the body of the function.
  _${word}_of_memory
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _${word}_of_memory ${word}
fi`,

  fish: ({ word, program }) => `function __${word}_of_memory
    set -l line (commandline -cp | string collect)
    set -l answer (${program} completion --line "$line" 2>/dev/null </dev/null)
    if test "$answer[1]" = :files
        set -l typed (commandline -ct)
        set -l flag (string match -r -- '^--[^=]+=' "$typed")
        for path in (__fish_complete_path (string replace -r -- '^--[^=]+=' '' "$typed"))
            echo -- "$flag$path"
        end
    else
        string join -- \\n $answer
    end
end
${
  word === 'npx'
    ? `complete -c npx -n 'string match -q -- "*npx memory *" (commandline -cp)'`
    : 'complete -c memory'
} -f -a '(__${word}_of_memory)'`,

  powershell: ({
    word,
    program,
  }) => `Register-ArgumentCompleter -Native -CommandName ${word} -ScriptBlock {
    param($typed, $command, $cursor)
    $length = $cursor - $command.Extent.StartOffset
    $line = $command.ToString().PadRight($length).Substring(0, $length).Replace('"', "'")
    ${word === 'npx' ? "if ($line -notmatch '^npx memory ') { return }\n    " : ''}\
$answer = @(${program} completion --line $line 2>$null)
    # Without output, PowerShell completes file names; an empty string prevents that.
    if ($answer.Count -eq 0) { return '' }
    if ($answer[0] -eq ':files') { return }
    $answer | ForEach-Object {
        $value, $description = $_ -split "\`t", 2
        if (-not $description) { $description = $value }
        [System.Management.Automation.CompletionResult]::new(
            $value, $value, 'ParameterValue', $description)
    }
}`,
};
