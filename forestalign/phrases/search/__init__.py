"""The search for the best tree of phrase pairs (section 4 of the paper), in reading order.

- `lca`: ways up a forest, and the lowest common ancestors they meet at (3.3, 4.1)
- `hypotheses`: partial alignments, and what is handed on of those that reach the roots (4.2)
- `trace`: non-compositional steps (4.3)
- `search`: the search itself (4.2), and what a hypothesis may still become, by which beams are shared
- `directed_search`: the search in one direction, or in both, of which the better is kept; by compiled twins, `_lca.pyx`
  and so on, of which `_search.pyx` names the parts
- `legitimacy`: what makes an alignment legitimate (3.2); it judges the search and shares no code with it
"""
