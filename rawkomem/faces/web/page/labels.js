// Place the labels of the graph: the most important first, each in the first free place around its memory.

const CELL = 80; // pixels: the cells of the grid that finds overlaps
const HEIGHT = 15;

/** The boxes that are in use; a grid makes it cheap to find overlaps. */
class Taken {
  constructor() { this.cells = new Map(); }

  *cellsOf([left, top, right, bottom]) {
    for (let x = Math.floor(left / CELL); x <= Math.floor(right / CELL); x++)
      for (let y = Math.floor(top / CELL); y <= Math.floor(bottom / CELL); y++) yield `${x} ${y}`;
  }

  add(box) {
    for (const cell of this.cellsOf(box)) this.cells.has(cell) ? this.cells.get(cell).push(box) : this.cells.set(cell, [box]);
  }

  isFree(box) {
    for (const cell of this.cellsOf(box))
      for (const other of this.cells.get(cell) ?? [])
        if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
    return true;
  }
}

/**
 * Choose labels. `wanted`: { text, width, x, y, r, must }, the most important first; `circles`: boxes to keep free.
 * Returns the labels that have room, each with its box. A label with `must` is returned even if it has no room.
 */
export function placeLabels(wanted, circles, frame) {
  const taken = new Taken();
  for (const circle of circles) taken.add(circle);
  const found = [];
  for (const label of wanted) {
    const places = around(label);
    const box = places.find((place) => isInside(place, frame) && taken.isFree(place)) ?? (label.must ? places[0] : null);
    if (!box) continue;
    taken.add(box);
    found.push({ ...label, box });
  }
  return found;
}

function around({ x, y, r, width, middle }) {
  const at = (cx, cy) => [cx - width / 2 - 3, cy - HEIGHT / 2, cx + width / 2 + 3, cy + HEIGHT / 2];
  if (middle) return [at(x, y), at(x, y - HEIGHT), at(x, y + HEIGHT)];
  const aside = r + width / 2 + 6, below = r + HEIGHT / 2 + 3;
  return [at(x, y + below), at(x, y - below), at(x + aside, y), at(x - aside, y)];
}

const isInside = (box, frame) => box[0] > 2 && box[1] > 2 && box[2] < frame.width - 2 && box[3] < frame.height - 2;
