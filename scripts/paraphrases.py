"""Made-up paraphrase pairs of any length, for benchmarks: clauses from a small grammar, said again with other words."""

from __future__ import annotations

import random
from collections.abc import Iterator

SUBJECTS = (("The old fisherman", "The elderly fisherman"), ("A young teacher", "A youthful instructor"),
            ("The committee", "The panel"), ("My neighbour", "The man next door"), ("The company", "The firm"),
            ("A group of students", "Several students"), ("The mayor of the town", "The town's mayor"))  # fmt: skip
VERBS = (("repaired", "mended"), ("bought", "purchased"), ("sold", "sold"), ("described", "depicted"),
         ("finished", "completed"), ("showed", "presented"), ("examined", "inspected"))  # fmt: skip
OBJECTS = (("the broken boat", "the damaged vessel"), ("a large house", "a big house"), ("the new plan", "the plan"),
           ("two wooden chairs", "a pair of wooden chairs"), ("the final report", "the last report"),
           ("a painting of the harbour", "a picture of the port"))  # fmt: skip
PLACES = (("near the river", "close to the river"), ("in the small village", "in the little village"),
          ("on Monday morning", "on the morning of Monday"), ("with great care", "very carefully"),
          ("before the first storms of spring", "before spring brought its first storms"),
          ("after a long discussion", "after talking for a long time"))  # fmt: skip
JOINTS = ((", and", ", and"), (", while", ", whereas"), (", although", ", even though"), (", because", ", since"))


def paraphrases(count: int, length: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Pairs whose source has about so many words (the last phrase that fits ends the sentence)."""
    chance = random.Random(f"{seed} {length}")
    for _ in range(count):
        source, target = "", ""
        while True:
            left, right = _clause(chance, room=length - len(source.split()))
            source, target = source + left, target + right
            if length - len(source.split()) < 6:
                break
            joint = chance.choice(JOINTS)
            source, target = source + joint[0] + " ", target + joint[1] + " "
        yield _capital(source) + ".", _capital(target) + "."


def _clause(chance: random.Random, room: int) -> tuple[str, str]:
    """A clause and its paraphrase, which may move an adverbial to the front."""
    subject, verb, thing = (chance.choice(words) for words in (SUBJECTS, VERBS, OBJECTS))
    source = [subject[0].lower(), verb[0], thing[0]]
    target = [subject[1].lower(), verb[1], thing[1]]
    places = chance.sample(PLACES, 3)
    while places and sum(len(part.split()) for part in [*source, places[-1][0]]) <= room and chance.random() < 0.8:
        place = places.pop()
        source.append(place[0])
        if chance.random() < 0.3:
            target.insert(0, place[1] + " ,")
        else:
            target.append(place[1])
    return " ".join(source), " ".join(target).replace(" ,", ",")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
