"""Settings: one immutable record for the process, overridable for a block of one thread.

==========================  ============  ============================================================
name                        default       meaning
==========================  ============  ============================================================
default_bits                32            width of Python numbers and of creation functions: 32 or 64
narrow                      False         64-bit values that come in, or are asked for, become 32 bits
                                          wide while default_bits is 32, as in JAX
clamp                       False         positions out of range, and parameters of draws, that are known when a
                                          program is made are what others are: the nearest is read, none is
                                          written, as in JAX, and what no distribution has draws NaN or -1;
                                          matrices that cannot be factorised give NaN or infinity, no error
shared_gradients            False         derivatives taken inside of shard_map are those of values that its
                                          devices share, as in JAX, not each device's own
numpy_dtype_promotion       standard      "strict" forbids you implicit promotion between dtypes
numpy_rank_promotion        allow         "warn" or "raise" when operands of yours differ in rank
default_device              None          device for new arrays; None is the first one
default_matmul_precision    None          None (full), "default", "high", "highest", "tensorfloat32_3x" (about
                                          as exact as full on a GPU, and faster), or a dtype name
default_prng_impl           threefry2x32  generator behind random.key
threefry_partitionable      True          element i of a Threefry stream is a function of (key, i); False: the bits that
                                          jax gave before 0.5, which depend on how many are drawn
disable_jit                 False         run jitted functions and loops as plain Python
disable_most_optimizations  False         compile several times faster to programs that run slower
plain                       False         write nothing in a way that only a CPU's speed needs
enable_checks               False         re-derive every type of every program (for xcore's own tests)
check_tracer_leaks          False         raise where a traced value leaves its function
debug_nans                  False         raise at the first operation that makes a NaN
debug_infs                  False         the same for infinities
debug_checks                False         run debug_check and check dynamic indices
debug_key_reuse             False         raise when a random key is used twice
sanitize                    False         all of these, and more: see docs/sanitize.md
sanitize_cancellation       False         warn of sums that lose their digits
explain_cache_misses        False         print why a jitted function is traced again
log_compiles                False         print each compilation and how long it took
traceback_filtering         auto          "off" shows xcore's own frames in tracebacks
mesh                        None          the mesh that bare PartitionSpecs mean
==========================  ============  ============================================================

Each is read from the environment as ``XCORE_<NAME>`` and accepted with a ``jax_`` prefix, as
tutorials write it; ``enable_x64`` is another name for ``default_bits=64``. ``platforms`` and
``num_cpu_devices`` can be changed until the first array is made, ``compilation_cache_dir`` and
``enable_compilation_cache`` at any time.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .._backend import client as backend

_DEFAULTS = {
    "default_bits": 32,
    "narrow": False,
    "clamp": False,
    "shared_gradients": False,
    "numpy_dtype_promotion": "standard",
    "numpy_rank_promotion": "allow",
    "default_device": None,
    "default_matmul_precision": None,
    "default_prng_impl": "threefry2x32",
    "threefry_partitionable": True,
    "disable_jit": False,
    "disable_most_optimizations": False,
    "plain": False,
    "enable_checks": False,
    "check_tracer_leaks": False,
    "debug_nans": False,
    "debug_infs": False,
    "debug_checks": False,
    "debug_key_reuse": False,
    "sanitize": False,
    "sanitize_cancellation": False,
    "explain_cache_misses": False,
    "log_compiles": False,
    "traceback_filtering": "auto",
    "mesh": None,
}
_CHOICES = {
    "default_bits": (32, 64),
    "numpy_dtype_promotion": ("standard", "strict"),
    "numpy_rank_promotion": ("allow", "warn", "raise"),
    "default_prng_impl": ("threefry2x32", "philox4x32"),
    "traceback_filtering": (
        "auto",
        "off",
        "tracebackhide",
        "remove_frames",
        "quiet_remove_frames",
    ),
}

# What the runtime reads from the environment. The first two are read once, when it starts.
_ENVIRONMENT = {
    "platforms": "XCORE_PLATFORM",
    "platform_name": "XCORE_PLATFORM",
    "num_cpu_devices": "XCORE_NUM_CPU_DEVICES",
    "compilation_cache_dir": "XCORE_CACHE_DIR",
    "enable_compilation_cache": "XCORE_CACHE",
}
_READ_ONCE = ("platforms", "platform_name", "num_cpu_devices")
# Settings of JAX that ask for what is always so here.
_ALWAYS = {
    "enable_custom_prng": True,
    "persistent_cache_min_compile_time_secs": None,  # None: any value
    "persistent_cache_min_entry_size_bytes": None,
}


class Settings:
    """One value for each setting. Immutable and interned, so caches may key on its identity."""

    __slots__ = tuple(_DEFAULTS)

    if TYPE_CHECKING:  # a value for each name of the table

        def __getattr__(self, name: str) -> Any: ...

    _interned: dict[Any, Any] = {}

    def __new__(cls, values: tuple[Any, ...]):
        found = cls._interned.get(values)
        if found is None:
            found = object.__new__(cls)
            for name, value in zip(cls.__slots__, values, strict=True):
                object.__setattr__(found, name, value)
            cls._interned[values] = found
        return found

    def __setattr__(self, name: str, value: Any):
        raise AttributeError("settings are immutable; use xcore.config.update(name, value)")

    @property
    def watches(self) -> bool:
        """Whether results of programs are checked for NaN or infinities."""
        return self.debug_nans or self.debug_infs or self.sanitize or self.sanitize_cancellation

    @property
    def sanitizes(self) -> bool:
        """Whether each operation is looked at, also inside of functions."""
        return self.sanitize or self.sanitize_cancellation

    @property
    def strict(self) -> bool:
        """Whether promotion of dtypes or ranks is checked more strictly than usual."""
        return self.numpy_dtype_promotion == "strict" or self.numpy_rank_promotion != "allow"

    @property
    def checks_indices(self) -> bool:
        return self.debug_checks or self.sanitize

    @property
    def watches_keys(self) -> bool:
        return self.debug_key_reuse or self.sanitize

    def replace(self, **changes: Any) -> Settings:
        return Settings(tuple(changes.get(n, getattr(self, n)) for n in self.__slots__))


class State:
    """What is current in a thread: a trace, and settings. ``None`` stands for the defaults."""

    __slots__ = ("settings", "trace")

    def __init__(self, trace: Any, settings: Any) -> None:
        self.trace, self.settings = trace, settings


# One context variable for both, so that the fast path of a call asks a single question:
# is anything other than plain evaluation under the process-wide settings going on?
STATE: ContextVar[State | None] = ContextVar("xcore", default=None)
get_state = STATE.get


_fast_caches: weakref.WeakSet[Any] = weakref.WeakSet()
KEPT = 4096  # entries of one cache of calls; beyond, all are forgotten and learnt again


class FastCache(dict[Any, Any]):
    """A dict that a change of the process-wide settings empties."""

    __slots__ = ("__weakref__",)
    __hash__ = object.__hash__  # type: ignore[assignment]  # members of a WeakSet differ by identity
    __eq__ = object.__eq__

    def __init__(self) -> None:
        super().__init__()
        _fast_caches.add(self)

    def keep(self, key: Any, value: Any, made_under: Settings) -> None:
        """Store what holds under the process-wide settings; it was made while they were these."""
        if len(self) >= KEPT:
            self.clear()
        if made_under is _base:
            self[key] = value


class FastList(list[Any]):
    """A list that a change of the process-wide settings empties."""

    __slots__ = ("__weakref__",)
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__

    def __init__(self) -> None:
        super().__init__()
        _fast_caches.add(self)


def clear_fast_caches() -> None:
    for cache in list(_fast_caches):
        cache.clear()


_TRUE, _FALSE = ("1", "true", "yes", "on", "y", "t"), ("0", "false", "no", "off", "n", "f", "")


def _truth(name: str, text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE + _FALSE:
        raise ValueError(
            f"{name} must be one of 1, true, yes, on, 0, false, no, off; given {text!r}."
        )
    return word in _TRUE


def _from_text(name: str, text: str):
    default, variable = _DEFAULTS[name], f"XCORE_{name.upper()}"
    if isinstance(default, bool):
        return _truth(variable, text)
    if not isinstance(default, int):
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{variable} must be a whole number, given {text!r}.") from None


def _own_name(name: str) -> str:
    """A setting's name without the prefixes that users write."""
    short = name.lower().removeprefix("jax_").removeprefix("xcore_")
    if short not in _DEFAULTS and short != "enable_x64":
        raise AttributeError(
            f"xcore.config: there is no setting {name!r}. Settings are: {', '.join(_DEFAULTS)}."
        )
    return short


