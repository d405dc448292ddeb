"""Tokens, offsets and lemmas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forestalign.grammar import lemma_choices
from forestalign.machine import light_import
from forestalign.tokens import PARTS_OF_SPEECH, LemmaTable, Sentence, Span, Token, analyse, lemmatize, tokenize

# Characters that the tokenizer has rules for, so that random strings hit them often.
RULED = st.text(alphabet="\"'`’‘“”.,:;?!()[]{}<>-–$%&@#* \t\u00a0\u2028astnUS5dmre", max_size=30)


@settings(max_examples=150)
@given(st.text(max_size=40) | RULED)
@example("''''")
@example('a ""b')
@example("x'' \"y\" ``z'' ```")
@example("\x1c.\x85\u3000")
def test_joining_tokens_by_their_offsets_gives_back_the_text(text: str) -> None:
    sentence = tokenize(text)
    rebuilt, position = "", 0
    for token in sentence.tokens:
        gap = text[position : token.start]
        assert gap == "" or gap.isspace()
        assert token.text != ""
        assert not any(character.isspace() for character in token.text)
        rebuilt += gap + token.text
        position = token.end
    assert rebuilt + text[position:] == text
    assert text[position:].strip() == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("She doesn't know; he can't.", "She does n't know ; he ca n't ."),
        ("The dog's bone (a big one) cost $3.50!", "The dog 's bone ( a big one ) cost $ 3.50 !"),
        ('He said "no", then left...', 'He said " no " , then left ...'),
        ("We can’t say it’s Ann’s.", "We ca n’t say it ’s Ann ’s ."),
        ("It rained. They stayed at home.", "It rained . They stayed at home ."),
        ("Mr. Green met Dr. Brown.", "Mr. Green met Dr. Brown ."),
        ("They moved to the U.S.", "They moved to the U.S."),
        ("She has a Ph.D.", "She has a Ph.D."),
        ("He holds a B.Sc.", "He holds a B.Sc."),
        ("It costs 3.5.", "It costs 3.5 ."),
        ("The version was 1.2.3.", "The version was 1.2.3 ."),
        ("At 5 p.m. she left", "At 5 p.m. she left"),
        ("You cannot do that", "You can not do that"),
        ("About 10,000 people, or 15%, came", "About 10,000 people , or 15 % , came"),
    ],
)
def test_words_are_cut_in_the_manner_of_the_penn_treebank(text: str, words: str) -> None:
    assert " ".join(tokenize(text).written_words) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Write to jo.doe+x@mail.example.org, please.", "Write to jo.doe+x@mail.example.org , please ."),
        ("See https://x.org/a_(b)?c=d&e=f#g.", "See https://x.org/a_(b)?c=d&e=f#g ."),
        ("(see http://x.org/a) or www.b.com/c!", "( see http://x.org/a ) or www.b.com/c !"),
        ("It is on example.com/a?b=1; try it", "It is on example.com/a?b=1 ; try it"),
        ("I love #Python and @guido_v!", "I love #Python and @guido_v !"),
        ("Nice👍🏽 work 👩‍👩‍👧 in 🇫🇷.", "Nice 👍🏽 work 👩‍👩‍👧 in 🇫🇷 ."),
        ("That was fun :-)", "That was fun :-)"),
        # and what only looks like these
        ("She is #1 in C# and paid $5 @ noon", "She is # 1 in C # and paid $ 5 @ noon"),
        ("and/or (note: see p. 8) he/she", "and/or ( note : see p. 8 ) he/she"),
        ("a: b; c=d", "a : b ; c=d"),
        # full stops before a capital
        ('She asked. "Why?"', 'She asked . " Why ? "'),
        ("He left. (She stayed.)", "He left . ( She stayed . )"),
        ('"Go on." Then he paid $5. "Fine."', '" Go on . " Then he paid $ 5 . " Fine . "'),
        (
            "I like it. He met Ann. She left in 1990. They won.",
            "I like it . He met Ann . She left in 1990 . They won .",
        ),
        # and stops that end nothing
        ("J. K. Rowling met Sen. Smith vs. Chelsea.", "J. K. Rowling met Sen. Smith vs. Chelsea ."),
        ("1. Open the U.S. Embassy", "1. Open the U.S. Embassy"),
        ("He left at 5 p.m. Then he slept", "He left at 5 p.m. Then he slept"),
        ("It weighs approx. ten pounds", "It weighs approx. ten pounds"),
    ],
)
def test_addresses_tags_names_and_emoji_stay_whole_and_sentences_end_behind_words(text: str, words: str) -> None:
    assert " ".join(tokenize(text).words) == words


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("Found", "VBD", "find"),
        ("found", "VBP", "found"),
        ("was", "VBD", "be"),
        ("running", "VBG", "run"),
        ("running", "NN", "running"),
        ("mice", "NNS", "mouse"),
        ("better", "JJR", "good"),
        ("better", "RBR", "well"),
        ("'s", "VBZ", "be"),
        ("’s", "VBZ", "be"),
        ("'s", "POS", "'s"),
        ("wo", "MD", "will"),
        ("n’t", "RB", "not"),
        ("them", "PRP", "they"),
        ("an", "DT", "a"),
        ("London", "NNP", "london"),
        ("most", "JJS", "most"),
        ("blorfed", "VBD", "blorf"),
    ],
)
def test_lemmas_follow_the_tag(word: str, tag: str, lemma: str) -> None:
    assert lemmatize([word], [tag]) == [lemma]


@given(st.text(alphabet="abcdeEst'’-.ß1", min_size=1, max_size=8), st.sampled_from(["NNS", "VBD", "VBZ", "JJS", "RBR"]))
def test_a_lemma_is_lower_case_and_never_empty(word: str, tag: str) -> None:
    (lemma,) = lemmatize([word], [tag])
    assert lemma
    assert lemma == lemma.lower()


def test_analysis_keeps_text_and_offsets() -> None:
    plain = tokenize("Dogs barked.")
    analysed = analyse(plain, ["NNS", "VBD", "."])
    assert (analysed.tags, analysed.lemmas) == (("NNS", "VBD", "."), ("dog", "bark", "."))
    assert (analysed.text, analysed.words) == (plain.text, plain.words)
    assert [token.start for token in analysed.tokens] == [token.start for token in plain.tokens]


def test_an_analysis_needs_one_tag_a_word() -> None:
    with pytest.raises(ValueError, match="zip"):
        analyse(tokenize("Dogs barked"), ["NNS"])


def test_words_given_by_the_user_are_kept() -> None:
    sentence = Sentence.from_words(["can't", "stop"])
    assert sentence.words == ("can't", "stop")
    assert [sentence.text[token.start : token.end] for token in sentence.tokens] == ["can't", "stop"]


def _modules_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_table_of_lemmas_holds_what_the_library_reads_from_it() -> None:
    config, core = light_import("lemminflect", ["config", "core.Lemmatizer"])
    library = core.Lemmatizer()
    table = LemmaTable(Path(config.lemma_lu_fn), Path(config.lemma_overrides_fn))
    words = {word.lower() for word in (*library._getLemmaDict(), *library._getOverridesDict())}
    assert len(words) > 50_000
    assert [word for word in sorted(words) if table.lemmas(word) != library.getAllLemmas(word)] == []
    assert table.lemmas("no such word") == {}


def test_of_several_lemmas_that_one_is_chosen_whose_form_the_word_is() -> None:
    """By the library's own table of forms, which is not read otherwise."""
    config, core = light_import("lemminflect", ["config", "core.Inflections"])
    table, forms = LemmaTable(Path(config.lemma_lu_fn), Path(config.lemma_overrides_fn)), core.Inflections()
    chosen = {}
    for word in table.forms:
        lemmas = table.lemmas(word)
        for tag, kind in PARTS_OF_SPEECH.items():
            if len(possible := lemmas.get(kind, ())) > 1:
                fitting = (lemma for lemma in possible if word in forms.getInflection(lemma, tag))
                chosen[word, tag] = possible[0], next(fitting, possible[0])
    assert len(chosen) > 2_000
    assert lemma_choices() == {place: lemma for place, (first, lemma) in chosen.items() if lemma != first}


