// A force layout for up to a few thousand memories: memories repel each other, links pull them together, and clusters stay
// together. It uses no random numbers: the same memories always get the same positions.

const PUSH = 900; // how strongly two memories repel each other
const THETA = 0.9; // a group of memories acts as one beyond a distance of its size divided by this
const MIDDLE = 0.02; // pull to the middle: keeps unlinked memories in sight
const TOGETHER = 0.06; // pull to the middle of the cluster
const SLOWING = 0.6; // share of its speed that a memory keeps from step to step
const FASTEST = 60; // pixels: the most that a memory moves in one step
const GAP = 6; // pixels: least distance between two circles
const ROUNDS = 12; // at most, in one level of the search for clusters
const CROWD = 250; // with more memories, clusters repel each other
const ROOM = 17; // pixels: the radius of a cluster is this times the root of its number of memories
const DEEPEST = 28; // levels of the tree: memories in the same place share a leaf
const GOLDEN = Math.PI * (3 - Math.sqrt(5)); // the golden angle: gives even start positions, as in a sunflower

/** Set the cluster number of each memory; return the clusters, the largest first. Clusters have more links inside than by chance. */
export function cluster(nodes, edges) {
  const label = communities(nodes.length, edges.map(({ from, to, weight }) => [from.number, to.number, weight]));
  const groups = new Map();
  nodes.forEach((node, number) => {
    if (!groups.has(label[number])) groups.set(label[number], []);
    groups.get(label[number]).push(node);
  });
  const found = [...groups.values()].sort((one, other) => other.length - one.length || one[0].number - other[0].number);
  found.forEach((group, number) => group.forEach((node) => { node.cluster = number; }));
  return found;
}

/** Find clusters with the Louvain method: move each member to the best group, then repeat with the groups, until nothing moves. */
function communities(count, pairs) {
  const label = moved(count, pairs);
  const names = [...new Set(label)];
  if (names.length === count || names.length < 2) return label;
  const place = new Map(names.map((name, number) => [name, number]));
  const above = communities(names.length, pairs.map(([one, other, weight]) => [place.get(label[one]), place.get(label[other]), weight]));
  return label.map((name) => above[place.get(name)]);
}

function moved(count, pairs) {
  const around = Array.from({ length: count }, () => []), own = new Array(count).fill(0);
  for (const [one, other, weight] of pairs) {
    own[one] += weight;
    own[other] += weight;
    if (one !== other) { around[one].push([other, weight]); around[other].push([one, weight]); }
  }
  const all = own.reduce((sum, weight) => sum + weight, 0) || 1;
  const label = own.map((_, number) => number), total = [...own];
  for (let round = 0, changed = true; changed && round < ROUNDS; round++) {
    changed = false;
    for (let number = 0; number < count; number++) {
      const before = label[number], sums = new Map([[before, 0]]);
      for (const [other, weight] of around[number]) sums.set(label[other], (sums.get(label[other]) ?? 0) + weight);
      total[before] -= own[number];
      const gain = (name) => sums.get(name) - (total[name] * own[number]) / all;
      let best = before;
      for (const name of sums.keys()) if (gain(name) > gain(best) + 1e-9) best = name;
      total[best] += own[number];
      label[number] = best;
      changed ||= best !== before;
    }
  }
  return label;
}

/** Set start positions: clusters in a sunflower pattern, the largest in the middle, and the memories of each in a small one. */
export function placed(clusters) {
  let before = 0;
  for (const group of clusters) {
    const away = 30 * Math.sqrt(before + group.length / 2), turn = before * GOLDEN;
    const x = before ? away * Math.cos(turn) : 0, y = before ? away * Math.sin(turn) : 0;
    group.forEach((node, number) => {
      const near = 14 * Math.sqrt(number + 0.5), angle = number * GOLDEN;
      Object.assign(node, { x: x + near * Math.cos(angle), y: y + near * Math.sin(angle), vx: 0, vy: 0 });
    });
    before += group.length;
  }
}

/** Run one step. The caller lowers `heat` from 1 to 0; a higher `aspect` makes the layout flatter. */
export function step(nodes, edges, clusters, heat, aspect) {
  repel(nodes, heat);
  for (const { from, to, pull, length } of edges) {
    const dx = to.x + to.vx - from.x - from.vx, dy = to.y + to.vy - from.y - from.vy;
    const distance = Math.hypot(dx, dy) || 1;
    const force = ((distance - length) / distance) * pull * heat;
    const share = from.links / (from.links + to.links); // the less connected one moves more
    to.vx -= dx * force * share;
    to.vy -= dy * force * share;
    from.vx += dx * force * (1 - share);
    from.vy += dy * force * (1 - share);
  }
  const large = clusters.filter((group) => group.length > 2);
  for (const group of large) gather(group, heat);
  if (nodes.length > CROWD) spread(large, heat);
  separate(nodes);
  for (const node of nodes) move(node, heat, aspect);
}

function gather(group, heat) {
  let x = 0, y = 0;
  for (const node of group) { x += node.x; y += node.y; }
  x /= group.length;
  y /= group.length;
  for (const node of group) {
    node.vx += (x - node.x) * TOGETHER * heat;
    node.vy += (y - node.y) * TOGETHER * heat;
  }
}

