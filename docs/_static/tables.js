// Tables of more than three rows are sorted by a click on a heading, and back by another; what a cell counts stays
// on one line. A table that is wider than its place scrolls in itself, by keys too, and says at its edge that it does.
(() => {
  const UNITS = {
    ns: 1e-9, "µs": 1e-6, "μs": 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600,
    B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, "%": 0.01, "×": 1,
  };
  const NUMBER = "[-+−]?[0-9]+(?:,[0-9]{3})*(?:\\.[0-9]+)?(?:e[-+−]?[0-9]+)?";
  const UNIT = `(?:\\s*(${Object.keys(UNITS).join("|")})(?![\\w/]))?`;
  const HEAD = new RegExp(`^[<>≤≥~≈±]?\\s*(${NUMBER})${UNIT}`);
  const COUNT = new RegExp(`^[<>≤≥~≈±]?\\s*${NUMBER}${UNIT}(?:\\s*[–±]\\s*${NUMBER}${UNIT})?$`);
  const text = (cell) => cell.textContent.trim();
  const quantity = (words) => {
    const found = HEAD.exec(words);
    return found ? parseFloat(found[1].replace(/,/g, "").replace(/−/g, "-")) * (UNITS[found[2]] ?? 1) : NaN;
  };
  // Numbers by their size in one unit, words after them, empty cells last.
  const order = (a, b) => {
    const [x, y] = [quantity(a), quantity(b)];
    if (!isNaN(x) && !isNaN(y)) return x - y;
    if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
    return (a === "") - (b === "") || a.localeCompare(b);
  };
  const sort = (table, head, k) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => (down ? -1 : 1) * order(text(a.cells[k]), text(b.cells[k])));
    table.tBodies[0].append(...rows);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  const scrolls = (box) => {
    const wide = box.scrollWidth > box.clientWidth + 1;
    box.classList.toggle("wide", wide);
    box.classList.toggle("more", wide && box.scrollLeft + box.clientWidth < box.scrollWidth - 4);
    if (wide) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  const measured = () => document.querySelectorAll(".pst-scrollable-table-container").forEach(scrolls);
  window.addEventListener("resize", measured);
  window.addEventListener("load", measured);
  document.addEventListener("DOMContentLoaded", () => {
    for (const box of document.querySelectorAll(".pst-scrollable-table-container")) {
      const around = document.createElement("div");
      around.className = "table-box";
      box.replaceWith(around);
      around.append(box);
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "Table");
      box.addEventListener("scroll", () => scrolls(box), { passive: true });
    }
    for (const cell of document.querySelectorAll(".bd-article table td")) {
      if (COUNT.test(text(cell))) cell.classList.add("count");
    }
    for (const table of document.querySelectorAll(".bd-article table")) {
      const regular = table.tHead && table.tHead.rows.length === 1 && table.tBodies.length === 1;
      if (!regular || table.tBodies[0].rows.length < 4) continue;
      const wide = [...table.tBodies[0].rows].some((r) => r.cells.length !== table.tHead.rows[0].cells.length);
      if (wide) continue;
      if (![...table.tHead.rows[0].cells].some(text)) {  // facts, not a list
        table.classList.add("headless");
        continue;
      }
      [...table.tHead.rows[0].cells].forEach((head, k) => {
        head.tabIndex = 0;
        head.classList.add("sorts");
        (head.querySelector("p") ?? head).classList.add("arrow");
        head.addEventListener("click", () => sort(table, head, k));
        head.addEventListener("keydown", (e) => e.key === "Enter" && sort(table, head, k));
      });
    }
    measured();
  });
})();
