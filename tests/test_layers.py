"""The layers hold: imports go one way, one folder names jaxlib, and `import xcore` is light."""

import ast
import functools
import subprocess
import sys
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "xcore"

# From the bottom up. A module may import from its own row's folder and from rows above it in this
# list. Folders in one row do not import each other. What is not listed is a face: names for users,
# at the top, imported by nothing but other faces.
LAYERS = (
    ("_backend",),
    ("_core",),
    ("_cpu",),
    ("_ops",),
    ("_transforms",),
    ("_control",),
    ("numpy",),
    ("special", "fft"),
    ("random",),
    ("nn", "stats"),
    ("_iterate", "_solution", "_width"),
    ("linalg",),
    ("sparse",),
    ("pde", "optimize"),
    ("decomp",),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}
FACE = len(LAYERS)

# Imported inside functions because they need not be there, or are slow to load and rarely needed.
OPTIONAL = {"matplotlib", "tqdm", "scipy", "sksparse", "torch"}
# Other modules imported inside functions, each with its reason.
INSIDE = {
    "xcore._core.lower": "loads the MLIR bindings; a start with a warm disk cache does without",
    "xcore._control.pair_rules": "of programs for TPUs",
    "xcore._control.in_pairs": "of programs for TPUs",
    "xcore._control.watch": "of the setting sanitize, which is off",
    "xcore._control.captures": "of the setting sanitize, which is off",
    "jaxlib.lapack": "loads SciPy's LAPACK, for programs that factorise",
    "xcore.special": "a large package behind a few names of xcore.lax",
    "xcore.lax.linalg": "a face of xcore.linalg, which few users of xcore.lax need",
    "jaxlib.gpu_solver": "only with the CUDA plugin",
    "jaxlib._profiler": "only with the CUDA plugin",
    "concurrent.futures": "2 ms of every start, for threads that large arrays need",
    "difflib": "1 ms of every start, for the words of errors",
    "glob": "of machines with a TPU",
    "socket": "2 ms of every start, for programs of several processes",
    "xcore._backend.presence": "of programs of several processes",
}


@dataclass(frozen=True)
class Import:
    """One imported name: in which file, where, as which absolute module, and how deep."""

    file: str
    line: int
    target: str
    inside: bool  # of a function
    typing: bool  # for type checkers alone

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.target}"


# Reading


def sources() -> dict[str, str]:
    """Every module's path, relative to the package's parent, with its text."""
    root = PACKAGE.parent
    return {p.relative_to(root).as_posix(): p.read_text("utf-8") for p in PACKAGE.rglob("*.py")}


def imports(files: dict[str, str]) -> list[Import]:
    return [
        Import(file, node.lineno, target, inside, typing)
        for file, text in files.items()
        for node, inside, typing in statements(text)
        for target in targets(file, node, files)
    ]


@functools.cache
def statements(text: str) -> list[tuple[ast.AST, bool, bool]]:
    """What may import, and whether it stands in a function, and under ``if TYPE_CHECKING:``."""

    def visit(node: ast.AST, inside: bool, typing: bool):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
            found.append((node, inside, typing))
        inside = inside or is_function(node)
        for child in ast.iter_child_nodes(node):
            visit(child, inside, typing or (is_for_checkers(node) and child in node.body))

    found: list = []
    visit(ast.parse(text), False, False)
    return found


def is_for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def targets(file: str, node: ast.AST, files: dict[str, str]) -> list[str]:
    """The absolute modules that an import statement names, `from package import module` too."""
    if isinstance(node, ast.Call):
        return named_by_call(node)
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = absolute(file, node)
    named = [f"{base}.{alias.name}" for alias in node.names]
    return [name if exists(name, files) else base for name in named]


