"""How does compiled code say what is wrong, and where?

A failed `check` raises, from compiled code too, with the values in the message and the user's line.
`checkify` makes it a value instead, which travels through `jit`, `vmap` and loops, and which
`.throw()` raises.
"""

import xcore as xc
import xcore.numpy as xnp
from xcore.checkify import check, checkify, float_checks, user_checks


def geometric_mean(x):
    check((x > 0).all(), "needs positive numbers, the smallest is {low}", low=x.min())
    return xnp.exp(xnp.log(x).mean())


checked = xc.jit(checkify(geometric_mean))
error, value = checked(xnp.asarray([1.0, 4.0]))
print("fine:   ", error.get(), value)
error, _ = checked(xnp.asarray([1.0, -4.0]))
message = error.get()
print("caught: ", message)

# an error for each lane of a vmap
errors, _ = xc.vmap(checkify(geometric_mean))(xnp.asarray([[1.0, 2.0], [3.0, -5.0]]))
print("batch:  ", errors.get())

# checks that nobody wrote: any operation that makes a NaN
error, _ = xc.jit(checkify(lambda x: xnp.sqrt(x - 2.0), errors=user_checks | float_checks))(1.0)
print("found:  ", error.get())

try:
    checked(xnp.asarray([0.0, 1.0]))[0].throw()
except ValueError as e:
    print("thrown: ", type(e).__name__)
else:
    raise AssertionError("the check should have failed")
assert message is not None and "-4.0" in message and "08_checked_function.py" in message
