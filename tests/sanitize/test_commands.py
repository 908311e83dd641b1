"""``python -m xcore``: what is no command, no script or ends in another way says so, and with which number."""

import subprocess
import sys

import pytest

FILES = {
    "args.py": "import sys, beside; print(sys.argv[1:], __name__)",
    "beside.py": "x = 1",
    "text.py": "import sys; sys.exit('enough')",
    "three.py": "import sys; sys.exit(3)",
    "wrong.py": "raise ValueError('no')",
    "late.py": "import sys, xcore.numpy as xnp\ndef main():\n    global kept\n    kept = xnp.log(xnp.zeros(2) - 1)\nsys.exit(main())",
    "outside.py": "import xcore as xc, xcore.numpy as xnp\nxc.jit(lambda x, i: x[i])(xnp.ones(3), xnp.asarray(5))",
    "eager.py": "import xcore as xc, xcore.numpy as xnp\nxc.grad(lambda x: xc.lax.dynamic_slice(x, (xnp.asarray(5),), (2,)).sum())(xnp.ones(3))",
    "lost.py": "import sys, xcore.numpy as xnp\nxnp.zeros(2).at[0].set(1.0)\nsys.exit(0)",
}
CASES = [  # arguments, status, what is printed
    (["sanitise", "args.py"], 2, "there is no command 'sanitise': sanitize, fits, warm"),
    (["--help"], 0, "python -m xcore sanitize script.py"),
    (["sanitize"], 2, "usage"),
    (["sanitize", "--help"], 0, "usage"),
    (["sanitize", "nowhere.py"], 2, "there is no file nowhere.py"),
    (["sanitize", "args.py", "a", "--b"], 0, "['a', '--b'] __main__"),
    (["sanitize", "-m", "args", "a"], 0, "['a'] __main__"),
    (["sanitize", "-m"], 2, "needs the name of a module"),
    (["sanitize", "text.py"], 1, "enough"),
    (["sanitize", "three.py"], 3, "the script failed; 0 findings"),
    (["sanitize", "wrong.py"], 1, "ValueError: no"),
    (["sanitize", "late.py"], 1, "1 finding"),
    (["sanitize", "lost.py"], 1, "xcore sanitize: 1 finding"),
    (["sanitize", "outside.py"], 1, "the script failed; 1 finding"),
    (["sanitize", "eager.py"], 1, "the script failed; 1 finding"),
]


@pytest.mark.parametrize(
    ("arguments", "status", "text"), CASES, ids=[" ".join(c[0]) for c in CASES]
)
def test_commands(arguments, status, text, tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    command = [sys.executable, "-m", "xcore", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    assert text in done.stdout + done.stderr
