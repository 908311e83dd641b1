"""What only a CPU's speed needs: alternatives to the lowering of operations, and their kernels.

An operation names its alternatives (``_core.op.Alternative``), and the first that applies writes it.
An alternative that is a program of other operations stands beside its operation, in ``_ops``. No
algorithm asks for the platform: what it does may not depend on it, and the setting ``plain`` does
without all of this.
"""
