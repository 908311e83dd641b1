"""``scipy.cluster``."""

from . import vq
