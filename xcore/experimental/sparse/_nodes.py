"""Arrays by values and places as nodes of pytrees."""

from __future__ import annotations

from ..._core.nodes import register_pytree_node


def register(cls: type, children: tuple, flags: tuple = (), inner: int = 0) -> None:
    """As a node. The sizes of batches are those of its leaves, which ``vmap`` takes and puts: the structure holds none.

    ``inner``: how many axes of the indices are of one matrix; 0 where there are no batches.
    """

    def batch_of(indices) -> tuple:
        return tuple(indices.shape[:-inner]) if inner and hasattr(indices, "shape") else ()

    def flatten(m):
        kept = [getattr(m, n) for n in children]
        here = batch_of(kept[1])
        sizes = m.shape[: len(here)]
        shared = () if sizes == here else sizes  # indices of one element, meant for all
        return kept, (m.shape[len(here) :], shared, *[getattr(m, n) for n in flags])

    def unflatten(aux, kept):
        m, (rest, shared, *others) = object.__new__(cls), aux
        here = batch_of(kept[1])
        more = len(here) - len(shared)  # axes that vmap has put in front, or taken
        batch = (*here[: max(more, 0)], *shared[max(-more, 0) :]) if shared else here
        sizes = {"shape": (*batch, *rest)}
        for name, value in (*zip(children, kept), *sizes.items(), *zip(flags, others)):
            object.__setattr__(m, name, value)
        return m

    register_pytree_node(cls, flatten, unflatten)
