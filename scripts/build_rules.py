"""Compile the paraphrase grammar: grammar/paraphrases/*.txt into grammar/paraphrases.idx, which is loaded in
milliseconds.

python scripts/build_rules.py
"""

from __future__ import annotations

from forestalign.grammar import grammar_root
from forestalign.meaning.rules import COMPILED, compiled_bytes, read_rules, shipped_rule_files


def main() -> None:
    rules = [rule for path in shipped_rule_files() for rule in read_rules(path)]
    (grammar_root() / COMPILED).write_bytes(compiled_bytes(rules))
    print(f"{len(rules):,} lines, {sum(len(rule.expressions) for rule in rules):,} expressions")


if __name__ == "__main__":
    main()
