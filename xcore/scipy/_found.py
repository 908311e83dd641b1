"""What SciPy's solvers return: a dict whose keys are attributes too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import nodes, tree


@nodes.register_pytree_with_keys_class
class Found(dict):
    """A result with SciPy's names: ``found.x`` and ``found["x"]``. Words and flags belong to its structure.

    >>> found = Found(x=1.0, message="done")
    >>> found.x, found["message"], sorted(found)
    (1.0, 'done', ['message', 'x'])
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{name!r} is none of {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:>{width}}: {value}" for name, value in self.items())

    def tree_flatten_with_keys(self) -> tuple[list[tuple[Any, Any]], tuple[Any, Any]]:
        names = tuple(k for k, v in self.items() if not _is_static(v))
        static = tuple((k, v) for k, v in self.items() if _is_static(v))
        return [(tree.GetAttrKey(k), self[k]) for k in names], (names, static)

    @classmethod
    def tree_unflatten(cls, structure: Any, leaves: Iterable[Any]) -> Found:
        names, static = structure
        return cls(zip(names, leaves), **dict(static))


def _is_static(x) -> bool:
    return isinstance(x, str) or callable(x)
