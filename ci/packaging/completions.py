"""The completions of bash and zsh, as text."""

BASH = r"""# bash completion for pclscope. Made from `pclscope COMMAND --help`.
_pclscope_options() {  # what a command knows
  case "$1" in
@OPTIONS@
  esac
}

_pclscope_values() {  # COMMAND OPTION: words that may follow; "@file": a file; nothing and status 1: it takes no word
  case "$1 $2" in
@VALUES@
    *) return 1 ;;
  esac
}

_pclscope() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}" values i
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@ help --help --version" -- "$word")
    return
  fi
  for ((i = 2; i < COMP_CWORD; ++i)); do  # behind -- the application's words
    if [ "$command" = run ] && [ "${COMP_WORDS[i]}" = -- ]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
      fi
      return
    fi
  done
  if values=$(_pclscope_values "$command" "$before"); then
    case "$values" in
      @file) mapfile -t COMPREPLY < <(compgen -f -- "$word"); compopt -o filenames 2>/dev/null ;;
      *) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word") ;;
    esac
    return
  fi
  case "$command:$word" in
    help:*) mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@" -- "$word") ;;
    *:-*) mapfile -t COMPREPLY < <(compgen -W "$(_pclscope_options "$command")" -- "$word") ;;
    *)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      compopt -o filenames 2>/dev/null
      if [ "$command" = inspect ] && [ "$COMP_CWORD" -gt 2 ]; then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "@TOPICS@" -- "$word")
      fi ;;
  esac
}
complete -F _pclscope pclscope
"""

ZSH = """#compdef pclscope
# Made from `pclscope COMMAND --help`.
local -a commands
commands=(
@COMMANDS@
)
if (( CURRENT == 2 )); then
  _describe 'command' commands
  return
fi
local command=$words[2]
shift words
(( CURRENT-- ))
case $command in
@CASES@
  help) _describe 'command' commands ;;
esac
"""


def bash(commands):
    options, values = [], []
    for name, said in commands.help.items():
        names = [word for option in said.options for word in option.names]
        options.append(f'    {name}) echo "{" ".join(names)}" ;;')
        for option in said.options:
            if not option.value:
                continue
            pattern = " | ".join(f'"{name} {word}"' for word in option.names)
            words = option.choices()
            told = "@file" if option.takes_file() else " ".join(words)
            values.append(f'    {pattern}) echo "{told}" ;;')
    text = BASH.replace("@OPTIONS@", "\n".join(options)).replace("@VALUES@", "\n".join(values))
    return text.replace("@COMMANDS@", " ".join(commands.summaries)).replace("@TOPICS@", " ".join(commands.topics))


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def described(text):
    """As _arguments takes it: between brackets, without any of its own."""
    return text.replace("\\", "").replace("[", "(").replace("]", ")").replace(":", "\\:")


def zsh(commands):
    listed = "\n".join(f"  {quoted(name + ':' + summary.replace(':', ''))}"
                       for name, summary in commands.summaries.items())
    cases = []
    for name, said in commands.help.items():
        lines = [f"  {name}) _arguments -S \\"]
        for option in said.options:
            value = ""
            if option.value:
                words = option.choices()
                action = "_files" if option.takes_file() else f"({' '.join(words)})" if words else " "
                value = f":value:{action}"
            for word in option.names:
                lines.append(f"    {quoted(word + '[' + described(option.text) + ']' + value)} \\")
        topics = f"'1:dump or job:_files' '2:topic:({' '.join(commands.topics)})'"
        words = {"run": "'*::application:_normal'", "inspect": topics}
        lines.append(f"    {words.get(name, chr(39) + '*:file:_files' + chr(39))} ;;")
        cases.append("\n".join(lines))
    return ZSH.replace("@COMMANDS@", listed).replace("@CASES@", "\n".join(cases))
