-- neolata's tables and search functions as views over ours, for programs that speak them; and who may read what.
--
-- A view shows what the index was told; docs/postgres.md says which columns are derived, and how. All ask with the
-- rights of their reader, so that row-level security holds through them.

-- Who reads: the agent that the database binds the role to; else the one that a signed token names (PostgREST, which
-- Supabase runs, hands its claims over); else the one that the session says it is.
CREATE TABLE agents (
    role  name PRIMARY KEY,
    agent text NOT NULL
);

-- No reader is the agent of memories that nobody signed, whatever a token says.
CREATE FUNCTION current_agent() RETURNS text STABLE SECURITY DEFINER LANGUAGE sql SET search_path FROM CURRENT
RETURN lower(nullif(coalesce((SELECT a.agent FROM agents a WHERE a.role = session_user),
                             nullif(nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'agent_id', ''),
                             nullif(current_setting('rawkomem.agent', true), '')), ''));

-- Roles that read repositories and change nothing; repository NULL means all of them.
CREATE TABLE readers (
    role       name NOT NULL,
    repository text
);

CREATE FUNCTION readable() RETURNS integer[] STABLE SECURITY DEFINER LANGUAGE sql SET search_path FROM CURRENT
RETURN ARRAY(SELECT r.n FROM repositories r JOIN readers a ON a.role = session_user
              WHERE a.repository IS NULL OR a.repository = r.name);

CREATE FUNCTION is_reader() RETURNS boolean STABLE SECURITY DEFINER LANGUAGE sql SET search_path FROM CURRENT
RETURN EXISTS (SELECT FROM readers WHERE role = session_user);

-- Importance in the numbers that the rest of rawkomem gives to neolata (state/strength.py).
CREATE FUNCTION importance_number(importance smallint) RETURNS double precision IMMUTABLE LANGUAGE sql
RETURN (ARRAY[0.4, 0.7, 0.85, 1.0]::double precision[])[importance + 1];

ALTER TABLE agents ENABLE ROW LEVEL SECURITY;
ALTER TABLE readers ENABLE ROW LEVEL SECURITY;
ALTER TABLE repositories ENABLE ROW LEVEL SECURITY;
ALTER TABLE clones ENABLE ROW LEVEL SECURITY;
ALTER TABLE versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE passages ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE bits ENABLE ROW LEVEL SECURITY;
ALTER TABLE depths ENABLE ROW LEVEL SECURITY;
ALTER TABLE deep_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE deep_bits ENABLE ROW LEVEL SECURITY;
ALTER TABLE holdings ENABLE ROW LEVEL SECURITY;

-- A table without a policy shows nothing. The owner of the tables, who is the one that writes, is bound by none.
-- A reader of repositories is no agent as well, whatever its session says.
CREATE POLICY own ON versions FOR SELECT
    USING (CASE WHEN (SELECT is_reader()) THEN repository = ANY((SELECT readable())::integer[])
                ELSE agent = (SELECT current_agent()) END);
CREATE POLICY names ON repositories FOR SELECT USING (NOT (SELECT is_reader()) OR n = ANY((SELECT readable())::integer[]));
CREATE POLICY names ON clones FOR SELECT
    USING (NOT (SELECT is_reader()) OR repository = ANY((SELECT readable())::integer[]));
CREATE POLICY own ON passages FOR SELECT USING (EXISTS (SELECT FROM versions v WHERE v.n = version));
CREATE POLICY own ON vectors FOR SELECT USING (EXISTS (SELECT FROM versions v WHERE v.n = owner));
CREATE POLICY own ON holdings FOR SELECT USING (EXISTS (SELECT FROM versions v WHERE v.n = version));

-- One version of each memory: the last that came of those that are held; of one clone, where the session names it. The
-- planner must know that a setting which is not set leaves nothing out: else it takes all of them for one row, and joins
-- in squares.
CREATE VIEW latest WITH (security_invoker) AS
SELECT DISTINCT ON (v.repository, v.id) v.*, r.name AS repository_name
  FROM versions v
  JOIN holdings h ON h.version = v.n
  JOIN clones c ON c.n = h.clone
  JOIN repositories r ON r.n = v.repository
 WHERE (coalesce(current_setting('rawkomem.clone', true), '') = '' OR c.name = current_setting('rawkomem.clone', true))
   AND (coalesce(current_setting('rawkomem.repository', true), '') = ''
        OR r.name = current_setting('rawkomem.repository', true))
 ORDER BY v.repository, v.id, v.n DESC;

-- The names in what a memory refers to. It is strict, so that the planner takes it for the few rows that it returns.
CREATE FUNCTION names_in(told jsonb) RETURNS TABLE (at bigint, type text, rank bigint, name text)
IMMUTABLE STRICT ROWS 4 LANGUAGE sql BEGIN ATOMIC
    SELECT r.at, r.value ->> 'type', c.at, c.name
      FROM jsonb_array_elements(told -> 'references') WITH ORDINALITY AS r (value, at)
     CROSS JOIN LATERAL jsonb_array_elements_text(r.value -> 'names') WITH ORDINALITY AS c (name, at);
