"""The built site in a real browser: what people type leads to the function; nothing is fetched, nothing sticks out.

Run by `make docs-check`; skipped where there is no Chromium (`apt-get install chromium`).
"""

import random
from urllib.parse import quote

import pytest

from tools.site import browser as chromium
from tools.site.__main__ import PAGES
from tools.site.names import ROOT, page_of

OUT = ROOT / "build" / "docs"
FIRST = 8  # results that are looked at before one tries other words

pytestmark = [
    pytest.mark.skipif(chromium.find() is None, reason="no Chromium"),
    pytest.mark.skipif(
        not (OUT / "searchindex.js").exists(), reason="the site is not built: make docs"
    ),
]

# What people type, and where it must lead.
TASKS = [
    ("plate temperature", "xcore.pde.poisson"),
    ("plot the solution", "xcore.plot.field"),
    ("plot temperature", "xcore.plot.field"),
    ("np.where", "xcore.numpy.where"),
    ("jax.lax.scan", "xcore.lax.scan"),
    ("curve fitting", "xcore.optimize.curve_fit"),
    ("banded", "xcore.linalg.solve_banded"),
    ("spdiags", "xcore.linalg.solve_banded"),
    ("spdiags", "xcore.sparse.diags_array"),
    ("sparse", "xcore.sparse.solve"),
    ("A\\b", "xcore.linalg.linear_solve"),
    ("ode45", "xcore.scipy.integrate.solve_ivp"),
    ("solve_ivp", "xcore.scipy.integrate.solve_ivp"),
    ("lsqcurvefit", "xcore.optimize.curve_fit"),
    ("error bars", "xcore.optimize.curve_fit"),
    ("fmincon", "xcore.optimize.minimize"),
    ("bounds", "xcore.optimize.minimize"),
    ("eigs", "xcore.pde.eigenmodes"),
    ("drum", "xcore.pde.eigenmodes"),
    ("PCA", "xcore.linalg.svd"),
    ("interp2", "xcore.scipy.interpolate.RegularGridInterpolator"),
    ("blur", "xcore.scipy.signal.convolve2d"),
    ("conv2", "xcore.scipy.signal.convolve2d"),
    ("lowpass", "xcore.numpy.fft.fft"),
    ("lowpass", "xcore.Array"),
    ("settings", "xcore.config.update"),
    ("default_bits", "xcore.config.update"),
    ("random", "xcore.random.key"),
    ("save", "xcore.checkpoint.save"),
    ("load", "xcore.checkpoint.restore"),
    ("confidence interval", "xcore.optimize.CurveFit"),
    ("confidence interval", "xcore.stats.t"),
    ("random seed", "xcore.random.key"),
    ("seed", "xcore.random.split"),
    ("Monte Carlo", "xcore.random.normal"),
    ("convergence plot", "xcore.plot.history"),
    ("callback", "xcore.plot.history"),
    ("progress bar", "xcore.lax.scan"),
    ("early stopping", "xcore.optimize.fit"),
    ("save load", "xcore.checkpoint.save"),
    ("two devices", "xcore.NamedSharding"),
    ("timing", "xcore.block_until_ready"),
    ("solve", "xcore.linalg.solve"),
    ("cg", "xcore.linalg.CG"),
    ("lstsq", "xcore.linalg.lstsq"),
    ("poisson", "xcore.pde.poisson"),
    ("parafac", "xcore.decomp.cp_als"),
    ("vmap", "xcore.vmap"),
    ("adam", "xcore.optimize.adam"),
]
# What a newcomer types, and the page or the name that answers.
QUESTIONS = [
    ("matrix inverse", "xcore.linalg.inv"),
    ("numerical integration", "xcore.numpy.trapezoid"),
    ("quad", "xcore.scipy.integrate.simpson"),
    ("train neural network", "xcore.optimize.fit"),
    ("root finding", "xcore.optimize.root"),
    ("parallel for loop", "xcore.vmap"),
    ("2d fourier transform", "xcore.numpy.fft.fft2"),
    ("moving average", "xcore.numpy.convolve"),
    ("normal distribution", "xcore.stats.norm"),
    ("sparse eigenvalues", "xcore.linalg.eigsh"),
    ("double precision", "start/install"),
    ("use GPU", "howto/gpu"),
    ("convert to numpy", "howto/beside"),
    ("gradient NaN", "howto/gradients"),
    ("out of memory", "howto/memory"),
    ("for loop slow", "howto/slow"),
    ("quickstart", "start/ten_minutes"),
    ("recompile", "howto/compiles"),
    ("multiple GPUs", "devices"),
    ("bibtex", "trust/citing"),
]
# Every page that is written by hand, or rendered from a file of the repository; one of each kind that is generated;
# and some of the reference, always the same ones.
BY_HAND = sorted(
    p.relative_to(ROOT / "docs").with_suffix("").as_posix() for p in (ROOT / "docs").rglob("*.md")
)
OF_EACH_KIND = [
    *(place.removesuffix(".md") for name, place in PAGES.items() if (ROOT / name).exists()),
    "genindex", "py-modindex", "search", "reference/index", "reference/facts", "reference/xcore/index",
    "reference/xcore.pde/index", "reference/xcore.errors/index", "gallery/index", "gallery/34_wave",
    "gallery/04_per_example_gradients", "source/xcore/linalg/_factorisations.py",
    *(page_of()[f"xcore.{n}"] for n in ("linalg.solve", "Array", "pde.poisson", "linalg.CG", "optimize.CurveFit",
                                        "stats.norm", "typing.ArrayLike", "numpy.pi", "plot.field", "lax.scan")),
]  # fmt: skip
SAMPLE = random.Random(22).sample(sorted(page_of().values()), 60)
LOOKED_AT = list(dict.fromkeys([*BY_HAND, *OF_EACH_KIND, *SAMPLE]))


