"""Signatures with types: from the stubs where there are some, else from the annotations."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import functools
import inspect
import re
import typing

from .names import ROOT, Place, places

# Private names of types, and what they are to a reader.
PLAIN = {
    "_Like": "ArrayLike", "_Array": "Array", "_bool": "bool", "_int": "int", "_float": "float", "_str": "str",
    "npt.ArrayLike": "ArrayLike", "_t.Any": "Any",
}  # fmt: skip


@functools.cache
def linked() -> dict[str, str]:
    """What a type's name leads to, where one class alone has it; Sphinx shows its last part."""
    found: dict[str, set[str]] = {}
    for place in places().values():
        if inspect.isclass(place.value) or place.package == "xcore.typing":
            found.setdefault(place.short, set()).add(place.name)
    others = {*dir(builtins), *typing.__all__, *collections.abc.__all__}
    return {
        short: min(full) for short, full in found.items() if len(full) == 1 and short not in others
    }


@functools.cache
def _stub(package: str) -> dict[str, ast.AST]:
    path = ROOT.joinpath(*package.split("."))
    path = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    if not path.exists():
        return {}
    found: dict[str, ast.AST] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            before = found.get(node.name)
            found[node.name] = _joined(before, node) if node.decorator_list and before else node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node.annotation
    return found


def _joined(before: ast.AST, node: ast.FunctionDef) -> ast.FunctionDef:
    """Overloads as one: the arguments of the longest, each of any type that one of them has."""
    assert isinstance(before, ast.FunctionDef)
    longer, other = (before, node) if len(_given(before)) > len(_given(node)) else (node, before)
    types = {a.arg: a.annotation for a in _given(other)}
    for argument in _given(longer):
        argument.annotation = _either(argument.annotation, types.get(argument.arg))
    longer.returns = _either(before.returns, node.returns)
    return longer


def _given(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _either(*notes: ast.expr | None) -> ast.expr | None:
    """One type or another; of literals, which tell overloads apart, there is the type that has them."""
    words = dict.fromkeys(ast.unparse(n) for n in notes if n is not None)
    kept = [w for w in words if not w.startswith("Literal[")] or list(words)
    return ast.parse(" | ".join(kept), mode="eval").body if kept else None


def signature(place: Place) -> str:
    """``(a: ArrayLike, b: ArrayLike) -> Array``, in a form that Sphinx can read; "" for what cannot be called."""
    told = _stub(place.package).get(place.short)
    if isinstance(told, ast.FunctionDef) and not (told.decorator_list and _annotated(place.value)):
        return plain(f"({ast.unparse(told.args)})" + _returns(told))
    return of(
        place.value, elementwise=isinstance(told, ast.Name) and told.id.endswith("aryFunction")
    )


def _annotated(value: object) -> bool:
    """Whether the code has types of its own, which overloads would only take apart."""
    try:
        given = inspect.signature(value).parameters.values()  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return False
    return any(p.annotation is not p.empty for p in given)


def _returns(node: ast.FunctionDef) -> str:
    return f" -> {ast.unparse(node.returns)}" if node.returns else ""


def of(value: object, *, elementwise: bool = False, bound: bool = False) -> str:
    """The signature of a callable, by its annotations."""
    try:
        told = inspect.signature(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return ""
    parameters = [p for p in told.parameters.values() if not re.match(r"_\w", p.name)]
    if bound:
        parameters = parameters[1:]
    words: list[str] = []
    slash = False
    for p in parameters:
        if slash and p.kind is not p.POSITIONAL_ONLY:
            words.append("/")
        slash = p.kind is p.POSITIONAL_ONLY
        if p.kind is p.KEYWORD_ONLY and not any(w.startswith("*") for w in words):
            words.append("*")
        words.append(
            _parameter(p, "ArrayLike" if elementwise and p.kind is p.POSITIONAL_OR_KEYWORD else "")
        )
    if slash:
        words.append("/")
    back = "Array" if elementwise else _annotation(told.return_annotation)
    result = f" -> {back}" if back and not inspect.isclass(value) else ""
    return plain(f"({', '.join(words)}){result}")


def _parameter(p: inspect.Parameter, type_: str) -> str:
    star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    note = _annotation(p.annotation) or type_
    text = star + p.name + (f": {note}" if note else "")
    if p.default is p.empty:
        return text
    return text + (" = " if note else "=") + _default(p.default)


def _annotation(note: object) -> str:
    if note is inspect.Signature.empty:
        return ""
    text = (
        note
        if isinstance(note, str)
        else getattr(note, "__name__", None)
        if inspect.isclass(note)
        else repr(note)
    )
    return text if text and _reads(text) else ""


def _default(value: object) -> str:
    text = value.__name__ if inspect.isroutine(value) or inspect.isclass(value) else repr(value)
    return text if _reads(text) and len(text) < 60 else "..."


def _reads(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def plain(text: str) -> str:
    """Types as a reader knows them."""
    for private, public in PLAIN.items():
        text = re.sub(rf"(?<![\w.]){re.escape(private)}\b", public, text)
    text = re.sub(r"\b(?:np\.|typing\.|contextlib\.|collections\.abc\.)(?=[A-Z])", "", text)
    return re.sub(r"(?<![\w.'\"])([A-Z]\w+)\b", lambda m: linked().get(m[1], m[1]), text)
