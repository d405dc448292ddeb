"""python -m forestalign"""

import os
import sys
from contextlib import suppress

# `python -m` puts the current folder first, and a `numpy.py` that lies there beside the data would be run. It stays
# where the package itself was found in it. (Python looks for the package before we are asked; the command
# `forestalign` never looks there.)
with suppress(OSError):  # a current folder that is gone
    if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()] != [os.path.dirname(os.path.dirname(__file__))]:
        del sys.path[0]

from forestalign.cli import main

sys.exit(main())
