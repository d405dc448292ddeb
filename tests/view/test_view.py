"""Pictures: what is drawn of a record, the page around it, the fragment for notebooks, the server."""

from __future__ import annotations

import base64
import hashlib
import html
import http.client
import json
import re
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign import Alignment
from forestalign.cli import main
from forestalign.errors import NoParseError, UsageError
from forestalign.formats.codec import from_json, to_json
from forestalign.terminal import visible
from forestalign.trees import parse_brackets
from forestalign.view import page_html, result_html, scene_of
from forestalign.view.page import safe_json, system_names
from forestalign.view.scene import BAR, PHRASE, WORD
from forestalign.view.server import MAX_BYTES, AlignServer
from tests.builders.sample_results import pair, with_phrases
from tests.builders.view_samples import (
    cat,
    data_of,
    harbour,
    hostile_record,
    record,
    with_extras,
)
from tests.builders.work import PATIENCE

CAT = cat()
POOR_CAT = cat(4, 7)
RICH_CAT = with_extras(CAT, POOR_CAT)
LONG = harbour()


# ---- scenes ----


@pytest.mark.parametrize("sample", [CAT, RICH_CAT, LONG])
def test_a_drawn_tree_is_a_tree_and_its_nodes_know_their_pairs(sample: Alignment) -> None:
    choice = scene_of(sample).choices[0]
    for nodes, side in ((choice.source, "source"), (choice.target, "target")):
        assert [node.parent for node in nodes].count(-1) == 1
        for index, node in enumerate(nodes):
            if node.parent >= 0:
                parent = nodes[node.parent]
                assert node.parent > index
                assert parent.begin <= node.begin
                assert node.end <= parent.end
            if node.phrase >= 0:
                assert getattr(sample.phrases.pairs[node.phrase], side) == (node.begin, node.end)
        drawn = {node.phrase for node in nodes} - {-1}
        assert drawn == set(range(len(sample.phrases.pairs)))


def test_a_bar_phrase_stands_between_its_phrase_and_a_run_of_children() -> None:
    nodes = scene_of(RICH_CAT).choices[0].source
    (bar,) = [node for node in nodes if node.kind == BAR]
    parent = nodes[bar.parent]
    assert (bar.begin, bar.end, parent.begin, parent.end, parent.kind) == (1, 3, 0, 3, PHRASE)
    children = [node for node in nodes if node.parent == nodes.index(bar)]
    assert sorted((node.begin, node.kind) for node in children) == [(1, WORD), (2, WORD)]


def test_a_chain_is_one_node_and_a_word_under_a_phrase_is_another() -> None:
    sample = record("chain", "(TOP (S (VP (VB Go))))", "(TOP (S (VP (VB Leave))))", {0: 0})
    entries = tuple(pair((0, 1), (0, 1), label, supports) for label, supports in (("VB", ()), ("S+VP", (0,))))
    nodes = scene_of(with_phrases(sample, pairs=entries)).choices[0].source
    assert [(node.label, node.kind, node.phrase) for node in nodes] == [("VB", WORD, 0), ("S+VP", PHRASE, 1)]


def test_null_phrases_are_marked_at_their_top_and_throughout() -> None:
    nodes = scene_of(POOR_CAT).choices[0].source
    marks = {(node.label, node.begin): (node.is_null, node.in_null) for node in nodes}
    assert marks["ADVP", 4] == (True, True)
    assert marks["RB", 4] == (False, True)
    assert marks["VBD", 3] == (False, False)


def test_alternatives_keep_their_own_trees() -> None:
    other = "(TOP (S (NP (DT The) (JJ fat) (NN cat)) (VP (VBD sat) (ADVP (RB quietly))) (PP (IN on) (NP (DT the)"
    alternative = replace(RICH_CAT.alternatives[0], source_tree=parse_brackets(other + " (JJ old) (NN mat))) (. .)))"))
    first, second = scene_of(replace(RICH_CAT, alternatives=(alternative,))).choices
    assert {(node.begin, node.end) for node in second.source if node.label == "VP"} == {(3, 5)}
    assert {(node.begin, node.end) for node in first.source if node.label == "VP"} == {(3, 9)}


# ---- the page ----


@given(st.text())
def test_embedded_json_can_neither_end_its_block_nor_change(text: str) -> None:
    embedded = safe_json({"text": text})
    assert not set("<>&\u2028\u2029") & set(embedded)
    assert json.loads(embedded) == {"text": text}


def test_hostile_sentences_are_nowhere_markup() -> None:
    hostile = hostile_record()
    page = page_html([[hostile]], ["<b>system</b>"])
    assert data_of(page)["pairs"][0]["views"][0]["source"]["tokens"][0].startswith("</script><script>")
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    for text in (outside, result_html(hostile)):
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "<b>" not in text


def test_the_policy_admits_exactly_the_page_s_own_script_and_style() -> None:
    page = page_html([[CAT]], ["cat"])
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert found
    policy = html.unescape(found.group(1))
    script = re.search(r"<script>(.*?)</script>", page, re.S)
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert script
    assert style
    for name, text in (("script-src", script.group(1)), ("style-src", style.group(1))):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r'(?:src|href)="(?!data:,")', page)


def test_two_systems_are_matched_by_id_in_the_order_of_the_first(tmp_path: Path) -> None:
    paths = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    paths[0].write_text("".join(to_json(each) + "\n" for each in (LONG, CAT)), encoding="utf-8")
    paths[1].write_text("".join(to_json(each) + "\n" for each in (POOR_CAT, replace(CAT, id="new"))), encoding="utf-8")
    assert main(["view", *map(str, paths), "-o", str(tmp_path / "page.html"), "--quiet"]) == 0
    data = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert data["systems"] == ["one", "two"]
    assert [pair["id"] for pair in data["pairs"]] == ["harbour", "cat", "new"]
    assert [[view is not None for view in pair["views"]] for pair in data["pairs"]] == [
        [True, False],
        [True, True],
        [False, True],
    ]