END;

-- What each memory refers to, as the files say: by id, by file, or by a title that names the file.
CREATE VIEW referred WITH (security_invoker) AS
WITH known AS MATERIALIZED (
    SELECT l.n, l.id::text AS id, l.repository, l.repository_name, l.created, l.status, l.told
      FROM latest l
), first_of_file AS (
    SELECT DISTINCT ON (repository, told ->> 'path') repository, id, told FROM known
     WHERE told ? 'path' ORDER BY repository, told ->> 'path', (told ->> 'line')::integer, id
), named AS (
    SELECT repository, id AS name, id, 0 AS rank FROM known
     UNION ALL
    SELECT f.repository, file, min(f.id), 1 FROM first_of_file f, jsonb_array_elements_text(f.told -> 'files') AS file
     GROUP BY f.repository, file HAVING count(*) = 1
), found AS (
    SELECT DISTINCT ON (k.n, r.at) k.id AS source_id, t.id AS target_id, r.type, k.created, k.repository, k.repository_name
      FROM known k CROSS JOIN LATERAL names_in(k.told) r
      JOIN named t ON t.repository = k.repository AND t.name = r.name
     ORDER BY k.n, r.at, r.rank, t.rank
)
SELECT source_id, target_id, type, created, repository, repository_name FROM found WHERE source_id <> target_id
 UNION
SELECT s.id, k.id, 'supersedes', s.created, s.repository, s.repository_name
  FROM known k JOIN known s ON s.repository = k.repository AND s.id = k.told ->> 'superseded_by' AND s.id <> k.id;

CREATE VIEW remembered WITH (security_invoker) AS
SELECT l.id::text AS id,
       l.said_by AS agent_id,
       (SELECT string_agg(p.text, E'\n\n' ORDER BY p.number) FROM passages p
         WHERE p.version = l.n AND p.field = 'body') AS content,
       nullif(l.said_category, '') AS category,
       l.said_tags AS tags,
       (SELECT l2_normalize(avg(x.vector::vector)) FROM vectors x JOIN passages p
            ON p.version = x.owner AND p.number = x.number
         WHERE x.owner = l.n AND p.field = 'body') AS embedding,
       importance_number(l.importance) AS importance,
       0 AS access_count,
       to_timestamp(l.created / 1000.0) AS created_at,
       to_timestamp(coalesce((l.told ->> 'updated')::bigint, l.created) / 1000.0) AS updated_at,
       l.told -> 'claim' AS claim,
       l.told -> 'provenance' AS provenance,
       NULL::float8 AS confidence,
       l.status,
       CASE WHEN l.status = 'quarantined'
            THEN jsonb_strip_nulls(jsonb_build_object('status', l.status, 'reason', l.told -> 'reason')) END AS quarantine,
       coalesce((l.told ->> 'reinforcements')::integer, 0) AS reinforcements,
       coalesce((l.told ->> 'disputes')::integer, 0) AS disputes,
       l.told ->> 'superseded_by' AS superseded_by,
       ARRAY(SELECT jsonb_array_elements_text(l.told -> 'supersedes')) AS supersedes,
       l.repository_name AS repository,
       l.kind,
       l.title,
       l.entities,
       l.session
  FROM latest l;

CREATE SCHEMA neolata;

CREATE VIEW neolata.memories WITH (security_invoker) AS
SELECT * FROM remembered WHERE status <> 'archived' AND kind <> 'episode';

CREATE VIEW neolata.memory_archive WITH (security_invoker) AS
SELECT * FROM remembered WHERE status = 'archived' AND kind <> 'episode';

-- Links that the files declare. Those that vectors suggest are asked of close_memories, one memory at a time.
-- `similarity` is how close two memories are; NULL if one has no vector. It is computed only for rows that are asked for it.
CREATE VIEW neolata.memory_links WITH (security_invoker) AS
SELECT r.source_id, r.target_id, r.type, to_timestamp(r.created / 1000.0) AS created_at, r.repository_name AS repository,
       (SELECT 1 - (s.embedding <=> t.embedding)
          FROM remembered s JOIN remembered t ON t.repository = s.repository
         WHERE s.repository = r.repository_name AND s.id = r.source_id AND t.id = r.target_id
           AND vector_dims(s.embedding) = vector_dims(t.embedding)) AS similarity
  FROM referred r;

CREATE FUNCTION neolata.close_memories(
    source_id text, match_count integer DEFAULT 5, similarity_threshold double precision DEFAULT 0.5)
RETURNS TABLE (target_id text, repository text, similarity double precision)
STABLE LANGUAGE sql BEGIN ATOMIC
    WITH whole AS MATERIALIZED (
        SELECT id, repository, embedding FROM remembered WHERE status = 'active' AND kind <> 'episode'
    )
    SELECT o.id, o.repository, 1 - (o.embedding <=> m.embedding) AS similarity
      FROM whole m JOIN whole o ON o.repository = m.repository AND o.id <> m.id
       AND vector_dims(o.embedding) = vector_dims(m.embedding)
     WHERE m.id = source_id AND 1 - (o.embedding <=> m.embedding) > similarity_threshold
     ORDER BY similarity DESC, o.id LIMIT match_count;
