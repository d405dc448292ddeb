"""Further mechanisms of evidence, each with examples and as many counter-examples, and the tables they read."""

from __future__ import annotations

from pathlib import Path

import pytest

from forestalign.errors import GrammarError
from forestalign.lexicon import load_phrase_lists, load_phrases
from forestalign.lexicon.light_verbs import read_light_verbs
from forestalign.lexicon.names import read_short_names
from forestalign.lexicon.negations import read_negation_frames, read_negative_verbs
from forestalign.lexicon.numbers import same_number
from forestalign.lexicon.units import read_currency_signs
from forestalign.phrases.evidence.phrase_evidence import find_evidence
from tests.builders.tagged_sentences import sentence

Case = tuple[str, str, tuple[str, str], str]


def relation(case: Case) -> str:
    """What is said about two phrases: by the strongest evidence, or nothing."""
    own, other = sentence(case[0]), sentence(case[1])
    found = {
        (" ".join(own.words[i] for i in one.source), " ".join(other.words[i] for i in one.target)): one.relation
        for one in sorted(find_evidence(own, other, load_phrases()), key=lambda one: one.strength)
    }
    return found.get(case[2], "")


PHRASES: list[Case] = [
    ("The/DT engine/NN broke/VBD down/RP", "The/DT engine/NN failed/VBD", ("broke down", "failed"), "equal"),
    ("fill/VB in/RP the/DT form/NN", "complete/VB the/DT form/NN", ("fill in", "complete"), "equal"),
    ("gave/VBD the/DT coat/NN back/RB", "returned/VBD the/DT coat/NN", ("gave back", "returned"), "equal"),
    ("They/PRP tied/VBD the/DT knot/NN", "They/PRP married/VBD", ("tied the knot", "married"), "equal"),
    ("She/PRP held/VBD her/PRP$ tongue/NN", "She/PRP kept/VBD quiet/JJ", ("held her tongue", "kept quiet"), "equal"),
    ("hit/VBD the/DT sack/NN", "went/VBD to/IN bed/NN", ("hit the sack", "went to bed"), "equal"),
    ("could/MD not/RB see/VB", "was/VBD unable/JJ to/TO see/VB", ("could not", "was unable to"), "equal"),
    ("those/DT who/WP sell/VBP", "the/DT sellers/NNS", ("those who sell", "sellers"), "equal"),
    ("people/NNS who/WP had/VBD applied/VBN", "applicants/NNS", ("people who had applied", "applicants"), "equal"),
    ("The/DT cup/NN broke/VBD ,/, down/RB to/IN bits/NNS", "The/DT cup/NN failed/VBD", ("broke down", "failed"), ""),
    ("hit/VBD the/DT brown/JJ sack/NN", "went/VBD to/IN bed/NN", ("hit the sack", "went to bed"), ""),
    ("held/VBD the/DT dog/NN 's/POS tongue/NN", "kept/VBD quiet/JJ", ("held tongue", "kept quiet"), ""),
    ("could/MD now/RB see/VB", "was/VBD unable/JJ to/TO see/VB", ("could", "was unable to"), ""),
    ("those/DT who/WP buy/VBP", "the/DT sellers/NNS", ("those who buy", "sellers"), ""),
    ("the/DT dog/NN that/WDT applied/VBD", "applicants/NNS", ("dog that applied", "applicants"), ""),
]
QUANTITIES: list[Case] = [
    ("£20k/CD", "20,000/CD pounds/NNS", ("£20k", "20,000 pounds"), "equal"),
    ("ten/CD pounds/NNS", "4.536/CD kilograms/NNS", ("ten pounds", "4.536 kilograms"), "equal"),
    ("a/DT 40-year-old/JJ man/NN", "a/DT man/NN aged/VBN 40/CD", ("40-year-old", "aged 40"), "equal"),
    ("5km/NN", "5,000/CD metres/NNS", ("5km", "5,000 metres"), "equal"),
    ("80%/NN", "four/CD fifths/NNS", ("80%", "four fifths"), "equal"),
    ("3/CD 1/4/CD cups/NNS", "three/CD ¼/CD cups/NNS", ("3 1/4", "three ¼"), ""),
    ("3/CD 1/4/CD cups/NNS", "3.25/CD cups/NNS", ("3 1/4", "3.25"), "equal"),
    ("20/CD or/CC more/JJR", "at/IN least/JJS twenty/CD", ("20 or more", "at least twenty"), "equal"),
    ("the/DT sixth/NN of/IN June/NNP", "June/NNP 6/CD", ("the sixth of June", "June 6"), "equal"),
    ("03/04/2021/CD", "3/CD April/NNP 2021/CD", ("03/04/2021", "3 April 2021"), "equal"),
    ("03/04/2021/CD", "March/NNP 4/CD ,/, 2021/CD", ("03/04/2021", "March 4 , 2021"), "equal"),
    ("seven/CD in/IN the/DT evening/NN", "19:00/CD", ("seven in the evening", "19:00"), "equal"),
    ("ten/CD minutes/NNS to/IN six/CD", "5:50/CD", ("ten minutes to six", "5:50"), "equal"),
    ("nineteen/CD eighty-four/CD", "1984/CD", ("nineteen eighty-four", "1984"), "equal"),
    ("USD/NNP 300/CD", "three/CD hundred/CD dollars/NNS", ("USD 300", "three hundred dollars"), "equal"),
    ("half/JJ hour/NN", "30/CD minutes/NNS", ("half hour", "30 minutes"), "equal"),
    ("more/JJR than/IN ten/CD tons/NNS", "over/IN 10/CD tons/NNS", ("more than ten", "over 10"), "equal"),
    ("minus/CC 9/CD °/NN", "9/CD °/NN below/IN zero/CD", ("minus 9 °", "9 ° below zero"), "equal"),
    ("the/DT 1600s/NNS", "the/DT 17th/JJ century/NN", ("1600s", "17th century"), "equal"),
    ("in/IN her/PRP$ thirties/NNS", "the/DT 1930s/NNS", ("thirties", "1930s"), ""),
    ("£20k/CD", "20,000/CD euros/NNS", ("£20k", "20,000 euros"), ""),
    ("a/DT 40-year-old/JJ man/NN", "a/DT man/NN aged/VBN 41/CD", ("40-year-old", "aged 41"), "different value"),
    ("20/CD or/CC more/JJR", "at/IN most/JJS twenty/CD", ("20 or more", "at most twenty"), "different value"),
    ("03/04/2021/CD", "5/CD April/NNP 2021/CD", ("03/04/2021", "5 April 2021"), "different value"),
    ("seven/CD in/IN the/DT morning/NN", "19:00/CD", ("seven in the morning", "19:00"), "different value"),
    ("two/CD hours/NNS", "120/CD minutes/NNS", ("two", "120"), ""),
    ("4/CD men/NNS", "four/CD hundred/CD men/NNS", ("4", "four"), "different value"),
    ("four/CD hundred/CD", "five/CD hundred/CD", ("hundred", "hundred"), ""),
    ("31/CD February/NNP 2021/CD", "3/CD March/NNP 2021/CD", ("31 February 2021", "3 March 2021"), ""),
]
NAMES: list[Case] = [
    ("two/CD MPs/NNS", "two/CD members/NNS of/IN parliament/NN", ("MPs", "members of parliament"), "equal"),
    ("the/DT CEOs/NNS", "the/DT chief/JJ executives/NNS", ("CEOs", "chief executives"), "equal"),
    ("ATMs/NNS", "cash/NN machines/NNS", ("ATMs", "cash machines"), "equal"),
    ("R&D/NN", "research/NN and/CC development/NN", ("R&D", "research and development"), "equal"),
    ("Chancellor/NNP Merkel/NNP", "Angela/NNP Merkel/NNP", ("Chancellor Merkel", "Angela Merkel"), "equal"),
    ("Bob/NNP Dole/NNP", "Robert/NNP Dole/NNP", ("Bob Dole", "Robert Dole"), "equal"),
    ("Prof./NNP J./NNP Hill/NNP", "Jane/NNP Hill/NNP", ("J. Hill", "Jane Hill"), "equal"),
    ("the/DT Dutch/JJ voted/VBD", "people/NNS of/IN Holland/NNP", ("the Dutch", "people of Holland"), "equal"),
    ("the/DT French/JJ voted/VBD", "people/NNS of/IN France/NNP", ("the French", "people of France"), "equal"),
    ("the/DT Dutch/JJ voted/VBD", "people/NNS of/IN Denmark/NNP", ("the Dutch", "people of Denmark"), ""),
    ("the/DT CEOs/NNS", "the/DT chief/JJ executive/NN", ("CEOs", "chief executive"), ""),
    ("Bob/NNP Dole/NNP", "William/NNP Dole/NNP", ("Bob Dole", "William Dole"), ""),
    ("the/DT French/JJ wine/NN", "people/NNS of/IN France/NNP", ("the French", "people of France"), ""),
    ("R&D/NN", "rest/NN and/CC dinners/NNS often/RB", ("R&D", "rest and dinners often"), ""),
    ("Chancellor/NNP Merkel/NNP", "Angela/NNP Berg/NNP", ("Chancellor Merkel", "Angela Berg"), ""),
    ("Us/PRP Americans/NNPS", "the/DT United/NNP States/NNPS", ("Us", "United States"), ""),
]
VERBS: list[Case] = [
    ("came/VBD to/IN the/DT conclusion/NN", "concluded/VBD", ("came to the conclusion", "concluded"), "equal"),
    ("carried/VBD out/RP an/DT attack/NN", "attacked/VBD", ("carried out an attack", "attacked"), "equal"),
    ("went/VBD for/IN a/DT swim/NN", "swam/VBD", ("went for a swim", "swam"), "equal"),
    ("made/VBD an/DT offer/NN", "offered/VBD", ("made an offer", "offered"), "equal"),
    ("put/VBD it/PRP to/IN use/NN", "used/VBD it/PRP", ("put to use", "used"), "equal"),
    ("took/VBD it/PRP into/IN consideration/NN", "considered/VBD", ("took into consideration", "considered"), "equal"),
    ("has/VBZ no/DT money/NN", "lacks/VBZ money/NN", ("has no", "lacks"), "equal"),
    ("has/VBZ money/NN", "lacks/VBZ money/NN", ("has", "lacks"), "opposite"),
    ("took/VBD it/PRP into/IN town/NN", "considered/VBD it/PRP", ("took into town", "considered"), ""),
    ("no/RB longer/RB works/VBZ", "stopped/VBD working/VBG", ("no longer", "stopped"), "equal"),
    ("does/VBZ not/RB eat/VB meat/NN any/DT more/RBR", "quit/VBD eating/VBG", ("does not any more", "quit"), "equal"),
    ("refused/VBD to/TO sign/VB", "would/MD not/RB sign/VB", ("refused", "would not"), "similar"),
    ("do/VBP not/RB go/VB unless/IN paid/VBN", "go/VBP only/RB if/IN paid/VBN", ("do not unless", "only if"), "equal"),
    (
        "unless/IN it/PRP snows/VBZ", "if/IN it/PRP does/VBZ not/RB snow/VB", ("unless", "if does not"), "equal",
    ),
    (
        "did/VBD not/RB eat/VB until/IN noon/NN", "ate/VBD only/RB after/IN noon/NN", ("did not until", "only after"),
        "equal",
    ),
    ("gave/VBD up/RP smoking/NN", "smoking/VBG", ("gave up smoking", "smoking"), ""),
    ("came/VBD to/IN the/DT station/NN", "concluded/VBD", ("came to the station", "concluded"), ""),
    ("carried/VBD an/DT attack/NN dog/NN", "attacked/VBD", ("carried an attack dog", "attacked"), ""),
    ("no/RB longer/RB works/VBZ", "stopped/VBD eating/VBG", ("no longer", "stopped"), ""),
    ("refused/VBD the/DT sign/NN", "would/MD not/RB sign/VB", ("refused", "would not"), ""),
    ("go/VBP unless/IN asked/VBN", "go/VBP only/RB if/IN asked/VBN", ("unless", "only if"), ""),
    ("unless/IN it/PRP snows/VBZ", "if/IN it/PRP does/VBZ not/RB rain/VB", ("unless", "if does not"), ""),
]  # fmt: skip