@pytest.mark.parametrize(
    ("statement", "others"),
    [
        ("import forestalign.tokens", {"nltk", "lemminflect"}),
        ("from forestalign.tokens import tokenize; tokenize('a b')", {"nltk", "scipy", "sklearn"}),
        (
            "from forestalign.tokens import analyse, tokenize; analyse(tokenize('Dogs'), ['NNS'])",
            {"lemminflect", "spacy", "torch"},
        ),
        ("import forestalign.cli.align, forestalign.aligner", {"scipy"}),
    ],
)
def test_what_is_not_needed_is_not_loaded_and_nothing_is_left_half_loaded(statement: str, others: set[str]) -> None:
    assert not others & {name.partition(".")[0] for name in _modules_after(statement)}


@pytest.mark.parametrize("first", ["", "import lemminflect; "])
@pytest.mark.heavy
def test_the_library_of_lemmas_is_whole_for_others_before_and_after(first: str) -> None:
    ours = "from forestalign.tokens import analyse, tokenize; lemmas = analyse(tokenize('Dogs'), ['NNS']).lemmas"
    theirs = "import lemminflect; assert lemmas + lemminflect.getLemma('cats', 'NOUN') == ('dog', 'cat')"
    assert "lemminflect" in _modules_after(f"{first}{ours}; {theirs}")


def test_words_are_compared_by_their_lemma_and_else_as_they_stand_in_lower_case() -> None:
    assert [Token("Saw", 0, 3, "see", "VBD").key, Token("Saw", 0, 3).key, Token("US", 0, 2, "US").key] == [
        "see",
        "saw",
        "us",
    ]


def test_a_span_covers_itself_and_what_lies_inside() -> None:
    spans = [Span(begin, end) for begin in range(4) for end in range(begin + 1, 5)]
    for outer in spans:
        words = set(range(*outer))
        assert outer.size == len(words)
        assert [outer.covers(inner) for inner in spans] == [words.issuperset(range(*inner)) for inner in spans]
