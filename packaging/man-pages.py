#!/usr/bin/env python3
"""man-pages.py FOLDER VERSION DATE < HELP: a manual page for tactus and one for each command, from what
`tactus --experimental-dump-help` says."""

import json
import pathlib
import re
import sys


def roff(text: str) -> str:
    """Text as roff's own: no character of it is an instruction."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.splitlines())


def option(argument: dict) -> str:
    """`-c, --config FILE`"""
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument.get("names") or []]
    value = argument.get("valueName") or ""
    if argument["kind"] == "positional":
        return f"\\fI{roff(value)}\\fR"
    text = ", ".join(f"\\fB{roff(name)}\\fR" for name in sorted(names, key=len))
    return text if argument["kind"] == "flag" else f"{text} \\fI{roff(value)}\\fR"


def synopsis(path: list[str], command: dict) -> str:
    words = [f".B {roff(' '.join(path))}"]
    for argument in arguments(command):
        name = argument.get("preferredName")
        if name and name["name"] in ("help", "version"):
            continue
        text = option({**argument, "names": [name] if name else []})
        words.append(f"[{text}]" if argument["isOptional"] else text)
    if visible(command):
        words.append("\\fICOMMAND\\fR")
    return "\n".join(words)


def arguments(command: dict) -> list[dict]:
    return [argument for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]


def visible(command: dict) -> list[dict]:
    return [each for each in command.get("subcommands", []) if each.get("shouldDisplay", True) and each["commandName"] != "help"]


def page(path: list[str], command: dict, version: str, date: str) -> str:
    name = "-".join(path)
    lines = [f'.TH "{name.upper()}" 1 "{date}" "tactus {version}" "User Commands"', ".SH NAME"]
    lines.append(f"{roff(name)} \\- {roff(command['abstract'].rstrip('.'))}")
    lines += [".SH SYNOPSIS", synopsis(path, command), ".SH DESCRIPTION", roff(command["abstract"])]
    if command.get("discussion"):
        lines += [".PP", re.sub(r"\n+", "\n.br\n", roff(command["discussion"]))]
    if visible(command):
        lines.append(".SH COMMANDS")
        for each in visible(command):
            lines += [".TP", f".BR {roff(name + '-' + each['commandName'])} (1)", roff(each["abstract"])]
    if arguments(command):
        lines.append(".SH OPTIONS")
        for argument in arguments(command):
            told = argument.get("abstract", "")
            if argument.get("discussion"):
                told += " " + argument["discussion"]
            if argument.get("allValues"):
                told += f" One of {', '.join(argument['allValues'])}."
            if argument.get("defaultValue"):
                told += f" Default: {argument['defaultValue']}."
            lines += [".TP", option(argument), roff(told.strip())]
    if path == ["tactus"]:
        lines += [".SH FILES", ".TP", ".I /etc/tactus/tactus.yaml", "What the service runs.",
                  ".TP", ".I /etc/tactus/environment", "Secrets of the service, as NAME=value. Need not be there.",
                  ".TP", ".I /var/lib/tactus", "Its store, tokens and certificate.",
                  ".TP", ".I /run/tactus/safe\\-state", "What stops its actuators when it is gone."]
    else:
        lines += [".SH SEE ALSO", f".BR {roff('-'.join(path[:-1]))} (1)"]
    return "\n".join(lines) + "\n"


def write(path: list[str], command: dict) -> None:
    (folder / f"{'-'.join(path)}.1").write_text(page(path, command, version, date))
    for each in visible(command):
        write([*path, each["commandName"]], each)


folder, version, date = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
folder.mkdir(parents=True, exist_ok=True)
write(["tactus"], json.load(sys.stdin)["command"])