@pytest.mark.parametrize("case", PHRASES, ids=lambda case: " = ".join(case[2]))
def test_idioms_and_clauses_that_say_one_word(case: Case) -> None:
    assert relation(case) == case[3]


@pytest.mark.parametrize("case", QUANTITIES, ids=lambda case: " = ".join(case[2]))
def test_values_written_in_other_ways(case: Case) -> None:
    assert relation(case) == case[3]


@pytest.mark.parametrize("case", NAMES, ids=lambda case: " = ".join(case[2]))
def test_plural_and_short_names(case: Case) -> None:
    assert relation(case) == case[3]


@pytest.mark.parametrize("case", VERBS, ids=lambda case: " = ".join(case[2]))
def test_light_and_negative_verbs(case: Case) -> None:
    assert relation(case) == case[3]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("5", "five", True), ("1,000", "thousand", True), ("2k", "2000", True), ("3", "four", False), ("a", "a", False)],
)
def test_one_word_is_compared_by_value(left: str, right: str, expected: bool) -> None:
    assert same_number(left, right) is expected


CAUTION: list[Case] = [
    ("told/VBD a/DT reporter/NN", "reported/VBD it/PRP", ("told a reporter", "reported"), ""),
    ("paid/VBD an/DT employee/NN", "employed/VBD her/PRP", ("paid an employee", "employed"), ""),
    ("made/VBD a/DT report/NN", "reported/VBD it/PRP", ("made a report", "reported"), "equal"),
    ("made/VBD a/DT payment/NN", "paid/VBD it/PRP", ("made a payment", "paid"), "equal"),
    ("in/IN India/NNP ./.", "in/IN India./NNP", ("India .", "India."), ""),
    ("oil/NN fields/NNS", "oilfields/NNS", ("oil fields", "oilfields"), "equal"),
    ("China/NNP 's/POS rivers/NNS", "rivers/NNS in/IN China/NNP", ("China 's", "in China"), "similar"),
    ("Chinese/JJ rivers/NNS", "rivers/NNS in/IN China/NNP", ("Chinese", "in China"), "equal"),
]