def canonical(name: str, value: Any):
    """The setting's own name and a checked value for a name as users write it."""
    short = _own_name(name)
    if isinstance(value, str) and (short == "enable_x64" or isinstance(_DEFAULTS[short], bool)):
        value = _truth(f"xcore.config: {short}", value)
    if short == "enable_x64":
        short, value = "default_bits", 64 if value else 32
    if isinstance(_DEFAULTS[short], bool):
        value = bool(value)
    allowed = _CHOICES.get(short)
    if allowed and value not in allowed:
        raise ValueError(f"xcore.config: {short} must be one of {allowed}, given {value!r}.")
    return short, value


def _initial() -> Settings:
    values = dict(_DEFAULTS)
    for name in _DEFAULTS:
        text = os.environ.get(f"XCORE_{name.upper()}")
        if text is not None:
            values.update([canonical(name, _from_text(name, text))])
    for variable in ("XCORE_ENABLE_X64", "JAX_ENABLE_X64"):
        if _truth(variable, os.environ.get(variable, "")):
            values["default_bits"] = 64
    return Settings(tuple(values.values()))


_base = _initial()


def settings() -> Settings:
    """The settings that hold here and now."""
    state = get_state()
    return _base if state is None else state.settings


def base() -> Settings:
    """The settings of the process."""
    return _base


