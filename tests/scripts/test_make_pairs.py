"""Samples of pairs that a phrase model is learned from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from make_pairs import main


def test_a_sample_names_its_origin_and_passes_over_what_is_no_paraphrase(tmp_path: Path) -> None:
    lines = [{"source": f"a {i}", "target": f"b {i}", "paraphrase": i % 2} for i in range(10)]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    main([f"{tmp_path}/set.jsonl:3", "-o", str(tmp_path / "out.jsonl")])
    pairs = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(pairs) == 3
    assert all(pair["id"].startswith("set:") and int(pair["source"][2:]) % 2 for pair in pairs)
    with pytest.raises(SystemExit, match="expected at least 6"):
        main([f"{tmp_path}/set.jsonl:6", "-o", str(tmp_path / "out.jsonl")])