def named_by_call(call: ast.Call) -> list[str]:
    """`importlib.import_module("name")` is an import too."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    texts = [a.value for a in call.args if isinstance(a, ast.Constant)]
    return texts if name in ("import_module", "__import__") else []


def absolute(file: str, node: ast.ImportFrom) -> str:
    package = list(Path(file).parent.parts)
    up = package[: len(package) - (node.level - 1)] if node.level else []
    return ".".join([*up, *([node.module] if node.module else [])])


def exists(module: str, files: dict[str, str]) -> bool:
    path = module.replace(".", "/")
    return f"{path}.py" in files or f"{path}/__init__.py" in files


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def folder(module: str) -> str:
    """The part of a module's name that has a rank: `xcore.numpy._index` is in `numpy`."""
    return module.split(".")[1] if "." in module else "__init__"


def top(module: str) -> str:
    return module.split(".")[0]


# The rules; each returns what breaks it


def upward(files: dict[str, str]) -> list[str]:
    return [
        f"{i}, which is not below {here}"
        for i in imports(files)
        if top(i.target) == "xcore"
        and (here := folder(module_of(i.file))) != (there := folder(i.target))
        and RANK.get(there, FACE) >= RANK.get(here, FACE)
        and RANK.get(here, FACE) != FACE
    ]


def names_jaxlib(files: dict[str, str]) -> list[str]:
    """Only _backend names jaxlib; jax is named nowhere."""
    return [
        str(i)
        for i in imports(files)
        if top(i.target) == "jax"
        or (top(i.target) == "jaxlib" and folder(module_of(i.file)) != "_backend")
    ]


def beyond_the_backend(files: dict[str, str]) -> list[str]:
    """_ops builds StableHLO through _backend.hlo alone; from numpy upward nobody sees _backend."""
    return [
        str(i)
        for i in imports(files)
        if folder(i.target) == "_backend"
        and top(i.target) == "xcore"
        and (
            RANK["numpy"] <= RANK.get(folder(module_of(i.file)), FACE) < FACE
            or (folder(module_of(i.file)) == "_ops" and i.target != "xcore._backend.hlo")
        )
    ]


def hidden(files: dict[str, str]) -> list[str]:
    """Imports inside functions hide what a module depends on."""
    return [
        str(i)
        for i in imports(files)
        if i.inside and top(i.target) not in OPTIONAL and i.target not in INSIDE
    ]


def stale(files: dict[str, str]) -> list[str]:
    """Permissions that nobody uses any more."""
    used = {i.target for i in imports(files) if i.inside}
    return [f"nobody imports {target} inside a function" for target in INSIDE if target not in used]


def cycles(files: dict[str, str]) -> list[str]:
    """Modules that import each other at load time; a package's __init__ does not count for them."""
    graph: dict[str, set[str]] = {module_of(f): set() for f in files}
    for i in imports(files):
        if not (i.inside or i.typing) and i.target in graph and i.target != module_of(i.file):
            graph[module_of(i.file)].add(i.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" -> ".join(error.args[1])]
    return []


def own_loops(files: dict[str, str]) -> list[str]:
    """Solvers run by `iterate`; a loop of their own has a comment that says why."""
    return [
        f"{file}:{node.lineno} has a loop of its own, and no comment `# own loop: why`"
        for file, text in files.items()
        if folder(module_of(file)) in SOLVERS and not file.endswith(LOOPS)
        for node, _, _ in statements(text)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in loops_of(text)
        and not any("# own loop: " in x for x in text.split("\n")[node.lineno - 3 : node.lineno])
    ]


def loops_of(text: str) -> set[str]:
    """What a module calls loops whose number of steps is not known before."""
    return {"while_loop"} | ({"loop"} if "from ._packed import loop\n" in text else set())


SOLVERS = ("linalg", "optimize", "pde", "decomp")
LOOPS = ("optimize/_loop.py", "optimize/_packed.py")  # what runs `iterate`