def test_files_of_one_name_are_told_apart_by_their_paths() -> None:
    assert system_names(["a/results.jsonl", "b/results.jsonl"]) == ("a/results.jsonl", "b/results.jsonl")


def test_bad_results_are_refused_with_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(to_json(CAT) + "\n" + to_json(CAT) + "\n", encoding="utf-8")
    assert main(["view", str(path), "-o", str(tmp_path / "page.html")]) == 1
    assert "results.jsonl:2: the id 'cat' occurs twice" in capsys.readouterr().err


# ---- notebooks ----


@pytest.mark.parametrize("sample", [CAT, RICH_CAT, LONG, hostile_record()])
def test_the_fragment_is_well_formed_and_draws_every_word_and_pair(sample: Alignment) -> None:
    root = ElementTree.fromstring(result_html(sample))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for word in (*sample.source.words, *sample.target.words):
        assert visible(word) in texts
    titles = [str(element.text) for element in root.iter("{http://www.w3.org/2000/svg}title")]
    titles = [title for title in titles if not title.startswith(("part of ", "adds small words to "))]
    assert len(titles) == 2 * len(sample.pairs())
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_boxes_of_one_row_never_overlap() -> None:
    for sample in (RICH_CAT, LONG):
        root = ElementTree.fromstring(result_html(sample))
        rows: dict[float, list[tuple[float, float]]] = {}
        for box in root.iter("{http://www.w3.org/2000/svg}rect"):
            begin = float(box.attrib["x"])
            rows.setdefault(float(box.attrib["y"]), []).append((begin, begin + float(box.attrib["width"])))
        for row in rows.values():
            row.sort()
            assert all(left[1] <= right[0] for left, right in pairwise(row))


# ---- the server ----


def fake_align(source: str, target: str) -> Alignment:
    if source == "unparsable":
        raise NoParseError("no parse for 'unparsable'")
    if source == "broken":
        raise RuntimeError("a secret path")
    return replace(CAT, id=f"{source} / {target}")


@pytest.fixture
def server() -> Iterator[AlignServer]:
    with AlignServer(("127.0.0.1", 0), fake_align) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(server: AlignServer, method: str, path: str, body: str | bytes = b"", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=PATIENCE)
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, path, body, sent)
    answer = connection.getresponse()
    status, content = answer.status, answer.read()
    connection.close()
    return status, content


PAIR = json.dumps({"source": "a b", "target": "c"})


def test_the_server_gives_the_page_and_aligns(server: AlignServer) -> None:
    status, page = ask(server, "GET", "/")
    assert status == 200
    assert data_of(page.decode())["serves"] is True
    status, answer = ask(server, "POST", "/align", PAIR)
    assert status == 200
    assert from_json(answer.decode()) == replace(CAT, id="a b / c")
    status, picture = ask(server, "POST", "/picture", PAIR)
    assert json.loads(picture)["choices"][0]["reachedRoot"] is True


@pytest.mark.parametrize(
    ("body", "expected", "message"),
    [
        ("no json", 400, "expected"),
        ("[]", 400, "expected"),
        ('{"source": "a"}', 400, "expected"),
        ('{"source": "a", "target": 3}', 400, "target sentence is empty"),
        ('{"source": " ", "target": "b"}', 400, "source sentence is empty"),
        ('{"source": "a \\udc00 b", "target": "b"}', 400, "half of a surrogate pair"),
        (json.dumps({"source": "a " * 200, "target": "b"}), 400, "more than 150 words"),
        ("[" * 10_000, 400, "expected"),
        ("x" * (MAX_BYTES + 1), 413, "20,000 bytes"),
        ('{"source": "unparsable", "target": "b"}', 422, "no parse"),
        ('{"source": "broken", "target": "b"}', 500, "the terminal shows why"),
    ],
)
def test_bad_requests_get_an_error_and_the_server_lives_on(
    server: AlignServer, body: str, expected: int, message: str
) -> None:
    status, answer = ask(server, "POST", "/align", body)
    assert status == expected
    assert message in json.loads(answer)["error"]
    assert b"secret" not in answer
    assert ask(server, "POST", "/align", PAIR)[0] == 200


def test_other_pages_and_foreign_names_cannot_reach_the_aligner(server: AlignServer) -> None:
    port = server.server_address[1]
    assert ask(server, "GET", "/", Host=f"evil.example:{port}")[0] == 421
    assert ask(server, "POST", "/align", PAIR, Host="evil.example")[0] == 421
    assert ask(server, "GET", "/", Host="")[0] == 421
    assert ask(server, "GET", "/", Host="[::1")[0] == 421
    assert ask(server, "GET", "/", Host=f"localhost:{port}")[0] == 200
    assert ask(server, "POST", "/align", PAIR, Origin="http://evil.example")[0] == 403
    assert ask(server, "POST", "/align", PAIR, Origin="null")[0] == 403
    assert ask(server, "POST", "/align", PAIR, Origin=f"http://127.0.0.1:{port}")[0] == 200
    assert ask(server, "POST", "/align", PAIR, Content_Type="text/plain")[0] == 415
    assert ask(server, "GET", "/../etc/passwd")[0] == 404
    assert ask(server, "POST", "/", PAIR)[0] == 404


def test_a_port_that_is_taken_is_bad_usage(server: AlignServer) -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        AlignServer(("127.0.0.1", server.server_address[1]), fake_align)
