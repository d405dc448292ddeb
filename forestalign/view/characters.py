"""Characters that would steer a terminal or a page instead of being read, made visible."""

from __future__ import annotations

import re

# Directional marks, embeddings, overrides and isolates can make a text read otherwise than it is; control characters
# move the cursor of a terminal and change its colours. `assets/draw.js` has the same list.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with every such character as its number: `[U+202E]`."""
    return _STEERING.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
