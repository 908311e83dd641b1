"""Classes that programs name when they ask not to be warned; nothing here warns."""


class SparseEfficiencyError(ValueError):
    """Raised by nothing here: for programs that catch it.

    >>> issubclass(SparseEfficiencyError, ValueError)
    True
    """


class SparseEfficiencyWarning(UserWarning):
    """Given by nothing here: for programs that filter it.

    >>> issubclass(SparseEfficiencyWarning, UserWarning)
    True
    """


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """Given by nothing here: for programs that filter it.

    >>> issubclass(CuSparseEfficiencyWarning, SparseEfficiencyWarning)
    True
    """
