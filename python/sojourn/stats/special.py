"""Quantiles and distribution functions: `scipy.special`, without modules that its import takes along.

scipy copies each name of numpy, and a name of numpy that is a module is loaded when it is first named: numpy's compiler of
Fortran and its tests among them. They are half of the time that the import takes (0.2 of 0.4 s), and no function needs them.
"""

import numpy as np

_names = np.__dict__
_lazy = {name: _names[name] for name in ("__all__", "__dir__")}
_loaded = [name for name in np.__all__ if name in _names]
_names.update(__all__=_loaded, __dir__=lambda: _loaded)
try:
    from scipy.special import bdtr, chdtrc, chdtri, ndtri, stdtr, stdtrit
finally:
    _names.update(_lazy)

__all__ = ["bdtr", "chdtrc", "chdtri", "ndtri", "stdtr", "stdtrit"]