/** Move overlapping clusters apart, each as a whole. */
function spread(clusters, heat) {
  const circles = clusters.map((group) => {
    const sum = group.reduce((at, node) => [at[0] + node.x, at[1] + node.y], [0, 0]);
    return { group, x: sum[0] / group.length, y: sum[1] / group.length, r: ROOM * Math.sqrt(group.length) + GAP };
  });
  for (let i = 0; i < circles.length; i++) {
    for (let j = i + 1; j < circles.length; j++) {
      const one = circles[i], other = circles[j], dx = other.x - one.x || 0.01, dy = other.y - one.y || 0.01, near = Math.hypot(dx, dy);
      if (near >= one.r + other.r) continue;
      const force = ((one.r + other.r - near) / near) * 0.35 * heat, share = one.group.length / (one.group.length + other.group.length);
      push(one.group, -dx * force * (1 - share), -dy * force * (1 - share));
      push(other.group, dx * force * share, dy * force * share);
    }
  }
}

function push(group, x, y) {
  for (const node of group) { node.vx += x; node.vy += y; }
}

function move(node, heat, aspect) {
  const vx = (node.vx - node.x * MIDDLE * heat) * SLOWING, vy = (node.vy - node.y * MIDDLE * aspect * heat) * SLOWING;
  const fast = Math.min(1, FASTEST / (Math.hypot(vx, vy) || 1));
  node.vx = vx * fast;
  node.vy = vy * fast;
  if (node.fixed) return;
  node.x += node.vx;
  node.y += node.vy;
}

/** Move overlapping circles apart; a grid finds them. */
function separate(nodes) {
  const wide = 2 * Math.max(...nodes.map((node) => node.r)) + GAP;
  const cells = new Map();
  const key = (x, y) => x * 73_856_093 + y * 19_349_663;
  for (const node of nodes) {
    const x = Math.floor(node.x / wide), y = Math.floor(node.y / wide);
    for (let i = -1; i <= 1; i++) for (let j = -1; j <= 1; j++) for (const other of cells.get(key(x + i, y + j)) ?? []) apart(node, other);
    const name = key(x, y);
    if (cells.has(name)) cells.get(name).push(node);
    else cells.set(name, [node]);
  }
}

function apart(one, other) {
  const dx = other.x - one.x || 0.01, dy = other.y - one.y || 0.01, near = Math.hypot(dx, dy), touch = one.r + other.r + GAP;
  if (near >= touch) return;
  const force = (touch - near) / near / 2;
  one.vx -= dx * force;
  one.vy -= dy * force;
  other.vx += dx * force;
  other.vy += dy * force;
}

/** Apply repulsion with a quadtree (Barnes and Hut): a far group acts as one memory in its middle. */
function repel(nodes, heat) {
  const tree = grow(nodes);
  const { child, x, y, mass, size } = tree;
  const stack = [];
  for (const node of nodes) {
    stack.push(0);
    while (stack.length) {
      const at = stack.pop();
      const dx = x[at] - node.x || 0.01, dy = y[at] - node.y || 0.01, square = dx * dx + dy * dy;
      const leaf = child[4 * at] < 0 && child[4 * at + 1] < 0 && child[4 * at + 2] < 0 && child[4 * at + 3] < 0;
      if (leaf || size[at] * size[at] < THETA * THETA * square) {
        if (leaf && square < 0.001) continue; // the memory itself
        const force = (PUSH * mass[at] * heat) / (square * Math.sqrt(square) + 60);
        node.vx -= dx * force;
        node.vy -= dy * force;
      } else for (let quarter = 0; quarter < 4; quarter++) if (child[4 * at + quarter] >= 0) stack.push(child[4 * at + quarter]);
    }
  }
}

function grow(nodes) {
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (const node of nodes) {
    left = Math.min(left, node.x); right = Math.max(right, node.x);
    top = Math.min(top, node.y); bottom = Math.max(bottom, node.y);
  }
  const tree = { child: [-1, -1, -1, -1], x: [0], y: [0], mass: [0], size: [Math.max(right - left, bottom - top, 1)] };
  const middle = [(left + right) / 2, (top + bottom) / 2];
  for (const node of nodes) insert(tree, node, ...middle);
  for (let at = 0; at < tree.mass.length; at++) { tree.x[at] /= tree.mass[at]; tree.y[at] /= tree.mass[at]; }
  return tree;
}

/** Insert a memory into an empty quarter of the tree; a leaf on the way moves one level down. */
function insert(tree, node, cx, cy) {
  const { child, x, y, mass, size } = tree;
  for (let at = 0, depth = 0; ; depth++) {
    const isLeaf = mass[at] > 0 && child[4 * at] < 0 && child[4 * at + 1] < 0 && child[4 * at + 2] < 0 && child[4 * at + 3] < 0;
    if (isLeaf && depth < DEEPEST) {
      const other = child[4 * at + quarterOf(x[at] / mass[at], y[at] / mass[at], cx, cy)] = leaf(tree, size[at] / 2);
      [x[other], y[other], mass[other]] = [x[at], y[at], mass[at]];
    }
    const isEmpty = mass[at] === 0;
    x[at] += node.x; y[at] += node.y; mass[at] += 1;
    if (isEmpty || depth >= DEEPEST) return;
    const quarter = quarterOf(node.x, node.y, cx, cy), half = size[at] / 4;
    cx += quarter % 2 ? half : -half;
    cy += quarter > 1 ? half : -half;
    if (child[4 * at + quarter] < 0) child[4 * at + quarter] = leaf(tree, size[at] / 2);
    at = child[4 * at + quarter];
  }
}

const quarterOf = (x, y, cx, cy) => (x > cx ? 1 : 0) + (y > cy ? 2 : 0);

function leaf(tree, size) {
  tree.child.push(-1, -1, -1, -1);
  tree.x.push(0);
  tree.y.push(0);
  tree.mass.push(0);
  tree.size.push(size);
  return tree.mass.length - 1;
}