def read(name: str) -> Any:
    """The value of a setting that holds here and now; ``config.name`` says the same.

    Args:
      name: a name of the table, also with a ``jax_`` in front.

    >>> import xcore as xc
    >>> xc.config.read("jax_debug_nans"), xc.config.jax_enable_x64
    (False, False)
    """
    runtime = name.lower().removeprefix("jax_").removeprefix("xcore_")
    if runtime in _ENVIRONMENT:
        return _read_runtime(runtime)
    short = _own_name(name)
    return settings().default_bits == 64 if short == "enable_x64" else getattr(settings(), short)


def _read_runtime(name: str) -> Any:
    """What the environment says of the runtime; None where it says nothing."""
    text = os.environ.get(_ENVIRONMENT[name])
    if name == "enable_compilation_cache":
        return text != "0"
    return int(text) if name == "num_cpu_devices" and text else text


def __getattr__(name: str) -> Any:
    return read(name)


def update(name: str, value: Any) -> None:
    """Change a setting for the whole process.

    Args:
      name: a name of the table, also with a ``jax_`` in front.
      value: what it becomes.

    >>> import xcore as xc
    >>> xc.config.update("jax_enable_x64", False)
    """
    global _base
    short = name.lower().removeprefix("jax_").removeprefix("xcore_")
    if short in _ENVIRONMENT or short in _ALWAYS:
        return _update_runtime(short, value)
    short, value = canonical(name, value)
    _base = _base.replace(**{short: value})
    clear_fast_caches()


def _update_runtime(name: str, value: Any) -> None:
    if name in _ALWAYS:
        if _ALWAYS[name] not in (None, value):
            raise ValueError(f"xcore.config: {name} is always {_ALWAYS[name]}, given {value!r}.")
        return
    text = None if value is None else str(int(value) if isinstance(value, bool) else value)
    variable = _ENVIRONMENT[name]
    if name in _READ_ONCE and backend.has_started() and os.environ.get(variable) != text:
        raise RuntimeError(
            f"xcore.config: {name} must be set before the first array is made. Move the line up, "
            f"or set {variable}={text or ''} in the environment."
        )
    if text is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = text


@contextlib.contextmanager
def override(**changes: Any) -> Generator[None]:
    """Settings for a block, in this thread only.

    Args:
      changes: values by names of the table.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> with xc.config.override(default_bits=64):
    ...     print(xnp.zeros(2).dtype)
    float64
    """
    state = get_state()
    here = settings().replace(**dict(canonical(n, v) for n, v in changes.items()))
    token = STATE.set(State(state.trace if state else None, here))
    try:
        yield
    finally:
        STATE.reset(token)


_SWITCH = "True, or False for a block in which it is off."


def context(name: str, about: str, example: str, default: Any = True, values: str = _SWITCH):
    """A function such as ``debug_nans``: ``with debug_nans(True):`` changes one setting for a block.

    ``values`` is what the docstring says of its argument.
    """

    def change(value: Any = default) -> contextlib.AbstractContextManager[None]:
        return override(**{name: value})

    change.__name__ = change.__qualname__ = name
    change.__module__ = "xcore"
    lines = "\n    ".join(
        [">>> import xcore as xc, xcore.numpy as xnp", *example.strip().split("\n")]
    )
    change.__doc__ = f"""``with {name}(value):`` {about}, in this block and thread.

    Args:
      value: {values}

    {lines}
    """
    return change
