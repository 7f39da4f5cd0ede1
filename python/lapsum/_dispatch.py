"""Which front end serves an array: decided by its type, importing no framework to find out."""

from __future__ import annotations

from typing import Any

_WITHOUT_FRONT_END = {
    "torch": "x.detach().numpy()",
    "jax": "np.asarray(x)",
    "jaxlib": "np.asarray(x)",
}


def operation(name: str, *arrays: object) -> Any:
    """The operation `name` of the front end that `arrays` belong to."""
    for array in arrays:
        framework = type(array).__module__.partition(".")[0]
        if framework in _WITHOUT_FRONT_END:
            raise TypeError(
                f"{name}: {framework} arrays are not supported in this version; "
                f"pass a NumPy array, for example {_WITHOUT_FRONT_END[framework]}"
            )
    from lapsum import _numpy

    return _numpy.OPERATIONS[name]