# What packages of methods take from below numpy, beside `_ops` itself: they live on `xcore.numpy`, and on this.
# Who needs more looks first whether numpy or the package has it.
BELOW = {
    "_transforms": "vmap grad value_and_grad jvp vjp linearize linear_transpose jacfwd hessian watching",
    "_control": (
        # names that users have too: transformations, loops and rules of one's own
        "vmap grad value_and_grad jvp vjp linearize linear_transpose jacfwd hessian jit eval_shape "
        "cond switch platform_dependent scan fori_loop while_loop custom_root custom_linear_solve "
        "closure_convert hoisted_where custom_jvp stop_gradient custom_vmap sequential_vmap pure_callback checkpoint "
        "Checkpointer read_metadata "
        # how they are run: on their own, once, on many devices, with checks
        "while_per_element unless_spread once as_one_program linear_call in_one_kernel by_platform fail_if make_site report "
        "OF_FEW_NUMBERS OF_MANY_OPERATIONS MINIMISERS MINIMISERS_ALONE "
        "all_to_all shard_map"
    ),
    "_core": (
        "tree nodes dtypes errors findings package Array ArrayType ShapeDtypeStruct Value Tracer typeof "
        "ArrayLike DTypeLike Axis Shape Index Key PyTree DeviceLike Scalar is_evaluating "
        "ensure_compile_time_eval struct static shown fused one_of require bound boundary stack_level user_frame "
        "trace_program eval_program dead_code_eliminated "
        # where and on what a program runs
        "device_put Mesh PartitionSpec default_sharding NamedSharding"
    ),
    # the algebra of small matrices, and what LAPACK's factors are good for
    "_ops": (
        "adjoint conjugate diagonal hermitian_of_lower matmul part swapped FACTORISED solve_with "
        "apply_transpose take_rows sums matrix"
    ),
    "_cpu": "BY_SCIPY cores",
}
METHODS = (*SOLVERS, "scipy")


def below_numpy(files: dict[str, str]) -> list[str]:
    """Packages of methods live on `xcore.numpy`; what else they need is listed in `BELOW`."""
    allowed = {(m, n) for m, names in BELOW.items() for n in names.split()}
    return [
        f"{file}:{node.lineno} imports {name}"
        for file, text in files.items()
        if folder(module_of(file)) in METHODS
        for node, _, _ in statements(text)
        if isinstance(node, ast.ImportFrom)
        for name in [f"{absolute(file, node)}.{alias.name}" for alias in node.names]
        if RANK.get(folder(name), FACE) < RANK["numpy"]
        and name != "xcore._ops"
        and (folder(name), name.rpartition(".")[2]) not in allowed
    ]


# Where platforms may be asked for outside of _backend, _core and _cpu, each with its reason.
ASKS = {
    "xcore/_ops/elementwise.py": "a TPU has no upper halves of 64-bit products",
    "xcore/_ops/factor.py": "routines that a platform's libraries have, or have not",
    "xcore/_ops/spectral.py": "the same",
    "xcore/_ops/orthogonal.py": "the same",
    "xcore/_ops/conv.py": "forms that an accelerator's libraries lack",
    "xcore/_ops/dot.py": "the same",
    "xcore/_control/cond.py": "platform_dependent: branches that users wrote for platforms",
    "xcore/_control/platforms.py": "operations that are another algorithm on another platform",
    "xcore/_control/sharding.py": "shown to users",
    "xcore/_control/exported_calls.py": "a file holds a module for each platform",
    "xcore/numpy/_creation.py": "whether host memory is the device's: copies are made early or late",
    "xcore/linalg/_arguments.py": "which elimination many small matrices get",
    "xcore/linalg/_lanes.py": "the same",
    "xcore/sparse/_products.py": "whether large products are an operation, for which a CPU has an alternative",
    "xcore/sparse/_cholesky.py": "whether Cholesky factors go column by column or by fronts",
    "xcore/as_jax/_primitives.py": "rules that libraries wrote for platforms",
    "xcore/as_jax/_wrappers.py": "shown to users",
}


