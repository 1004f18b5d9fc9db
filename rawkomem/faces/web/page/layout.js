// A small force layout: memories push each other away, connections pull, and everything is drawn to the middle.

const PUSH = 1500; // how strongly two memories repel each other
const REACH = 420; // beyond this distance they do not feel each other
const MIDDLE = 0.022; // pull to the middle: keeps loose ones in sight
const SLOWING = 0.62; // share of its speed that a memory keeps from step to step
const GAP = 5; // least distance between two circles
const GOLDEN = Math.PI * (3 - Math.sqrt(5)); // a sunflower: even start positions, the same every time

export function placed(nodes) {
  nodes.forEach((node, number) => {
    const away = 16 * Math.sqrt(number + 0.5);
    Object.assign(node, { x: away * Math.cos(number * GOLDEN), y: away * Math.sin(number * GOLDEN), vx: 0, vy: 0 });
  });
}

/** One step; `heat` goes from 1 to 0 while things settle; the higher the `aspect`, the flatter the whole. */
export function step(nodes, edges, heat, aspect) {
  repel(nodes, heat);
  for (const { from, to, pull, length } of edges) {
    const dx = to.x - from.x, dy = to.y - from.y;
    const distance = Math.hypot(dx, dy) || 1;
    const force = ((distance - length) / distance) * pull * heat;
    const share = from.degree / (from.degree + to.degree); // the less connected one moves more
    to.vx -= dx * force * share;
    to.vy -= dy * force * share;
    from.vx += dx * force * (1 - share);
    from.vy += dy * force * (1 - share);
  }
  for (const node of nodes) {
    node.vx = (node.vx - node.x * MIDDLE * heat) * SLOWING;
    node.vy = (node.vy - node.y * MIDDLE * aspect * heat) * SLOWING;
    node.x += node.vx;
    node.y += node.vy;
  }
}

function repel(nodes, heat) {
  for (let i = 0; i < nodes.length; i++) {
    for (let j = i + 1; j < nodes.length; j++) {
      const one = nodes[i], other = nodes[j];
      const dx = other.x - one.x || 0.01, dy = other.y - one.y || 0.01;
      const square = dx * dx + dy * dy;
      if (square > REACH * REACH) continue;
      const near = Math.sqrt(square), touch = one.r + other.r + GAP;
      const force = (PUSH * heat) / (square * near + 40) + (near < touch ? (touch - near) / near / 2 : 0);
      one.vx -= dx * force;
      one.vy -= dy * force;
      other.vx += dx * force;
      other.vy += dy * force;
    }
  }
}