@pytest.fixture(scope="module")
def page():
    with chromium.browser() as found:
        found.size(1280)
        yield found


def results(page, words):
    page.open((OUT / "search.html").resolve().as_uri() + "?q=" + quote(words))
    page.until(
        "document.querySelector('#search-results .search-summary')?.innerText.match(/found|match/)"
    )
    page.until("document.querySelectorAll('#search-results li a').length")
    return page.run("[...document.querySelectorAll('#search-results li a')].map(a => a.href)")


@pytest.mark.parametrize(("words", "name"), TASKS)
def test_search_leads_to_the_function(page, words, name):
    page.errors.clear()
    found = [r.partition("#")[0].partition("?")[0] for r in results(page, words)]
    wanted = (OUT / f"{page_of()[name]}.html").resolve().as_uri()
    distinct = list(dict.fromkeys(found))
    assert wanted in distinct[:FIRST], (
        distinct.index(wanted) if wanted in distinct else None,
        distinct[:FIRST],
    )
    assert page.errors == []


@pytest.mark.parametrize(
    ("words", "answer"), [("random seed", "howto/random"), ("sparse", "sparse"), ("A\\b", "sparse")]
)
def test_what_explains_comes_first(page, words, answer):
    found = results(page, words)[0].partition("#")[0].partition("?")[0]
    assert found == (OUT / f"{answer}.html").resolve().as_uri()


@pytest.mark.parametrize(("words", "answer"), QUESTIONS)
def test_search_answers_at_once(page, words, answer):
    """Among the first three results."""
    found = dict.fromkeys(r.partition("#")[0].partition("?")[0] for r in results(page, words))
    wanted = (OUT / f"{page_of().get(answer, answer)}.html").resolve().as_uri()
    assert wanted in list(found)[:3]


# Text and what is behind it: the ratio that WCAG calls AA is 4.5, of large text 3. A background that is not opaque is
# passed over, as those of pictures are.
CONTRAST = """(() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 }); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const kept = new Map();
  const behind = e => { if (!e) return [255, 255, 255]; if (kept.has(e)) return kept.get(e);
    const c = parse(getComputedStyle(e).backgroundColor);
    const found = c.length == 3 || c[3] > 0.9 ? c : behind(e.parentElement); kept.set(e, found); return found };
  const wrong = [], seen = new Set();
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].filter(n => n.nodeType == 3).map(n => n.data).join('').trim();
    if (!own || e.closest('svg, script, style, noscript, mjx-container, [hidden], .visually-hidden')) continue;
    if (!e.checkVisibility({checkVisibilityCSS: true})) continue;
    const s = getComputedStyle(e), b = behind(e), key = s.color + b + s.fontSize + s.fontWeight;
    if (seen.has(key)) continue;
    seen.add(key);
    const [x, y] = [light(parse(s.color)), light(b)];
    const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && s.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) wrong.push([own.slice(0, 30), e.className, s.color, b, ratio]);
  }
  return wrong.slice(0, 10) })()"""
