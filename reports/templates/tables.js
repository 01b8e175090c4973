"use strict";
// Tables that sort by a click on a heading and, where they are long, filter by their first column.
(() => {
  const FACTORS = { ms: 1, s: 1e3, min: 6e4, h: 36e5, d: 864e5 };
  const LONG = 8;
  const first = (cell) => (cell.firstChild ? cell.firstChild.textContent : "").trim();
  function value(cell) {
    const found = first(cell).replace(/,/g, "").match(/^[^\w-]*(-?\d+(?:\.\d+)?)(?:\s*(ms|s|min|h|d)\b)?/);
    return found ? parseFloat(found[1]) * (FACTORS[found[2]] || 1) : NaN;
  }
  // What begins with a number goes by it; what has none, such as n/a, stands behind, whichever way.
  function compare(one, other, column, sign) {
    const [a, b] = [one.cells[column], other.cells[column]];
    const [x, y] = [value(a), value(b)];
    if (column > 0 && !Number.isNaN(x) && !Number.isNaN(y)) return sign * (x - y);
    if (column > 0 && Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
    return sign * first(a).localeCompare(first(b), "en", { numeric: true });
  }
  function sortable(table) {
    const body = table.tBodies[0], original = [...body.rows];
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button"; button.className = "sort";
      button.append(...heading.childNodes);
      heading.append(button);
      button.onclick = () => {
        const next = { none: "descending", descending: "ascending", ascending: "none" }[heading.ariaSort || "none"];
        [...heading.parentElement.cells].forEach((each) => { each.ariaSort = "none"; });
        heading.ariaSort = next;
        const rows = [...original];
        if (next !== "none") rows.sort((one, other) => compare(one, other, column, next === "ascending" ? 1 : -1));
        body.append(...rows);
      };
    });
    if (original.length > LONG) filterable(table, original);
  }
  function filterable(table, rows) {
    const field = document.createElement("input"), label = document.createElement("label");
    field.type = "search"; field.placeholder = "words of a row";
    label.className = "filter"; label.append("Filter ", field);
    table.parentElement.before(label);
    field.oninput = () => {
      const words = field.value.toLowerCase().split(/\s+/);
      rows.forEach((row) => { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
    };
  }
  document.querySelectorAll("table").forEach((table) => { if (table.tHead) sortable(table); });
})();