@pytest.mark.parametrize("case", CAUTION)
def test_what_only_looks_like_it(case: Case) -> None:
    assert relation(case) == case[3]


def test_a_name_is_weak_evidence_for_what_it_names() -> None:
    """*The city* and *New Orleans* are mostly mentioned side by side; *cruise ship* and *liner* are not."""
    rows = {}
    for source, target in (
        ("the/DT city/NN", "New/NNP Orleans/NNP"),
        ("the/DT bicycle/NN", "a/DT mountain/NN bike/NN"),
    ):
        found = find_evidence(sentence(source), sentence(target), load_phrases())
        rows[source] = max(row.strength for row in found if row.relation == "more general")
    assert rows["the/DT city/NN"] < 0.2 < rows["the/DT bicycle/NN"]


def test_a_list_of_the_user_is_matched_like_the_lexicon(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("send one's regards\tgreet\nfob off\tdeceive\n", encoding="utf-8")
    lists = load_phrase_lists(path)
    slot = find_evidence(
        sentence("He/PRP sent/VBD his/PRP$ regards/NNS"), sentence("He/PRP greeted/VBD them/PRP"), load_phrases(), lists
    )
    assert ((1, 2, 3), (1,)) in [(one.source, one.target) for one in slot if one.kind == "list"]
    apart = find_evidence(
        sentence("He/PRP fobbed/VBD them/PRP off/RP"), sentence("He/PRP deceived/VBD them/PRP"), load_phrases(), lists
    )
    assert ((1, 3), (1,)) in [(one.source, one.target) for one in apart if one.kind == "list"]


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (read_light_verbs, "make\nmake\n", 2),
        (read_light_verbs, "come to be so\n", 1),
        (read_short_names, "william | bill\nwilma | bill\n", 2),
        (read_short_names, "william\n", 1),
        (read_negative_verbs, "fail\tto\tperhaps\tequal\n", 1),
        (read_negative_verbs, "fail\tto\tnot\tlike\n", 1),
        (read_negation_frames, "unless\tonly if |\n", 1),
        (read_negation_frames, "unless\tonly if\nunless\tonly when\n", 2),
        (read_currency_signs, "$\tdollar\n$\teuro\n", 2),
        (read_currency_signs, "US$\tdollar\n", 1),
    ],
)
def test_a_bad_row_is_refused_by_file_and_line(read: object, text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(text, encoding="utf-8")
    assert callable(read)
    with pytest.raises(GrammarError, match=rf"table\.tsv:{line}"):
        read(path)
