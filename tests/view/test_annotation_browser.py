"""Correcting alignments in a real Chromium: add, remove, null, mark, undo, save, reload, two annotators, agreement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forestalign import Alignment
from forestalign.cli import main
from forestalign.evaluation.annotated_pairs import AnnotatedPair, read_annotations
from forestalign.evaluation.annotation_checks import check_pair
from forestalign.evaluation.annotation_store import AnnotationStore
from forestalign.view import page_html
from forestalign.view.server import AlignServer
from tests.builders.browsers import CAT, DELETE, IN_A_BROWSER, LONG, Browser, browser, running, wait_until
from tests.builders.sample_results import side, with_sides
from tests.builders.view_samples import CAT_SOURCE

__all__ = ["browser"]
pytestmark = IN_A_BROWSER

OLD_MAT, OLD_RUG = (7, 9, "NP", True), (2, 4, "NP", True)  # bar nodes of "the old mat" and "the old rug"


@pytest.fixture
def folder(browser: Browser, tmp_path: Path) -> Path:
    (tmp_path / "page.html").write_text(page_html([[CAT], [LONG]], ["cats"]), encoding="utf-8")
    browser.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "loads")}
    )
    return tmp_path


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Browser]:
    browser.open(folder / "page.html")
    browser.script("localStorage.clear()")
    browser.open(folder / "page.html")
    browser.press("e")
    yield browser
    assert browser.complaints() == []


def name_annotator(browser: Browser, name: str) -> None:
    browser.script(
        "const box = document.getElementById('annotator'); box.value = arguments0;".replace(
            "arguments0", json.dumps(name)
        )
    )
    browser.script("document.getElementById('annotator').dispatchEvent(new Event('change'))")


def partner(browser: Browser, span: str, kind: str = "w") -> str | None:
    """The target span that shares the colour index of a source node."""
    index = browser.node("source", span, f'[data-kind="{kind}"]').get_attribute("data-phrase")
    found = browser.all(f'.node[data-side="target"][data-phrase="{index}"]') if index != "-1" else []
    return found[0].get_attribute("data-span") if found else None


def click(browser: Browser, side: str, span: str, kind: str = "w") -> None:
    browser.script(
        f"""document.querySelector('.node[data-side="{side}"][data-span="{span}"][data-kind="{kind}"]')"""
        ".dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    )


def download(browser: Browser, folder: Path, name: str) -> Path:
    browser.one("#download").click()
    wait_until((folder / "loads" / name).exists)
    return folder / "loads" / name


def spans(pair: AnnotatedPair, annotator: str) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    (own,) = [each for each in pair.annotations if each.annotator == annotator]
    return {(each.source[:2], each.target[:2]) for each in own.pairs}


def test_pairs_are_added_removed_and_changes_taken_back(page: Browser) -> None:
    assert partner(page, "7-9", "b") is None
    click(page, "source", "7-9", "b")
    assert page.one(".node.is-picked").get_attribute("data-span") == "7-9"
    click(page, "target", "2-4", "b")
    assert partner(page, "7-9", "b") == "2-4"
    page.press(DELETE)
    assert partner(page, "7-9", "b") is None
    page.control("z")
    assert partner(page, "7-9", "b") == "2-4"
    page.control("z")
    assert partner(page, "7-9", "b") is None
    page.control("y")
    assert partner(page, "7-9", "b") == "2-4"


def test_a_phrase_has_one_partner(page: Browser) -> None:
    assert partner(page, "1-2") == "6-7"
    click(page, "target", "2-3")
    click(page, "source", "1-2")
    assert partner(page, "1-2") == "2-3"
    assert page.node("target", "6-7", '[data-kind="w"]').get_attribute("data-phrase") == "-1"


def test_a_null_phrase_has_nothing_aligned_inside(page: Browser) -> None:
    click(page, "source", "5-9", "p")
    page.press("u")
    for span in ("5-6", "6-7", "7-8", "8-9"):
        assert partner(page, span) is None
    assert "null" in page.node("source", "5-9", '[data-kind="p"]').get_attribute("class").split()
    page.one("#undo").click()
    assert partner(page, "8-9") == "3-4"


def test_clear_leaves_the_roots_and_start_again_brings_everything_back(page: Browser) -> None:
    before = len(page.all(".node.aligned"))
    page.one("#clear").click()
    assert {node.get_attribute("data-span") for node in page.all(".node.aligned")} == {"0-10", "0-11"}
    page.one("#restart").click()
    assert len(page.all(".node.aligned")) == before


def test_saving_needs_a_name(page: Browser) -> None:
    page.control("s")
    assert "Enter your name" in page.text("#edit-status")


def test_what_is_downloaded_is_an_annotated_pair_without_errors(page: Browser, folder: Path) -> None:
    name_annotator(page, "ann")
    click(page, "source", "7-9", "b")
    click(page, "target", "2-4", "b")
    page.press("m")
    page.control("s")
    assert page.text("#edit-status") == "1 pair saved"
    (pair,) = read_annotations(download(page, folder, "annotations-ann.jsonl"))
    own = pair.annotations[0]
    assert (OLD_MAT, OLD_RUG) in own.pairs
    assert [mark.text for mark in own.marks] == ["unsure"]
    assert not {code for code, _ in check_pair(pair)} & {"E02", "E03", "E06", "E07", "E08", "E09"}


def test_unsaved_changes_survive_a_reload_and_saved_ones_too(page: Browser, folder: Path) -> None:
    name_annotator(page, "ann")
    click(page, "source", "4-5")
    page.press(DELETE)
    page.control("s")
    click(page, "source", "0-1")
    page.press(DELETE)
    page.open(folder / "page.html")
    page.press("e")
    assert page.text("#edit-status") == "1 pair saved"
    assert partner(page, "0-1") is None
    assert partner(page, "4-5") is None
    assert "not saved" in page.text("#row-0")


def test_two_annotators_work_apart_and_their_files_are_compared(
    page: Browser, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, spans_removed in (("ann", ["0-1"]), ("bob", ["1-2", "2-3"])):
        name_annotator(page, name)
        assert partner(page, "0-1") == "5-6"
        for span in spans_removed:
            click(page, "source", span)
            page.press(DELETE)
        page.control("s")
    name_annotator(page, "ann")
    assert partner(page, "0-1") is None
    assert partner(page, "1-2") == "6-7"
    files = [download(page, folder, "annotations-ann.jsonl")]
    name_annotator(page, "bob")
    files.append(download(page, folder, "annotations-bob.jsonl"))
    first, second = (next(iter(read_annotations(path))) for path in files)
    ann, bob = spans(first, "ann"), spans(second, "bob")
    assert ann - bob == {((1, 2), (6, 7)), ((2, 3), (7, 8))}
    assert bob - ann == {((0, 1), (5, 6))}
    assert main(["annotations", "agreement", *map(str, files)]) == 0
    f1 = 2 * len(ann & bob) / (len(ann) + len(bob))
    assert f"F1 ann-bob    {100 * f1:6.2f}" in capsys.readouterr().out


def test_an_opened_file_goes_on_and_tells_what_changed(page: Browser, folder: Path) -> None:
    name_annotator(page, "ann")
    page.control("s")
    page.press("n")
    page.control("s")
    path = download(page, folder, "annotations-ann.jsonl").rename(folder / "earlier.jsonl")
    changed = with_sides(CAT, side(CAT_SOURCE.replace("The", "A")))
    (folder / "later.html").write_text(page_html([[changed], [LONG]], ["later"]), encoding="utf-8")
    page.script("localStorage.clear()")
    page.open(folder / "later.html")
    page.press("e")
    page.one("#open-file").send_keys(str(path))
    wait_until(lambda: "1 pair changed since" in page.text("#edit-status"))
    assert "changed" in page.text("#row-0")
    assert "saved" in page.text("#row-1")
    page.control("s")
    assert "have changed since" in page.text("#conflict")
    again = download(page, folder, "annotations-ann.jsonl")
    assert again.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")  # nothing is lost
    page.one("#conflict-button").click()
    assert page.text("#edit-status") == "2 pairs saved"


# ---- with a server ----


def align(source: str, target: str) -> Alignment:
    return CAT


def test_the_server_s_file_is_saved_to_and_gone_on_with(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    for removed, left in (("0-1", "1-2"), ("1-2", "2-3")):
        with (
            AnnotationStore(path, [CAT, LONG]) as store,
            running(AlignServer(("127.0.0.1", 0), align, results=[CAT, LONG], annotate=store)) as url,
        ):
            browser.open(url)
            name_annotator(browser, "ann")
            wait_until(lambda: "saved" in browser.text("#edit-status"))
            wait_until(lambda gone=removed: browser.node("source", gone).get_attribute("data-phrase") != "-1")
            click(browser, "source", removed)
            browser.press(DELETE)
            browser.control("s")
            wait_until(lambda: browser.text("#edit-status") == "1 pair saved" and browser.text("#save-pair") == "Saved")
            assert partner(browser, left) is not None
            browser.open("about:blank")
    (pair,) = read_annotations(path)
    assert not {((0, 1), (5, 6)), ((1, 2), (6, 7))} & spans(pair, "ann")
    assert ((2, 3), (7, 8)) in spans(pair, "ann")
    assert browser.complaints() == []


def test_the_second_page_of_one_file_is_told(browser: Browser, tmp_path: Path) -> None:
    with (
        AnnotationStore(tmp_path / "gold.jsonl", [CAT]) as store,
        running(AlignServer(("127.0.0.1", 0), align, results=[CAT], annotate=store)) as url,
    ):
        browser.open(url)
        wait_until(lambda: "nothing saved" in browser.text("#edit-status"))
        first = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        browser.driver.get(url)
        wait_until(lambda: "open in another page" in browser.text("#conflict"))
        browser.one("#conflict-button").click()
        wait_until(lambda: "nothing saved" in browser.text("#edit-status"))
        browser.driver.switch_to.window(first)
        name = browser.one("#annotator")
        assert name.is_displayed()
        browser.script("localStorage.setItem('forestalign:annotator', '\"ann\"')")
        name_annotator(browser, "ann")
        wait_until(lambda: "open in another page" in browser.text("#conflict"))
        browser.control("s")
        wait_until(lambda: "Not saved" in browser.text("#conflict"))
        assert (tmp_path / "gold.jsonl").read_bytes() == b""
        browser.one("#conflict-button").click()
        wait_until(lambda: browser.text("#edit-status") == "1 pair saved")
        handles: Any = browser.driver.window_handles
        browser.driver.switch_to.window(next(handle for handle in handles if handle != first))
        browser.driver.close()
        browser.driver.switch_to.window(first)
        browser.complaints()  # the refusals are in the log
