"""Pictures of alignments: a page for a browser, a fragment for a notebook, and a small server."""

from forestalign.view.page import page_html, write_page
from forestalign.view.scene import Scene, scene_of
from forestalign.view.static import result_html

__all__ = ["Scene", "page_html", "result_html", "scene_of", "write_page"]
