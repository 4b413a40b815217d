// The scripts of the shells. Each asks the program what a command could go on with, so they know nothing of verbs and options.

extension Completions {
  /// `completions SHELL`: prints the script for a shell.
  static func printScript(
    _ command: Command, _ surroundings: CommandEnvironment
  ) throws(CommandFailure) -> CommandFailure.Status {
    try writeOutput(script(command["SHELL"]).utf8)
    return .done
  }

  private static func script(_ shell: String) -> String {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    default: fish
    }
  }

  private static let bash = #"""
    # Completions of decent-notes for bash: source <(decent-notes completions bash)
    _decent_notes() {
      local line=${COMP_LINE:0:COMP_POINT} program=$1
      local -a found
      [[ $program == '~/'* ]] && program=$HOME/${program:2}
      mapfile -t found < <("$program" complete bash -- "$line" "$2" 2>/dev/null)
      COMPREPLY=()
      case ${found[0]} in
        files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
        folders) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
        words)
          local word
          for word in "${found[@]:1}"; do
            [[ $word == "$2"* ]] && COMPREPLY+=("$word")
          done ;;
      esac
    }
    complete -F _decent_notes decent-notes

    """#

  private static let zsh = #"""
    #compdef decent-notes
    # Completions of decent-notes for zsh: source <(decent-notes completions zsh), behind compinit;
    # or as a file _decent-notes in a folder of $fpath.
    _decent-notes() {
      local -a found names shown
      local entry program=${(Q)words[1]}
      [[ $program == '~/'* ]] && program=$HOME/${program[3,-1]}
      found=("${(@f)$("$program" complete zsh -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
      case $found[1] in
        files) compset -P '--*='; _files ;;
        folders) compset -P '--*='; _files -/ ;;
        words)
          for entry in "${(@)found[2,-1]}"; do
            names+=("${entry%%$'\t'*}")
            if [[ $entry == *$'\t' ]]; then
              shown+=("${entry%$'\t'}")
            else
              shown+=("${entry/$'\t'/  -- }")
            fi
          done
          (( $#names )) && compadd -l -d shown -a names ;;
      esac
    }
    if [[ $funcstack[1] == _decent-notes ]]; then
      _decent-notes "$@"
    else
      compdef _decent-notes decent-notes
    fi

    """#

  private static let fish = #"""
    # Completions of decent-notes for fish: decent-notes completions fish | source
    function __decent_notes_complete
        set -l words (commandline -opc)
        set -l written (commandline -ct)
        # What a quote has begun is not ended yet.
        set -l current (string unescape -- "$written"; or string replace -r '^["\']' '' -- "$written")
        set -l found (command $words[1] complete fish -- $words "$current" 2>/dev/null)
        switch "$found[1]"
            case files
                __fish_complete_path "$current"
            case folders
                __fish_complete_directories "$current"
            case words
                string match -v -- '' $found[2..]
        end
    end
    complete -c decent-notes -f -a '(__decent_notes_complete)'

    """#
}
