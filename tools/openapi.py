"""docs/openapi.yaml: the bodies that server/openapi.yaml describes, and of each route what the server's own table says.

What a route is for, which token it wants and with which refusals it may answer are in the table (`sous serve --routes`);
parameters, bodies and answers of its own are written by hand. A route that only one of them knows is an error.
"""
import json
import re

REFUSALS = {400: "Refusal", 401: "NoToken", 403: "Refusal", 405: "Refusal", 413: "Refusal", 415: "Refusal", 429: "TooMuch",
            500: "Refusal", 503: "Busy"}


def refusals(route):
    codes = {405, 503}
    if route["method"] == "POST":
        codes |= {400, 413, 415}
    if route["who"] != "everyone":
        codes |= {401, 403, 500}
    if route["limited"]:
        codes.add(429)
    return codes


def made_of(template, routes):
    lines = template.splitlines()
    paths, components = lines.index("paths:"), lines.index("components:")
    known = {(route["method"], route["path"]): route for route in routes}
    out, described, path, k = lines[:paths + 1], set(), None, paths + 1
    while k < components:
        line = lines[k]
        k += 1
        out.append(line)
        if match := re.fullmatch(r"  (/\S*):", line):
            path = match[1]
        if not (match := re.fullmatch(r"    (get|post):", line)):
            continue
        key = (match[1].upper(), path)
        if key not in known:
            raise SystemExit(f"server/openapi.yaml describes {' '.join(key)}, which the server does not have")
        described.add(key)
        route = known[key]
        out.append(f"      summary: {route['summary']}")
        if route["who"] == "scope":
            out += [f"      x-scope: {route['scope']}", "      security: [{token: []}]"]
        body = []
        while k < components and re.match(r"      ", lines[k]):
            body.append(lines[k])
            k += 1
        at = body.index("      responses:")
        out += body[:at + 1]
        answers, code = {}, None
        for one in body[at + 1:]:
            if match := re.match(r'        "(\d+)":', one):
                code = int(match[1])
                answers[code] = []
            answers[code].append(one)
        for code in refusals(route):
            answers.setdefault(code, [f'        "{code}": {{$ref: "#/components/responses/{REFUSALS[code]}"}}'])
        for code in sorted(answers):
            out += answers[code]
    missing = set(known) - described
    if missing:
        raise SystemExit(f"server/openapi.yaml describes nothing for {sorted(missing)}")
    head = ["# Made by ./x docs of server/openapi.yaml and the server's table of routes."]
    return "\n".join(head + out + lines[components:]) + "\n"


def page(template, said):
    return made_of(template, json.loads(said))