# Tables, code and pictures that are wider than their column, and do not scroll in a box of their own.
STICKS_OUT = """(() => {
  const edge = document.querySelector('article')?.getBoundingClientRect().right ?? innerWidth;
  const boxed = e => { for (e = e.parentElement; e && e.tagName != 'ARTICLE'; e = e.parentElement)
    if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true; };
  return [...document.querySelectorAll('article :is(table, pre, img, .math)')].filter(e => e.checkVisibility() &&
    e.getBoundingClientRect().right > edge + 1 && !boxed(e)).map(e => e.outerHTML.slice(0, 120)) })()"""
LOADED = """([...document.images].forEach(i => i.loading = 'eager'),
  [...document.images].every(i => i.complete))"""


@pytest.mark.parametrize("name", LOOKED_AT)
def test_pages_are_whole(page, name):
    """No error, nothing asked of the network, every picture there, nothing wider than a telephone or a laptop, and
    text that can be read, by day and by night."""
    page.errors.clear()
    page.requests.clear()
    page.theme("light")
    page.size(390, 844, mobile=True)
    page.open(OUT / f"{name}.html")
    page.until(LOADED)
    wrong = {}
    broken = "[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
    for theme, widths in (("light", (390, 1280)), ("dark", (1280, 390))):
        page.theme(theme)
        if page.run("'theme' in document.documentElement.dataset"):
            assert page.until(f"document.documentElement.dataset.theme == '{theme}'", 5)
        for width in widths:
            if width != widths[0] or theme == "light":
                page.size(width, 844, mobile=width == 390)
            over = page.run("document.documentElement.scrollWidth") - width
            wrong[f"scrolls, {theme}, {width}"] = max(over, 0)
            if theme == "light":
                wrong[f"sticks out, {width}"] = page.run(STICKS_OUT)
        wrong[f"contrast, {theme}"] = page.run(CONTRAST)
        wrong[f"pictures, {theme}"] = page.run(broken)
    page.size(1280)
    page.theme("light")
    inside = OUT.resolve().as_uri()
    wrong["requests"] = [r for r in page.requests if not r.startswith((inside, "data:", "about:"))]
    wrong["errors"] = list(page.errors)
    assert {k: v for k, v in wrong.items() if v} == {}


@pytest.mark.parametrize(
    "name", ["xcore.linalg.solve_discrete_are", "xcore.pde.RODAS5P", "xcore.special.hyp2f1"]
)
def test_formulas_are_set(page, name):
    """Every formula of a page, none with a mistake in its TeX."""
    page.open(OUT / f"{page_of()[name]}.html")
    page.until("!!window.MathJax?.startup?.promise")
    page.run("MathJax.startup.promise.then(() => 0)")
    count = page.run("document.querySelectorAll('.math').length")
    assert count > 0
    assert page.run("document.querySelectorAll('.math mjx-container').length") == count
    assert (
        page.run("document.querySelectorAll('[data-mjx-error], [data-mml-node=merror]').length")
        == 0
    )


@pytest.mark.parametrize(
    ("where", "code", "name"),
    [
        ("howto/which_solver", "pde.poisson(f, grid, bc)", "xcore.pde.poisson"),
        ("howto/which_solver", "xo.fit(loss, params, data, xo.adam(1e-3), epochs=…)", "xcore.optimize.fit"),
        ("start/from_scipy", "xc.linalg.expm(A)", "xcore.linalg.expm"),
        ("numpy", "argmax", "xcore.numpy.argmax"),
        ("special", "erfcx", "xcore.special.erfcx"),
    ],
)  # fmt: skip
def test_code_on_pages_leads_to_the_reference(page, where, code, name):
    page.open(OUT / f"{where}.html")
    links = page.run(
        "[...document.querySelectorAll('article a code')].map(c => [c.innerText, c.parentElement.href])"
    )
    found = {href.partition("#")[0] for told, href in links if told == code}
    assert found == {(OUT / f"{page_of()[name]}.html").resolve().as_uri()}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_branches_of_trees_are_seen(page, theme, width):
    """Their lines stand out from what is behind them by 3, as WCAG asks of drawings, and beside the words."""
    page.theme(theme)
    page.size(width, 844, mobile=width == 390)
    page.open(OUT / "howto" / "which_solver.html")
    assert page.until(f"document.documentElement.dataset.theme == '{theme}'", 5)
    seen = page.run("""(() => {
      const ink = c => { const x = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
        x.fillStyle = c; x.fillRect(0, 0, 1, 1); return [...x.getImageData(0, 0, 1, 1).data]; };
      const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255;
        return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 }); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
      return [...document.querySelectorAll('article section > ul > li ul > li')].map(e => {
        const line = getComputedStyle(e, '::before'), card = getComputedStyle(e.closest('section > ul > li'));
        const [a, b] = [light(ink(line.borderLeftColor)), light(ink(card.backgroundColor))];
        return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
                parseFloat(line.width) <= parseFloat(getComputedStyle(e).paddingLeft)] }) })()""")
    page.size(1280)
    assert len(seen) > 30 and all(ratio >= 3 and beside for ratio, beside in seen), seen[:3]


