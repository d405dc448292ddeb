"""Pictures of alignments: a page for a browser, a fragment for a notebook, and a small server.

- `scene`: what is to be drawn
- `differences`: what was replaced, removed and added
- `text`, `static`, `page`: drawn as text, with brackets, as SVG, as a page
- `server`: the page with two text boxes
"""

from forestalign.view.page import page_html, write_page
from forestalign.view.scene import Scene, scene_of
from forestalign.view.static import render, result_html

__all__ = ["Scene", "page_html", "render", "result_html", "scene_of", "write_page"]
