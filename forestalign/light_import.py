"""Modules of other packages without what the `__init__` of those packages brings along.

`import nltk` loads scipy.stats and more, and takes two seconds; `import lemminflect` loads spaCy, and with it torch,
just because they are installed, and takes four. `tokens` alone needs this, but it has nothing to do with words.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Sequence
from types import ModuleType

_LOCK = threading.Lock()


def light_import(package: str, modules: Sequence[str], bare: Sequence[str] = ()) -> list[ModuleType]:
    """The modules, named from below `package`, whose own `__init__` is not run, nor those of its `bare` sub-packages.

    Stand-ins take the places of these packages meanwhile, and nothing of the package stays in `sys.modules`: whoever
    imports it later gets the whole of it. Where it is there already, its modules are imported as usual.
    """
    names = [f"{package}.{module}" for module in modules]
    with _LOCK:
        if package in sys.modules:
            return [importlib.import_module(name) for name in names]
        try:
            for name in (package, *(f"{package}.{part}" for part in bare)):
                sys.modules[name] = _stand_in(name, package)
            return [importlib.import_module(name) for name in names]
        finally:
            for name in [name for name in sys.modules if name.partition(".")[0] == package]:
                del sys.modules[name]


def _stand_in(name: str, package: str) -> ModuleType:
    """An empty package in the place of `name`, below which modules are found."""
    module = ModuleType(name)
    if name == package:
        found = importlib.util.find_spec(package)
        if found is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        module.__path__ = list(found.submodule_search_locations or ())
    else:
        module.__path__ = [f"{root}/{name.removeprefix(package + '.')}" for root in sys.modules[package].__path__]
    return module