def test_a_table_wider_than_a_telephone_scrolls_in_itself(page):
    """Its heading stays in sight, keys reach it, and at its edge a shadow says that there is more."""
    page.size(390, 844, mobile=True)
    page.open(OUT / "reference" / "facts.html")
    box = "document.querySelector('.pst-scrollable-table-container')"
    assert page.until(f"{box}.matches('.wide.more[tabindex]')")
    page.run(f"{box}.scrollTo({box}.scrollWidth, 2000)")
    assert page.until(f"!{box}.matches('.more')")
    top = (
        f"{box}.querySelector('th').getBoundingClientRect().top - {box}.getBoundingClientRect().top"
    )
    assert abs(page.run(top)) < 3
    page.size(1280)
    assert page.until(f"!{box}.matches('.wide')")


@pytest.mark.parametrize("name", ["numpy", "special", "devices"])
def test_tables_of_pages_can_be_sorted(page, name):
    page.open(OUT / f"{name}.html")
    assert page.until(
        "[...document.querySelectorAll('article table')].some(t => t.querySelector('th.sorts'))"
    )
    assert "date" in page.run("document.querySelector('article table').innerText")
    assert page.run("document.querySelector('article table th.sorts')?.innerText.trim()") != ""


def test_tables_are_sorted_by_a_click(page):
    page.open(OUT / "accuracy.html")
    heads = page.until(
        "[...document.querySelectorAll('article table')].filter(t => t.querySelector('th.sorts')).length"
    )
    assert heads > 0
    sort = """(() => { const t = [...document.querySelectorAll('article table')].find(
      t => t.querySelector('th.sorts') && t.tHead.innerText.includes('problems'));
      t.tHead.rows[0].cells[2].click();
      return [...t.tBodies[0].rows].map(r => parseFloat(r.cells[2].innerText)) })()"""
    up, down = page.run(sort), page.run(sort)
    assert up == sorted(up) and down == up[::-1]


SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def test_times_are_sorted_by_their_length(page):
    """Whatever unit they are told in, and none is broken in two lines; the arrow stands beside its word."""
    page.open(OUT / "trust" / "speed_results.html")
    table = """[...document.querySelectorAll('article table')].find(
      t => t.querySelector('th.sorts') && t.tHead.rows[0].cells[1].innerText.includes('ours'))"""
    page.until(f"!!{table}")
    sort = f"""(() => {{ const t = {table}; t.tHead.rows[0].cells[1].click();
      return [...t.tBodies[0].rows].map(r => r.cells[1].innerText.trim()) }})()"""
    times = [float(n) * SECONDS[u] for n, u in (cell.split() for cell in page.run(sort))]
    assert len(times) > 8 and times == sorted(times)
    assert max(times) > 1e3 * min(times)  # so that more than one unit is there
    assert page.run(
        "[...document.querySelectorAll('article td.count')].every(c => getComputedStyle(c).whiteSpace == 'nowrap')"
    )
    lines = page.run(
        f"(t => t.tHead.rows[0].cells[1].offsetHeight / parseFloat(getComputedStyle(t).lineHeight))({table})"
    )
    assert lines < 2


def test_four_doors(page):
    page.open(OUT / "index.html")
    doors = page.run("[...document.querySelectorAll('.doors a')].map(a => a.getAttribute('href'))")
    assert doors == [f"{d}/index.html" for d in ("start", "howto", "background", "reference")]


@pytest.mark.parametrize(
    "name", ["xcore.optimize.CurveFit.interval", "xcore.stats.t.ppf", "xcore.Array.at"]
)
def test_methods_that_people_look_for_have_a_place(page, name):
    owner = name.rpartition(".")[0]
    page.open((OUT / f"{page_of()[owner]}.html").resolve().as_uri() + f"#{name}")
    assert page.run(f"document.getElementById({name!r}) !== null")
