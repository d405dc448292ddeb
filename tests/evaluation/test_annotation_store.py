"""The file that the page saves to: locked, atomic, resumable, blind, and safe against what changed meanwhile."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forestalign import Alignment
from forestalign.cli import main
from forestalign.errors import AnnotationConflict, AnnotationError, ForestAlignError, UsageError
from forestalign.evaluation.annotated_pairs import annotated_pair, read_annotations
from forestalign.evaluation.annotation_store import AnnotationStore, result_of_annotation
from forestalign.view.server import AlignServer
from tests.builders.annotations import FED, KEEPERS, ROOTS, SEALS, SOURCE, TARGET, answer, save, send, side
from tests.builders.annotations import record as line_of
from tests.builders.work import PATIENCE


def open_page(store: AnnotationStore, page: str = "one", annotator: str = "ann", take_over: bool = False) -> Any:
    return send(store, "open", page, annotator=annotator, take_over=take_over)["pairs"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gold.jsonl"


@pytest.fixture
def store(path: Path) -> Iterator[AnnotationStore]:
    with AnnotationStore(path) as opened:
        yield opened


def test_what_is_saved_is_read_by_the_commands_and_found_at_the_next_start(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with AnnotationStore(path) as first:
        save(first, answer("ann", ROOTS, KEEPERS))
        save(first, answer("bob", ROOTS, FED, SEALS))
    with AnnotationStore(path) as second:
        (item,) = open_page(second)
        assert item["pairs"] == [ROOTS, KEEPERS]
        assert len(second.pairs[0].annotations) == 2
    assert main(["annotations", "agreement", str(path)]) == 0
    assert f"F1 ann-bob    {100 * 2 / 5:6.2f}" in capsys.readouterr().out


def test_annotators_do_not_see_each_other_but_share_the_trees(store: AnnotationStore) -> None:
    save(store, answer("ann", ROOTS, KEEPERS))
    (item,) = open_page(store, annotator="bob")
    assert item["pairs"] is None
    assert item["marks"] == []
    assert item["view"]["choices"][0]["phrases"] == []
    assert item["view"]["choices"][0]["trees"]["source"]["bars"]


def test_a_picture_is_sent_only_where_the_page_has_other_trees(path: Path) -> None:
    pair = annotated_pair(json.dumps(line_of()))
    with AnnotationStore(path, [result_of_annotation(pair)]) as store:
        save(store, answer("ann", ROOTS))
        assert open_page(store)[0]["view"] is None


def test_saving_again_replaces_one_s_own_answer_and_leaves_all_other_lines_as_they_are(path: Path) -> None:
    odd = json.dumps(answer("ann", ROOTS, id="odd") | {"note": "kept"}, separators=(", ", " :  "))
    path.write_text(odd + "\n", encoding="utf-8")
    with AnnotationStore(path) as store:
        save(store, answer("ann", ROOTS, KEEPERS))
        save(store, answer("bob", ROOTS))
        save(store, answer("ann", ROOTS, SEALS))
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == odd
    assert list(json.loads(lines[1])["annotators"].items()) == [
        ("ann", {"pairs": [ROOTS, SEALS]}),
        ("bob", {"pairs": [ROOTS]}),
    ]
    assert sorted(child.name for child in path.parent.iterdir()) == ["gold.jsonl"]


def test_a_second_server_on_the_same_file_is_refused_also_after_a_save(store: AnnotationStore, path: Path) -> None:
    with pytest.raises(UsageError, match="is in use"):
        AnnotationStore(path)
    save(store, answer("ann", ROOTS))
    with pytest.raises(UsageError, match="is in use"):
        AnnotationStore(path)


def test_a_second_page_is_told_and_may_take_over(store: AnnotationStore) -> None:
    open_page(store, "one")
    with pytest.raises(AnnotationConflict, match="open in another page") as told:
        open_page(store, "two")
    assert told.value.reason == "taken"
    with pytest.raises(AnnotationConflict):
        save(store, answer("ann", ROOTS), "two")
    open_page(store, "two", take_over=True)
    with pytest.raises(AnnotationConflict):
        save(store, answer("ann", ROOTS), "one")
    send(store, "close", "one")  # a page that lost the file cannot give it away
    with pytest.raises(AnnotationConflict):
        open_page(store, "three")
    send(store, "close", "two")
    open_page(store, "three")


def test_a_pair_whose_sentences_changed_is_not_overwritten_unasked(store: AnnotationStore, path: Path) -> None:
    save(store, answer("ann", ROOTS, KEEPERS))
    before = path.read_bytes()
    other = answer("ann", ROOTS, source=side(SOURCE.replace("old", "kind")))
    with pytest.raises(AnnotationConflict, match="have changed since") as told:
        save(store, other)
    assert told.value.reason == "changed"
    assert path.read_bytes() == before
    with pytest.raises(AnnotationError, match="annotated by ann on other sentences"):
        save(store, answer("bob", ROOTS, source=side(SOURCE.replace("old", "kind"))), replace=True)
    save(store, other, replace=True)
    (pair,) = read_annotations(path)
    assert pair.source.tokens[1] == "kind"


def test_what_somebody_else_wrote_meanwhile_is_kept(store: AnnotationStore, path: Path) -> None:
    save(store, answer("ann", ROOTS))
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(answer("bob", ROOTS, id="p2")) + "\n")
    save(store, answer("ann", ROOTS, id="p3"))
    assert [pair.id for pair in read_annotations(path)] == ["p1", "p2", "p3"]


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (answer("ann", ROOTS, [[0, 2, "NP", False], KEEPERS[1]]), "E06 ann: no source node NP 0-2"),
        (answer("ann", ROOTS, ROOTS), "E07"),
        (answer("ann", ROOTS, [KEEPERS[0], SEALS[1]], KEEPERS), "E08"),
        (answer(" ", ROOTS), "is not a name for an annotator"),
        (answer("a\nb", ROOTS), "is not a name for an annotator"),
        (answer("x" * 41, ROOTS), "is not a name for an annotator"),
        (line_of(), "has 3 annotators; expected one"),
        (line_of(annotators={}), "has 0 annotators; expected one"),
        ({"id": "p1"}, "no field 'phenomena'"),
        (answer("ann", ROOTS, target=side(TARGET) | {"tokens": ["a"]}), "E02"),
    ],
)
def test_answers_that_cannot_be_are_refused_and_nothing_is_written(
    store: AnnotationStore, path: Path, pair: dict[str, Any], message: str
) -> None:
    with pytest.raises(AnnotationError, match=message):
        save(store, pair)
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    "request_", [b"", b"[]", b"\xff", b'{"action": "erase", "page": "one"}', b'{"action": "open"}']
)
def test_requests_that_make_no_sense_get_our_error(store: AnnotationStore, request_: bytes) -> None:
    with pytest.raises(ForestAlignError):
        store(request_)


@pytest.mark.parametrize("bad", ["{", json.dumps(answer("ann", KEEPERS, [[0, 1, "XX", False], ROOTS[1]]))])
def test_a_file_that_cannot_be_read_is_refused_with_its_line_and_unlocked(path: Path, bad: str) -> None:
    path.write_text(json.dumps(answer("ann", ROOTS, id="p0")) + "\n" + bad + "\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(AnnotationError, match=r"gold\.jsonl:2: "):
            AnnotationStore(path)


def test_a_write_that_fails_leaves_the_file_and_says_so(
    store: AnnotationStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(store, answer("ann", ROOTS))
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UsageError, match=r"gold\.jsonl: No space left on device"):
        save(store, answer("ann", ROOTS, id="p2"))
    monkeypatch.undo()
    assert path.read_bytes() == before
    save(store, answer("ann", ROOTS, id="p3"))
    assert [pair.id for pair in read_annotations(path)] == ["p1", "p3"]


# ---- over the wire ----


def never(source: str, target: str) -> Alignment:
    raise AssertionError


def post(server: AlignServer, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=PATIENCE)
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request("POST", "/annotations", json.dumps(body), sent)
    reply = connection.getresponse()
    status, content = reply.status, json.loads(reply.read())
    connection.close()
    return status, content


def test_the_server_saves_only_for_its_own_page(store: AnnotationStore, path: Path) -> None:
    with AlignServer(("127.0.0.1", 0), never, annotate=store) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            request = {"action": "save", "page": "one", "replace": False, "pair": answer("ann", ROOTS)}
            assert post(server, request)[0] == 403
            assert post(server, request, X_Token="guess")[0] == 403
            assert post(server, request, X_Token=server.token, Origin="http://evil.example")[0] == 403
            assert post(server, request, X_Token=server.token, Content_Type="text/plain")[0] == 415
            assert path.read_bytes() == b""
            assert post(server, request, X_Token=server.token) == (200, {"saved": 1})
            status, told = post(server, request | {"page": "two"}, X_Token=server.token)
            assert (status, told["reason"]) == (409, "taken")
            assert post(server, {"action": "?"}, X_Token=server.token)[0] == 422
        finally:
            server.shutdown()
            thread.join()
    assert [pair.id for pair in read_annotations(path)] == ["p1"]


def test_a_page_that_fell_silent_for_ten_seconds_counts_as_closed(path: Path) -> None:
    now = [100.0]
    with AnnotationStore(path, clock=lambda: now[0]) as store:
        open_page(store, "one")
        now[0] += 9
        assert send(store, "alive", "one") == {"holds": True}
        now[0] += 10
        assert send(store, "alive", "two") == {"holds": False}
        with pytest.raises(AnnotationConflict):
            open_page(store, "two")
        now[0] += 0.1
        open_page(store, "two")
        assert send(store, "alive", "one") == {"holds": False}


def test_words_that_are_no_phrase_are_saved_and_handed_out_again(store: AnnotationStore, path: Path) -> None:
    fields = answer("ann", ROOTS)
    fields["annotators"]["ann"]["scattered"] = [[[3, 7], [2], "similar"]]
    save(store, fields)
    (pair,) = read_annotations(path)
    assert pair.annotations[0].scattered == (((3, 7), (2,), "similar"),)
    assert open_page(store, "one", "ann")[0]["scattered"] == [[[3, 7], [2], "similar"]]
    assert open_page(store, "one", "bob")[0]["scattered"] == []


@pytest.mark.parametrize(
    "words", [[[3, 99], [2], ""], [[7, 3], [2], ""], [[3], [2], ""], [[], [1, 2], ""], [3, [2], ""]]
)
def test_words_that_cannot_be_told_are_refused(store: AnnotationStore, words: list[object]) -> None:
    fields = answer("ann", ROOTS)
    fields["annotators"]["ann"]["scattered"] = [words]
    with pytest.raises(AnnotationError, match="expected"):
        save(store, fields)
