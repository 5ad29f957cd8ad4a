// rankscope completion bash|zsh|fish: the script is made from the same tables of commands and flags
// with which the program parses, so that they always agree.
#include "cli/command.h"
#include "cli/help.h"
#include "model/gpu_arch.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

/// Returns the options that --help shows.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

/// Returns the values that the shell offers for an option.
std::vector<std::string> offered_values(const CLI::Option& option) {
  if (!option.check_lname("gpu-arch"))
    return values_of(option);
  std::vector<std::string> out = builtin_gpu_archs();
  out.emplace_back("none");
  return out;
}

std::string bash_script(const CLI::App& root) {
  std::string names;
  std::string cases;
  std::string values;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    names += sub->get_name() + " ";
    std::string words = fmt::format("{}", fmt::join(flags_of(*sub), " "));
    for (const CLI::App* inner : sub->get_subcommands([](const CLI::App*) { return true; }))
      words += " " + inner->get_name();
    cases += fmt::format("    {}) words=\"{}\" ;;\n", sub->get_name(), words);
    for (const CLI::Option* option : options_of(*sub))
      if (const auto list = offered_values(*option); !list.empty()) {
        const std::string reply =
            fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))", fmt::join(list, " "));
        for (const std::string& name : option->get_lnames())
          values += fmt::format("    {}:--{}) {}; return ;;\n", sub->get_name(), name, reply);
        if (option->get_positional()) // the word after the command
          values += fmt::format("    {0}:{0}) {1}; [[ \"$current\" == -* ]] || return ;;\n",
                                sub->get_name(), reply);
      }
  }
  std::vector<std::string> with_value; // flags of all commands, before the command
  for (const CLI::Option* option : options_of(root))
    if (option->get_items_expected_min() > 0) {
      for (const std::string& name : option->get_snames())
        with_value.push_back("-" + name);
      for (const std::string& name : option->get_lnames())
        with_value.push_back("--" + name);
    }
  return fmt::format(R"(_rankscope_words() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command="" word words="" before=""
  for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD - 1))}}"; do
    case "$before" in {}) before=""; continue ;; esac
    case "$word" in -*) before=$word ;; *) command=$word; break ;; esac
  done
  case "$command:${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  case "$command" in
{}    "") words="{}" ;;
  esac
  words="$words {}"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ "$current" == -* || -z "$command" ]] || while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(compgen -f -- "$current")
}}
complete -o filenames -F _rankscope_words rankscope
)",
                     fmt::join(with_value, "|"), values, cases, names,
                     fmt::join(flags_of(root), " "));
}

std::string fish_script(const CLI::App& root) {
  std::string out;
  const auto quoted = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    out += fmt::format("complete -c rankscope -n __fish_use_subcommand -a {} -d '{}'\n",
                       sub->get_name(), quoted(sub->get_description()));
    for (const CLI::Option* option : options_of(*sub)) {
      const std::vector<std::string> list = offered_values(*option);
      if (option->get_positional() && !list.empty())
        out += fmt::format("complete -c rankscope -n '__fish_seen_subcommand_from {0}; and not "
                           "__fish_seen_subcommand_from {1}' -a '{1}'\n",
                           sub->get_name(), fmt::join(list, " "));
      for (const std::string& name : option->get_lnames())
        out += fmt::format(
            "complete -c rankscope -n '__fish_seen_subcommand_from {}' -l {} -d '{}'{}\n",
            sub->get_name(), name, quoted(option->get_description()),
            list.empty() ? "" : fmt::format(" -x -a '{}'", fmt::join(list, " ")));
    }
  }
  return out;
}

Action setup_completion(FlagSet& app) {
  auto shell = std::make_shared<std::string>("bash");
  app.add_option("shell", *shell, "bash, zsh or fish")
      .one_of({"bash", "zsh", "fish"})
      .capture_default_str();
  CLI::App* const self = &app.app();
  return [shell, self](Context& ctx) -> Result<void> {
    const CLI::App& root = *self->get_parent();
    if (*shell == "fish")
      ctx.out(fish_script(root));
    else if (*shell == "zsh")
      // zsh runs bash completions through its own adapter. The file is sourced or found in $fpath;
      // in the latter case the first completion runs the file itself.
      ctx.out("#compdef rankscope\nautoload -U +X bashcompinit && bashcompinit\n" +
              bash_script(root) +
              "[[ -z ${compstate+set} ]] || _bash_complete -o filenames -F _rankscope_words\n");
    else
      ctx.out(bash_script(root));
    return {};
  };
}

} // namespace

const Command completion_command{
    "completion",
    "print a shell completion script",
    "  source <(rankscope completion bash)\n"
    "  rankscope completion fish > ~/.config/fish/completions/rankscope.fish",
    setup_completion,
    false,
    true};

} // namespace rankscope
