// Drives the npm package neolata-mem through its public methods, with a fixed clock and fixed ids.
//   node original.mjs write COUNT FOLDER    write random stores FOLDER/0, FOLDER/1, …
//   node original.mjs decide FOLDER...      print, for each store, what it decides about the same new claims

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryGraph } from '@jeremiaheth/neolata-mem/graph';
import { jsonStorage } from '@jeremiaheth/neolata-mem/storage';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const WORDS = 'redis port budget deploy friday canary postgres index cache token queue latency owner review branch'.split(' ');
const SOURCES = ['user_explicit', 'system', 'tool_output', 'user_implicit', 'document', 'inference'];
const RealDate = Date;
let clock = START;
globalThis.Date = class extends RealDate {
  constructor(...given) { if (given.length) super(...given); else super(clock); }
  static now() { return clock; }
};

const dice = (seed) => {  // mulberry32
  let state = seed + 1;
  const next = () => {
    state = (state + 0x6D2B79F5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const whole = (n) => Math.floor(next() * n);
  return { next, whole, of: (list) => list[whole(list.length)], some: (list, n) => [...list].sort(() => next() - 0.5).slice(0, n) };
};

const bagOfWords = { name: 'words', embed: async (...texts) => texts.flat().map(
  (text) => WORDS.map((word) => Number(text.includes(word)) + 0.01)) };
const noVectors = { name: 'none', embed: async (...texts) => texts.flat().map(() => null) };
const policies = (seed) => ({ owner: [{ conflictPolicy: 'keep_both' }, { conflictPolicy: 'require_review' },
  { cardinality: 'multi' }, { normalize: 'currency' }][seed % 4] });

function open(dir, seed, prefix, embeddings) {
  let made = 0;
  const id = (kind) => `${kind}_${prefix}${String(++made).padStart(6, '0')}`;
  const storage = { ...jsonStorage({ dir }), genId: () => id('mem'), genEpisodeId: () => id('ep'), genClusterId: () => id('cl') };
  return new MemoryGraph({ storage, embeddings, config: { predicateSchemas: policies(seed), evolveMinIntervalMs: 0 } });
}

function aClaim(d) {
  const claim = { subject: d.of(['api', 'shop']), predicate: d.of(['port', 'budget', 'owner']), value: d.of(['1', '2', '$1,250.50']), scope: 'global' };
  if (d.next() < 0.2) claim.exclusive = false;
  if (d.next() < 0.25) Object.assign(claim, { scope: 'session', sessionId: d.of(['s-1', 's-2']) });
  if (d.next() < 0.4) {
    const first = START + d.whole(60) * DAY;
    claim.validFrom = new Date(first).toISOString();
    claim.validUntil = new Date(first + (1 + d.whole(40)) * DAY).toISOString();
  }
  return claim;
}

async function write(dir, seed) {
  const d = dice(seed);
  clock = START;
  const graph = open(dir, seed, `${seed}x`, bagOfWords);
  const ids = [];
  for (let step = 0; step < 12 + d.whole(20); step++) {
    clock += 60_000 * (1 + d.whole(2000)) + d.whole(1000);
    const said = { category: d.of(['fact', 'decision', 'preference']), importance: Math.round(d.next() * 100) / 100, tags: d.some(WORDS, d.whole(3)) };
    if (d.next() < 0.3) said.eventTime = new Date(clock - d.whole(400) * DAY).toISOString();
    if (d.next() < 0.6) said.claim = aClaim(d);
    if (d.next() < 0.7) said.provenance = { source: d.of(SOURCES), sourceId: `run-${step}` };
    if (d.next() < 0.2) said.onConflict = 'keep_active';
    ids.push((await graph.store(d.of(['kuro', 'agent-2']), d.some(WORDS, 5).join(' '), said)).id);
    const id = d.of(ids);
    const move = d.of(['reinforce', 'dispute', 'dispute', 'quarantine', 'activate', 'batch', 'settle', '', '']);
    try {
      if (move === 'reinforce') await graph.reinforce(id);
      if (move === 'dispute') await graph.dispute(id, { reason: 'wrong' });
      if (move === 'quarantine') await graph.quarantine(id, { reason: 'manual', details: 'asked for' });
      if (move === 'activate') await graph.reviewQuarantine(id, { action: d.of(['activate', 'reject']) });
      if (move === 'batch') await graph.storeMany('kuro', [{ text: `Batch ${step}\n\nof two paragraphs` }, { text: `Batch ${step} again` }]);
      const open = move === 'settle' ? (await graph.pendingConflicts())[0] : null;
      if (open) await graph.resolveConflict(open.id, { action: d.of(['supersede', 'reject', 'keep_both']) });
    } catch { /* the move does not fit the memory */ }
  }
  const alive = ids.filter((id) => graph.memories.some((one) => one.id === id));
  if (alive.length) await graph.createEpisode('Sprint', [...new Set(alive)].slice(0, 3), { tags: ['work'], metadata: { seed } });
}

async function decide(dir, seed) {
  const d = dice(seed + 1000);
  clock = START + 90 * DAY;
  const graph = open(dir, seed, 'n', noVectors);
  const told = [];
  for (let turn = 0; turn < 20; turn++) {
    clock += 3_600_000;
    const { id, deduplicated, quarantined } = await graph.store('kuro', d.some(WORDS, 5).join(' '), { claim: aClaim(d), provenance: { source: d.of(SOURCES) } });
    told.push([id, !!deduplicated, !!quarantined]);
  }
  const evolved = await graph.evolve('kuro', d.some(WORDS, 5).join(' ')).then((done) => done.stored, (failure) => String(failure));
  const answers = [];
  for (let turn = 0; turn < 10; turn++) {
    const found = await graph.search(null, d.some(WORDS, 3).join(' '), { limit: 1000 });
    answers.push(found.map((one) => `${one.score.toFixed(6)} ${one.id}`).sort());
  }
  const states = graph.memories.map((one) => [one.id, one.status ?? null, one.superseded_by ?? null, one.provenance?.trust ?? null]);
  const waiting = (await graph.pendingConflicts()).map((one) => [one.newId, one.existingId]);
  return { told, evolved, answers, states: states.sort(), waiting: waiting.sort() };
}

const [what, ...rest] = process.argv.slice(2);
if (what === 'write') {
  for (let seed = 0; seed < Number(rest[0]); seed++) await write(join(rest[1], String(seed)), seed);
} else {
  const seeds = JSON.parse(readFileSync(0, 'utf8'));
  const all = [];
  for (const [place, dir] of rest.entries()) all.push(await decide(dir, seeds[place]));
  process.stdout.write(JSON.stringify(all));
}
