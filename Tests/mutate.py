#!/usr/bin/env python3
"""Wrong versions of the program, on purpose: does a test notice each of them?

    Tests/mutate.py FOLDER [PATTERN]

makes a clone of this project in FOLDER (or takes the one that is there), puts the mutations of Tests/mutations.txt into it, all or
those whose text has PATTERN, and runs the tests that are nearest to each. Prints found, survived or timed out. The status is 1 if
one has survived, or does not fit its file any more.

Those of Swift are built together, once: each stands beside the right code, and an environment variable chooses.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

LIST = pathlib.Path(__file__).with_name("mutations.txt")
LONGEST = int(os.environ.get("DECENT_NOTES_MUTANT_TIME", "400"))  # seconds for the tests of one
SWITCH = """\
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif
private let mutant: Int32 = getenv("DECENT_NOTES_MUTANT").map { atoi($0) } ?? 0
@inline(never) func isMutant(_ number: Int32) -> Bool { mutant == number }
"""


class Mutation:
    def __init__(self, number, lines):
        self.number = number
        part = {mark: [] for mark in "@?-+~"}
        for line in lines:
            part[line[0]].append(line[2:])
        self.file, self.filter = part["@"][0], part["?"][0]
        self.old, self.new = "\n".join(part["-"]), "\n".join(part["+"])
        self.statement = "\n".join(part["~"])
        self.is_swift = self.file.endswith(".swift")

    @property
    def name(self):
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.number:3} {self.file}: {old} -> {new or ' '.join(self.statement.split()) or 'nothing'}"

    def apply(self, clone):
        path = clone / self.file
        text = path.read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{text.count(self.old)} places fit")
        new = self.new
        if self.statement:
            new = f"if isMutant({self.number}) {{ {self.statement} }} else {{ {self.old} }}"
        elif self.is_swift and new:
            new = f"(isMutant({self.number}) ? ({self.new}) : ({self.old}))"
        elif self.is_swift:
            new = f"if !isMutant({self.number}) {{ {self.old} }}"
        path.write_text(text.replace(self.old, new))

    def revert(self, clone):
        subprocess.run(["git", "-C", clone, "checkout", "-q", "--", self.file], check=True)


def mutations(pattern):
    blocks, lines = [], []
    for line in LIST.read_text().splitlines() + [""]:
        if line.strip() and not line.startswith("#"):
            lines.append(line)
        elif lines and not line.strip():
            blocks.append(lines)
            lines = []
    all_of_them = [Mutation(number, lines) for number, lines in enumerate(blocks, 1)]
    return [one for one in all_of_them if re.search(pattern, one.name)]


def run(words, clone, number=0, seconds=None):
    """The status of a program, None if it took too long."""
    variables = {**os.environ, "DECENT_NOTES_MUTANT": str(number)}
    process = subprocess.Popen(words, cwd=clone, env=variables, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        # All of the session: `swift test` gives the tests a process group of their own.
        subprocess.run(["pkill", "-KILL", "-s", str(process.pid)])
        process.communicate()
        return None, b""
    return process.returncode, output


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    clone = pathlib.Path(sys.argv[1]).resolve()
    chosen = mutations(sys.argv[2] if len(sys.argv) > 2 else "")
    if not clone.exists():
        subprocess.run(["git", "clone", "-q", LIST.parent.parent, clone], check=True)
    subprocess.run(["git", "-C", clone, "checkout", "-q", "--", "."], check=True)
    results = {}
    swift = []
    for one in chosen:
        if not one.is_swift:
            continue
        try:
            one.apply(clone)
            swift.append(one)
        except ValueError as error:
            results[one] = f"does not fit: {error}"
    for folder in {clone / pathlib.Path(*pathlib.Path(one.file).parts[:2]) for one in swift}:
        (folder / "Mutants.swift").write_text(SWITCH)
    status, output = run(["swift", "build", "--ignore-lock", "--build-tests"], clone)
    if status != 0:
        sys.exit(output.decode(errors="replace")[-5000:])

    def tests(one):
        start = time.monotonic()
        status, output = run(["swift", "test", "--ignore-lock", "--skip-build", "--filter", one.filter],
                             clone, one.number if one.is_swift else 0, LONGEST)
        if not re.search(rb"Test run with [1-9]", output) and status == 0:
            result = "no test ran"
        elif status is None:
            result = "timed out"
        else:
            result = "survived" if status == 0 else "found"
        results[one] = result
        print(f"{result:10} {time.monotonic() - start:4.0f} s {one.name}", flush=True)

    for one in swift:
        tests(one)
    for one in chosen:
        if one.is_swift:
            continue
        try:
            one.apply(clone)
        except ValueError as error:
            results[one] = f"does not fit: {error}"
            continue
        tests(one)
        one.revert(clone)
    subprocess.run(["git", "-C", clone, "checkout", "-q", "--", "."], check=True)
    bad = [one for one, result in results.items() if result not in ("found", "timed out")]
    print(f"{len(results) - len(bad)} of {len(results)} found")
    for one in bad:
        print(f"{results[one]}: {one.name}")
    sys.exit(1 if bad else 0)


main()
