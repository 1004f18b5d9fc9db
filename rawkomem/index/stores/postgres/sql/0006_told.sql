-- What the files say beside what is searched (index/ingest.py), in neolata's tables; and who may read a whole repository.

ALTER TABLE versions ADD COLUMN told jsonb NOT NULL DEFAULT '{}';

-- Roles that read repositories and change nothing; repository NULL means all of them.
CREATE TABLE readers (
    role       name NOT NULL,
    repository text
);
ALTER TABLE readers ENABLE ROW LEVEL SECURITY;

CREATE FUNCTION readable() RETURNS integer[] STABLE SECURITY DEFINER LANGUAGE sql SET search_path FROM CURRENT
RETURN ARRAY(SELECT r.n FROM repositories r JOIN readers a ON a.role = session_user
              WHERE a.repository IS NULL OR a.repository = r.name);

CREATE FUNCTION is_reader() RETURNS boolean STABLE SECURITY DEFINER LANGUAGE sql SET search_path FROM CURRENT
RETURN EXISTS (SELECT FROM readers WHERE role = session_user);

-- A reader of repositories is no agent as well, whatever its session says.
DROP POLICY own ON versions;
CREATE POLICY own ON versions FOR SELECT
    USING (CASE WHEN (SELECT is_reader()) THEN repository = ANY((SELECT readable())::integer[])
                ELSE agent = (SELECT current_agent()) END);
DROP POLICY names ON repositories;
CREATE POLICY names ON repositories FOR SELECT USING (NOT (SELECT is_reader()) OR n = ANY((SELECT readable())::integer[]));
DROP POLICY names ON clones;
CREATE POLICY names ON clones FOR SELECT
    USING (NOT (SELECT is_reader()) OR repository = ANY((SELECT readable())::integer[]));

-- The same as before, in words that let the planner know that a setting which is not set leaves nothing out: else it
-- takes all of them for one row, and joins in squares.
CREATE OR REPLACE VIEW latest WITH (security_invoker) AS
SELECT DISTINCT ON (v.repository, v.id)
       v.n, v.repository, v.id, v.hash, v.kind, v.status, v.title, v.importance, v.created, v.agent, v.tags, v.type,
       v.category, v.entities, v.session, v.said_by, v.said_tags, v.said_category, v.passages, v.tokens, v.arounds,
       v.around_tokens, r.name AS repository_name, v.told
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

CREATE OR REPLACE VIEW remembered WITH (security_invoker) AS
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

-- Links that the files declare. Those that vectors suggest are asked of close_memories, one memory at a time.
DROP VIEW neolata.memory_links;
CREATE VIEW neolata.memory_links WITH (security_invoker) AS
SELECT source_id, target_id, type, to_timestamp(created / 1000.0) AS created_at, repository_name AS repository
  FROM referred;

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
DROP VIEW neolata.pending_conflicts;
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

DROP VIEW neolata.episodes;
CREATE VIEW neolata.episodes WITH (security_invoker) AS
SELECT e.id, e.title AS name, e.agent_id, e.content AS summary, e.tags, e.created_at,
       coalesce(m.memory_ids, '{}') AS memory_ids, e.repository
  FROM remembered e
  LEFT JOIN (SELECT source_id, repository_name, array_agg(target_id ORDER BY target_id) AS memory_ids
               FROM referred WHERE type = 'member' GROUP BY source_id, repository_name) m
    ON m.source_id = e.id AND m.repository_name = e.repository
 WHERE e.kind = 'episode';
