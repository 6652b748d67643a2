#!/usr/bin/env python3
"""Writes the man page and the completions of bash and zsh, from the tables that `sous help --markdown` prints.

    tools/installed_docs.py --sous build/sous --prefix /usr/local

`cmake --install` calls it. What the program's tables say is said nowhere else.
"""
import argparse
import pathlib
import re
import subprocess


class Tables:
    """Commands (name, usage, summary, details), options and variables (name, meaning) of the program."""

    def __init__(self, page):
        self.commands, self.options, self.variables = [], [], []
        self.introduction = []
        section = None
        for part in re.split(r"^## ", page, flags=re.M)[1:]:
            title, _, body = part.partition("\n")
            if title in ("Options", "Environment"):
                rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", body, flags=re.M)
                rows = [(name.replace("\\|", "|"), meaning.replace("`", "")) for name, meaning in rows]
                (self.options if title == "Options" else self.variables).extend(rows)
            elif title.startswith("sous "):
                usage = re.search(r"^    (sous .*)$", body, flags=re.M).group(1)
                details = re.search(r"^```\n(.*?)```$", body, flags=re.M | re.S).group(1)
                summary = body[body.index(usage) + len(usage):body.index("```")].strip()
                self.commands.append((title[5:], usage, summary, details))
        assert self.commands and self.options and self.variables, "the page is not what it was"


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def man_page(tables, version):
    out = [f'.TH SOUS 1 "" "sous {version}" "User commands"',
           ".SH NAME", "sous \\- a source\\-to\\-source optimizing compiler that remembers",
           ".SH SYNOPSIS", ".B sous", "[options] compiler arguments", ".br", ".B sous", "command [options]",
           ".SH DESCRIPTION",
           "Runs the compiler with the hot loop nests of C inputs at \\-O2 and above served by recipes of a tuning",
           "database. Whatever it does not understand passes through to the compiler untouched.",
           ".PP", "As a launcher: make CC=\"sous clang\\-19\", or cmake \\-DCMAKE_C_COMPILER_LAUNCHER=sous",
           "\\-DCMAKE_C_LINKER_LAUNCHER=sous.",
           ".SH COMMANDS"]
    for _, usage, summary, details in tables.commands:
        out += [".TP", f".B {roff(usage)}", roff(summary) + ".", ".nf", roff(details.rstrip("\n")), ".fi"]
    for title, rows in (("OPTIONS", tables.options), ("ENVIRONMENT", tables.variables)):
        out.append(f".SH {title}")
        for name, meaning in rows:
            out += [".TP", f".B {roff(name)}", roff(meaning)]
    out += [".SH EXIT STATUS", "The compiler's, as a launcher; otherwise 0, 1 for an error, 2 for a wrong command line.",
            ".SH SEE ALSO", "sous help \\fIcommand\\fR, sous help \\fIstep\\fR"]
    return "\n".join(out) + "\n"


def option_names(tables):
    return [name.split()[0] for name, _ in tables.options]


def bash_completion(tables):
    commands = " ".join(name for name, *_ in tables.commands)
    return f"""# bash completion for sous; written by tools/installed_docs.py
_sous() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} k=1
  while [ $k -lt "$COMP_CWORD" ] && [[ ${{COMP_WORDS[k]}} == -* ]]; do k=$((k + 1)); done
  local options="{" ".join(option_names(tables))}"
  if [ $k -lt "$COMP_CWORD" ] && ! [[ " {commands} " == *" ${{COMP_WORDS[k]}} "* ]]; then
    # Behind a compiler's name its own completion goes on.
    if declare -F _command_offset > /dev/null; then _command_offset $k; return; fi
  fi
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  elif [ $k -eq "$COMP_CWORD" ]; then
    mapfile -t COMPREPLY < <(compgen -W "{commands}" -- "$word"; compgen -c -- "$word" | grep -E '^(clang|gcc|cc)')
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -o filenames -F _sous sous
"""


def zsh_completion(tables):
    def quoted(text):
        return text.replace("'", "'\\''").replace(":", "\\:").replace("[", "\\[").replace("]", "\\]")

    commands = "\n".join(f"    '{name}:{quoted(summary)}'" for name, _, summary, _ in tables.commands)
    options = "\n".join(
        f"    '{name.split()[0]}[{quoted(meaning)}]{':' + quoted(name.split()[1]) + ':_files' if ' ' in name else ''}'"
        for name, meaning in tables.options)
    return f"""#compdef sous
# zsh completion for sous; written by tools/installed_docs.py
_sous() {{
  local -a commands options
  commands=(
{commands}
  )
  options=(
{options}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe -t commands 'sous command' commands
    _command_names -e
  else
    _arguments -s $options '*::file:_files'
  fi
}}
_sous "$@"
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", required=True)
    parser.add_argument("--prefix", required=True, type=pathlib.Path)
    parser.add_argument("--version", default="")
    options = parser.parse_args()
    tables = Tables(subprocess.run([options.sous, "help", "--markdown"], check=True, capture_output=True,
                                   text=True).stdout)
    for place, text in (("share/man/man1/sous.1", man_page(tables, options.version)),
                        ("share/bash-completion/completions/sous", bash_completion(tables)),
                        ("share/zsh/vendor-completions/_sous", zsh_completion(tables))):
        path = options.prefix / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"-- Installing: {path}")


if __name__ == "__main__":
    main()