def asks_for_platforms(files: dict[str, str]) -> list[str]:
    """What a platform's speed needs is an alternative of an operation; no algorithm asks for it."""
    return [
        f"{file}:{node.lineno} asks for the platform"
        for file, text in files.items()
        if folder(module_of(file)) not in ("_backend", "_core", "_cpu") and file not in ASKS
        for node in ast.walk(ast.parse(text))
        if _asks(node)
    ]


def _asks(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") in ("on_cpu", "default_backend")
    return isinstance(node, ast.Attribute) and node.attr in ("platform", "tuned")


RULES = (upward, names_jaxlib, beyond_the_backend, hidden, cycles, own_loops, below_numpy)
RULES += (asks_for_platforms,)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_package_keeps(rule):
    assert rule(sources()) == []


# Each rule must notice a package that breaks it: (rule, file, its text).
BROKEN = [
    (upward, "xcore/_core/types.py", "from xcore._ops import dot"),
    (upward, "xcore/_core/types.py", "from .._ops.dot import dot_general"),
    (upward, "xcore/_ops/dot.py", "if TYPE_CHECKING:\n    import xcore.numpy"),
    (upward, "xcore/pde/_grid.py", "import xcore.optimize"),
    (upward, "xcore/linalg/_norms.py", "from xcore import lax"),
    (upward, "xcore/linalg/_norms.py", "import xcore"),
    (names_jaxlib, "xcore/_core/array.py", "from jaxlib import xla_client"),
    (names_jaxlib, "xcore/_backend/client.py", "import jax.numpy as jnp"),
    (names_jaxlib, "xcore/testing.py", "def f():\n    import jax"),
    (beyond_the_backend, "xcore/numpy/_fft.py", "from xcore._backend import client"),
    (beyond_the_backend, "xcore/_ops/dot.py", "from xcore._backend import hlo, client"),
    (
        hidden,
        "xcore/_core/array.py",
        "def f():\n    def g():\n        import xcore._core.tree",
    ),
    (cycles, "xcore/_core/tree.py", "from xcore._core import types"),
    (below_numpy, "xcore/pde/_grid.py", "from .._core.op import Op"),
    (own_loops, "xcore/pde/_grid.py", "x = while_loop(going, step, x)"),
    (
        own_loops,
        "xcore/optimize/_root.py",
        "from ._packed import loop\n\n\nx = loop(going, step, x)",
    ),
    (asks_for_platforms, "xcore/linalg/_norms.py", "if on_cpu():\n    pass"),
    (asks_for_platforms, "xcore/pde/_grid.py", "def f(ctx):\n    return ctx.platform"),
]


@pytest.mark.parametrize(("rule", "file", "text"), BROKEN)
def test_each_rule_notices(rule, file, text):
    others = {
        f"xcore/{name}.py": ""
        for name in ("__init__", "_backend/client", "_backend/hlo", "_core/types", "_core/tree")
    }
    others |= {f"xcore/{name}.py": "" for name in ("_ops/dot", "numpy/_fft", "lax", "optimize")}
    others["xcore/_core/types.py"] = "from . import tree"
    assert rule(others) == []
    assert len(rule(others | {file: text})) == 1


def test_names_for_type_checkers_make_no_cycle():
    text = "if TYPE_CHECKING:\n    from . import types"
    assert cycles({"xcore/_core/types.py": "from . import tree", "xcore/_core/tree.py": text}) == []


def test_permissions_are_used():
    files = sources()
    assert stale(files) == []
    assert [f for f in ASKS if not any(map(_asks, ast.walk(ast.parse(files[f]))))] == []


def test_import_is_light():
    """Neither jax nor the slow or optional packages are loaded by `import xcore`."""
    code = "import sys, xcore, xcore.numpy; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "jaxlib" in loaded
    assert not loaded & {"jax", "scipy", "matplotlib", "tqdm", "torch", "pytest"}
