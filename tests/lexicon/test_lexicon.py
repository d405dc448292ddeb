"""The lexicon: WordNet relations, vectors, pair lists."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import GrammarError, InputError
from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.lexicon.vectors import read_compact
from forestalign.lexicon.wordnet import looks_english, meeting, read_wordnet

SETS = st.lists(st.sets(st.sampled_from("abcdef"), max_size=3), max_size=5)


@given(SETS, SETS)
def test_sets_meet_where_they_have_a_member_in_common(left: list[set[str]], right: list[set[str]]) -> None:
    assert meeting(left, right) == [(i, j) for i, one in enumerate(left) for j, two in enumerate(right) if one & two]


def test_synonyms_share_a_synset_in_either_order() -> None:
    wordnet = load_wordnet()
    assert wordnet.are_synonyms("buy", "purchase")
    assert wordnet.are_synonyms("Purchase", "buy")
    assert not wordnet.are_synonyms("buy", "apple")


def test_a_word_is_not_its_own_synonym_or_derivation() -> None:
    wordnet = load_wordnet()
    assert not wordnet.are_synonyms("buy", "Buy")
    assert not wordnet.are_derivations("creation", "creation")


def test_derivations_meet_in_a_third_word() -> None:
    wordnet = load_wordnet()
    assert wordnet.are_derivations("create", "creation")
    assert wordnet.are_derivations("creation", "creator")
    assert not wordnet.are_derivations("creation", "purchase")


def test_hypernyms_have_a_direction_and_antonyms_do_not() -> None:
    wordnet = load_wordnet()
    assert wordnet.is_hypernym("vehicle", "craft")
    assert not wordnet.is_hypernym("craft", "vehicle")
    assert wordnet.are_antonyms("large", "small")
    assert wordnet.are_antonyms("small", "large")
    assert "large" in wordnet.entry("huge").similar


def test_unknown_lemmas_are_related_to_nothing() -> None:
    wordnet = load_wordnet()
    assert "qzxv" not in wordnet
    assert not wordnet.are_synonyms("qzxv", "buy")
    assert not wordnet.are_derivations("qzxv", "qzxw")


def test_a_malformed_lexicon_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.tsv.gz"
    path.write_bytes(gzip.compress(b"buy\t1\t\t\t\t\nsell\t2\n"))
    with pytest.raises(GrammarError, match=r"lexicon.tsv.gz:2: 'sell"):
        read_wordnet(path)


def test_vectors_give_cosines_of_unit_rows() -> None:
    vectors = load_vectors()
    matrix = vectors.matrix(["king", "Queen", "qzxv"])
    assert np.linalg.norm(matrix[0]) == pytest.approx(1.0, abs=1e-5)
    assert not matrix[2].any()
    assert vectors.cosine("king", "queen") == pytest.approx(float(matrix[0] @ matrix[1]), abs=1e-5)
    assert vectors.cosine("king", "queen") > vectors.cosine("king", "banana")
    assert vectors.cosine("king", "qzxv") == 0.0
    assert vectors.vector("qzxv") is None


def test_rare_words_weigh_more_than_frequent_ones() -> None:
    vectors = load_vectors()
    assert 0.0 < vectors.idf("the") < vectors.idf("house") < vectors.idf("marmalade") <= vectors.idf("qzxv") == 1.0


@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_glove_and_word2vec_text_are_told_apart(tmp_path: Path, header: str) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(header + "cat 1.0 0.0\ndog 0.8 0.6\ncar 0.0 1.0\n", encoding="utf-8")
    vectors = load_vectors(str(path))
    assert len(vectors) == 3
    assert vectors.cosine("cat", "dog") == pytest.approx(0.8)


def test_word2vec_binary_is_read(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    rows = {"cat": (1.0, 0.0), "dog": (0.8, 0.6)}
    body = b"".join(word.encode() + b" " + np.array(row, dtype="<f4").tobytes() + b"\n" for word, row in rows.items())
    path.write_bytes(b"2 2\n" + body)
    assert load_vectors(str(path)).cosine("cat", "dog") == pytest.approx(0.8)


def test_a_missing_or_broken_vector_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        load_vectors(str(tmp_path / "nowhere.txt"))
    path = tmp_path / "broken.npz"
    path.write_bytes(b"no zip archive")
    with pytest.raises(GrammarError, match=r"broken\.npz"):
        read_compact(path)


@pytest.mark.parametrize("content", [b"0" * 200_000, b"\0" * 200_000], ids=["zeros", "NULs"])
def test_a_file_without_vectors_is_told_what_is_missing_in_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match="first line is neither a word with numbers nor the count and size"):
        load_vectors(str(path))


def test_pair_lists_are_cut_at_tabs_only(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes("buy\tpurchase\r\n\x16\t\x1d\r\nsmall\u2028x\tlittle\r\n".encode())
    pairs = load_ppdb(str(path))
    assert len(pairs) == 3
    assert ("Purchase", "BUY") in pairs
    assert ("\x1d", "\x16") in pairs
    assert ("small\u2028x", "little") in pairs
    assert ("buy", "little") not in pairs


def test_a_line_that_is_no_pair_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"buy\tpurchase\nbuy purchase\n")
    with pytest.raises(InputError, match=r"pairs.tsv:2: 'buy purchase'"):
        load_ppdb(str(path))


@pytest.mark.parametrize(
    "text",
    [
        "Der Ausschuss lehnte den Plan gestern nach langer Debatte ab .",
        "le comité a rejeté le projet après un long débat",
        "El comité rechazó el plan después de un largo debate .",
        "Die Katze sitzt auf der Matte und schläft dort .",
        "Комитет отклонил план после долгих дебатов .",
        "Кошка спит",
        "猫がマットの上に座っている 。",
        "Ich bin ein kleiner Hund .",
        "Das ist mein neues Auto .",
        "Katten sitter på mattan .",
    ],
)
def test_other_languages_do_not_look_english(text: str) -> None:
    assert not looks_english(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "The committee rejected the plan .",
        "Paolo Maldini plays for Reggina .",  # names are foreign everywhere
        "DON'T SHOUT AT ME LIKE THAT",
        "the well-known left-leaning newspapers' readers can't say",
        "Kofi Annan sneezed .",
        "Vladimir Vladimirovich Putin visited Khabarovsk .",
        "Angela Merkel met Nicolas Sarkozy in Strasbourg .",
        "He ate crème brûlée at Żabka",
        "π = 3.14",
        "1 + 1 = 2",
        "",
    ],
)
def test_english_looks_english(text: str) -> None:
    assert looks_english(text.split())
