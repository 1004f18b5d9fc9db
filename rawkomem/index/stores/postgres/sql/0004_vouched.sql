-- Whether people vouch for a version, and how much of what a clone holds nobody vouches for: words are counted among what
-- people vouch for, so that nothing else changes its order. Versions of before stay as they are; their hashes are of
-- another kind (rows.py), so that no clone takes one of them for its own again.

ALTER TABLE versions ADD COLUMN vouched smallint NOT NULL DEFAULT 1;

ALTER TABLE clones
    ADD COLUMN unvouched_passages      bigint NOT NULL DEFAULT 0,
    ADD COLUMN unvouched_tokens        bigint NOT NULL DEFAULT 0,
    ADD COLUMN unvouched_arounds       bigint NOT NULL DEFAULT 0,
    ADD COLUMN unvouched_around_tokens bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION held_more() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE clones c
       SET memories = c.memories + s.memories, deep = c.deep + s.deep, passages = c.passages + s.passages,
           tokens = c.tokens + s.tokens, arounds = c.arounds + s.arounds,
           around_tokens = c.around_tokens + s.around_tokens,
           unvouched_passages = c.unvouched_passages + s.unvouched_passages,
           unvouched_tokens = c.unvouched_tokens + s.unvouched_tokens,
           unvouched_arounds = c.unvouched_arounds + s.unvouched_arounds,
           unvouched_around_tokens = c.unvouched_around_tokens + s.unvouched_around_tokens
      FROM (SELECT h.clone, count(*) AS memories, count(h.deep) AS deep, sum(v.passages) AS passages,
                   sum(v.tokens) AS tokens, sum(v.arounds) AS arounds, sum(v.around_tokens) AS around_tokens,
                   sum(v.passages * (1 - v.vouched)) AS unvouched_passages,
                   sum(v.tokens * (1 - v.vouched)) AS unvouched_tokens,
                   sum(v.arounds * (1 - v.vouched)) AS unvouched_arounds,
                   sum(v.around_tokens * (1 - v.vouched)) AS unvouched_around_tokens
              FROM given h JOIN versions v ON v.n = h.version GROUP BY h.clone) s
     WHERE c.n = s.clone;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION held_less() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    unheld bigint[];
BEGIN
    UPDATE clones c
       SET memories = c.memories - s.memories, deep = c.deep - s.deep, passages = c.passages - s.passages,
           tokens = c.tokens - s.tokens, arounds = c.arounds - s.arounds,
           around_tokens = c.around_tokens - s.around_tokens,
           unvouched_passages = c.unvouched_passages - s.unvouched_passages,
           unvouched_tokens = c.unvouched_tokens - s.unvouched_tokens,
           unvouched_arounds = c.unvouched_arounds - s.unvouched_arounds,
           unvouched_around_tokens = c.unvouched_around_tokens - s.unvouched_around_tokens
      FROM (SELECT h.clone, count(*) AS memories, count(h.deep) AS deep, sum(v.passages) AS passages,
                   sum(v.tokens) AS tokens, sum(v.arounds) AS arounds, sum(v.around_tokens) AS around_tokens,
                   sum(v.passages * (1 - v.vouched)) AS unvouched_passages,
                   sum(v.tokens * (1 - v.vouched)) AS unvouched_tokens,
                   sum(v.arounds * (1 - v.vouched)) AS unvouched_arounds,
                   sum(v.around_tokens * (1 - v.vouched)) AS unvouched_around_tokens
              FROM taken h JOIN versions v ON v.n = h.version GROUP BY h.clone) s
     WHERE c.n = s.clone;

    unheld := ARRAY(SELECT DISTINCT t.deep FROM taken t
                     WHERE t.deep IS NOT NULL AND NOT EXISTS (SELECT FROM holdings h WHERE h.deep = t.deep));
    IF cardinality(unheld) > 0 THEN
        DELETE FROM deep_vectors USING unnest(unheld) u WHERE owner = u;
        DELETE FROM depths USING unnest(unheld) u WHERE n = u;
    END IF;

    unheld := ARRAY(SELECT DISTINCT t.version FROM taken t
                     WHERE NOT EXISTS (SELECT FROM holdings h WHERE h.version = t.version));
    IF cardinality(unheld) > 0 THEN
        DELETE FROM passages USING unnest(unheld) u WHERE version = u;
        DELETE FROM vectors USING unnest(unheld) u WHERE owner = u;
        DELETE FROM words USING unnest(unheld) u WHERE owner = u;
        DELETE FROM arounds USING unnest(unheld) u WHERE owner = u;
        DELETE FROM versions USING unnest(unheld) u WHERE n = u;
    END IF;
    RETURN NULL;
END $$;
