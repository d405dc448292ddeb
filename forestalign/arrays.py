"""Types of numpy arrays, named after what they hold; what an array means is said where it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
Float16Array = npt.NDArray[np.float16]
AnyFloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]
ByteArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]
GenericArray = npt.NDArray[np.generic]
AnyArray = npt.NDArray[Any]