END;

-- Open conflicts of claims: of two memories that both stand, or of what took the place of the other.
CREATE VIEW neolata.pending_conflicts WITH (security_invoker) AS
WITH RECURSIVE known AS MATERIALIZED (
    SELECT l.id::text AS id, l.repository, l.repository_name, l.said_by, l.status, l.created, l.told
      FROM latest l
), chain AS (
    SELECT k.repository, k.id AS new_id, other AS existing_id, ARRAY[other] AS way
      FROM known k, jsonb_array_elements_text(k.told -> 'conflicts_with') AS other
     WHERE k.status IN ('active', 'quarantined')
     UNION ALL
    SELECT c.repository, c.new_id, o.told ->> 'superseded_by', c.way || (o.told ->> 'superseded_by')
      FROM chain c JOIN known o ON o.repository = c.repository AND o.id = c.existing_id
     WHERE o.told ? 'superseded_by' AND o.told ->> 'superseded_by' <> ALL(c.way)
), settled AS MATERIALIZED (
    SELECT repository, source_id, target_id FROM referred WHERE type = 'keptBoth'
)
SELECT DISTINCT k.id || ':' || o.id AS id, k.id AS new_id, o.id AS existing_id, k.said_by AS agent_id,
       k.status AS reason, to_timestamp(k.created / 1000.0) AS created_at, k.repository_name AS repository
  FROM chain c JOIN known k ON k.repository = c.repository AND k.id = c.new_id
  JOIN known o ON o.repository = c.repository AND o.id = c.existing_id
 WHERE o.status = 'active' AND o.id <> k.id AND NOT o.told ? 'superseded_by'
   AND NOT EXISTS (SELECT FROM settled s WHERE s.repository = c.repository
                      AND (s.source_id, s.target_id) IN ((k.id, o.id), (o.id, k.id)));

CREATE VIEW neolata.episodes WITH (security_invoker) AS
SELECT e.id, e.title AS name, e.agent_id, e.content AS summary, e.tags, e.created_at,
       coalesce(m.memory_ids, '{}') AS memory_ids, e.repository
  FROM remembered e
  LEFT JOIN (SELECT source_id, repository_name, array_agg(target_id ORDER BY target_id) AS memory_ids
               FROM referred WHERE type = 'member' GROUP BY source_id, repository_name) m
    ON m.source_id = e.id AND m.repository_name = e.repository
 WHERE e.kind = 'episode';

-- Memories that name the same person, project or feature.
CREATE VIEW neolata.memory_clusters WITH (security_invoker) AS
SELECT md5(repository || E'\n' || entity) AS id, entity AS label, array_agg(id ORDER BY id) AS memory_ids,
       count(*) AS size, min(created_at) AS created_at, repository
  FROM remembered, unnest(entities) AS entity
 WHERE status = 'active'
 GROUP BY repository, entity HAVING count(*) > 1;

CREATE FUNCTION neolata.search_memories_semantic(
    query_embedding vector, agent_filter text, match_count integer DEFAULT 10,
    similarity_threshold double precision DEFAULT 0.5)
RETURNS TABLE (id text, agent_id text, content text, category text, tags text[], importance double precision,
               created_at timestamptz, repository text, similarity double precision)
STABLE LANGUAGE sql BEGIN ATOMIC
    SELECT l.id::text, l.said_by, best.text, nullif(l.said_category, ''), l.said_tags, importance_number(l.importance),
           to_timestamp(l.created / 1000.0), l.repository_name, best.similarity
      FROM latest l
     CROSS JOIN LATERAL (
           SELECT p.text, CASE WHEN x.dims = vector_dims(query_embedding)
                               THEN 1 - (x.vector::vector <=> query_embedding) END AS similarity
             FROM vectors x JOIN passages p ON p.version = x.owner AND p.number = x.number
            WHERE x.owner = l.n AND p.field = 'body'
            ORDER BY similarity DESC NULLS LAST, p.number LIMIT 1) best
     WHERE l.status = 'active' AND l.kind <> 'episode' AND best.similarity >= similarity_threshold
       AND (agent_filter IS NULL OR l.agent = lower(agent_filter))
     ORDER BY best.similarity DESC, l.id LIMIT match_count;
END;

CREATE FUNCTION neolata.search_memories_global(
    query_embedding vector, match_count integer DEFAULT 10, similarity_threshold double precision DEFAULT 0.5)
RETURNS TABLE (id text, agent_id text, content text, category text, tags text[], importance double precision,
               created_at timestamptz, repository text, similarity double precision)
STABLE LANGUAGE sql BEGIN ATOMIC
    SELECT * FROM neolata.search_memories_semantic(query_embedding, NULL, match_count, similarity_threshold);
END;
