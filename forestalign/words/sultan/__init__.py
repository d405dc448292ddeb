"""Word links by the stages of Sultan, Bethard and Sumner (2014).

- `stages`: what both pipelines build upon: pairs that compete, links that grow, parents and children
- `paper`: the pipeline as their paper describes it
- `published`: the pipeline as their program runs it
"""
