// Tables of more than eight rows are sorted by a click on a heading, and back by another.
(() => {
  const value = (row, k) => row.cells[k].textContent.trim();
  const order = (a, b) => {
    const [x, y] = [a, b].map((t) => parseFloat(t.replace(/[ ,]/g, "").replace("−", "-")));
    return isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y;
  };
  const sort = (table, head, k) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => (down ? -1 : 1) * order(value(a, k), value(b, k)));
    table.tBodies[0].append(...rows);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  document.addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll(".bd-article table")) {
      const regular = table.tHead && table.tHead.rows.length === 1 && table.tBodies.length === 1;
      if (!regular || table.tBodies[0].rows.length < 9) continue;
      const wide = [...table.tBodies[0].rows].some((r) => r.cells.length !== table.tHead.rows[0].cells.length);
      if (wide) continue;
      [...table.tHead.rows[0].cells].forEach((head, k) => {
        head.tabIndex = 0;
        head.classList.add("sorts");
        head.addEventListener("click", () => sort(table, head, k));
        head.addEventListener("keydown", (e) => e.key === "Enter" && sort(table, head, k));
      });
    }
  });
})();
