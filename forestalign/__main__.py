"""python -m forestalign"""

import sys

from forestalign.cli import main

sys.exit(main())
