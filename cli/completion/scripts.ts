/*
 * The completion scripts for the shells. They call the installed program for completions, so they
 * support its current commands and options.
 */

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const scripts: Record<(typeof shells)[number], string> = {
  bash: `_memory() {
  local answer value line=\${COMP_LINE:0:COMP_POINT}
  COMPREPLY=()
  answer=$(memory completion --line "$line" 2>/dev/null </dev/null)
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
complete -F _memory memory`,

  zsh: `#compdef memory
_memory() {
  local one
  local -a answer found
  answer=("\${(@f)$(memory completion --line \\
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
if [[ $funcstack[1] == _memory ]]; then
  # Autoloaded from $fpath, where this file is the body of the function.
  _memory
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _memory memory
fi`,

  fish: `function __memory_completions
    set -l line (commandline -cp | string collect)
    set -l answer (memory completion --line "$line" 2>/dev/null </dev/null)
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
complete -c memory -f -a '(__memory_completions)'`,

  powershell: `Register-ArgumentCompleter -Native -CommandName memory -ScriptBlock {
    param($typed, $command, $cursor)
    $length = $cursor - $command.Extent.StartOffset
    $line = $command.ToString().PadRight($length).Substring(0, $length).Replace('"', "'")
    $answer = @(memory completion --line $line 2>$null)
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
